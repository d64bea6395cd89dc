"""Which variables of a rule have no values (check 8)."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

from gdl.checks.relation_graph import uses
from gdl.checks.subject import Subject
from gdl.checks.suggestions import Spellings
from gdl.datalog.translation import Unbound, unbound_variables
from gdl.diagnostics import Diagnostic, Related, Span, diagnostic
from gdl.language.syntax import And, Atom, Condition, Or, Rule
from gdl.language.terms import Constant, Term, Variable, arguments_of, variables

_IN_WORDS: Final = {
    "the head": ("of the head", ""),
    "a negated condition": ("under `not`", "`not` tests values and gives none: "),
    "`distinct`": ("in `distinct`", "`distinct` compares values and gives none: "),
}
"""For what needs the variable: how a message says it, and how the hint begins."""

_MOST_BRANCHES: Final = 20
"""The most branches without a variable that a message shows."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """An `or`: the variables that it mentions, and for each branch its place and the variables that it binds."""

    mentioned: frozenset[Variable]
    branches: tuple[tuple[Span, frozenset[Variable]], ...]

    def branches_without(self, variable: Variable) -> Iterator[Span]:
        """Yield the branches that leave *variable* open, where another one mentions it."""
        if variable in self.mentioned:
            yield from (span for span, bound in self.branches if variable not in bound)


class _Hints:
    """What is likely meant by a variable without a value, as the conditions of *rule* tell."""

    def __init__(self, rule: Rule) -> None:
        positive = [use.atom.term for use in uses([rule]) if not use.is_negative]
        self._bound = Spellings(variable.name for term in positive for variable in variables(term))
        self._constants = {constant.name for term in positive for constant in _constants(term)}

    def of(self, variable: Variable) -> str | None:
        """Return a hint where *variable* stands without its question mark, or a variable has a name like it."""
        bare = variable.name.removeprefix("?")
        if bare in self._constants:
            return f"did you mean {variable.name} where a condition has {bare}?"
        near = self._bound.near(variable.name)
        return None if near is None else f"did you mean {near}?"


def unsafe_variables(subject: Subject) -> Iterator[Diagnostic]:
    """Yield variables of a head, a negation or a `distinct` that no positive condition binds."""
    found: dict[int, dict[tuple[Variable, str, Span | None], tuple[Rule, Unbound]]] = defaultdict(dict)
    for rule, clause in subject.alternatives.choices:
        for unbound in unbound_variables(clause) if rule.body else ():
            key = (unbound.variable, unbound.where, unbound.span)
            found[rule.span.start].setdefault(key, (rule, unbound))
    for cases in found.values():
        (rule, _), *_ = cases.values()
        hints = _Hints(rule)
        choices = [choice for condition in rule.body for choice in _choices(condition)]
        for rule, unbound in cases.values():
            yield _unsafe(rule, unbound, hints, choices)


def _unsafe(rule: Rule, unbound: Unbound, hints: _Hints, choices: Sequence[_Choice]) -> Diagnostic:
    variable = unbound.variable
    where, reason = _IN_WORDS[unbound.where]
    branches = list(
        islice(chain.from_iterable(choice.branches_without(variable) for choice in choices), _MOST_BRANCHES)
    )
    gives = "a branch of the `or` gives no value to" if branches else "no condition gives a value to"
    advice = f"{reason}add a condition that lists the values of {variable}, as (role ?r) lists roles"
    return diagnostic(
        "unsafe-variable",
        unbound.span or rule.head.span,
        f"{gives} the variable {variable} {where}",
        advice if branches else hints.of(variable) or advice,
        [Related(branch, f"{variable} has no value in this branch") for branch in branches],
    )


def _constants(term: Term) -> Iterator[Constant]:
    todo = list(arguments_of(term))
    while todo:
        top = todo.pop()
        if isinstance(top, Constant):
            yield top
        todo += arguments_of(top)


def _choices(condition: Condition) -> Iterator[_Choice]:
    """Yield the `or`s of *condition* that are in no other `or`."""
    match condition:
        case Or(parts):
            mentioned = frozenset(chain.from_iterable(map(_mentioned, parts)))
            yield _Choice(mentioned, tuple((part.span, _bound(part)) for part in parts))
        case And(parts):
            for part in parts:
                yield from _choices(part)


def _mentioned(condition: Condition) -> Iterator[Variable]:
    match condition:
        case Atom(term):
            yield from variables(term)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _mentioned(part)


def _bound(condition: Condition) -> frozenset[Variable]:
    """Return the variables that have a value wherever *condition* holds."""
    match condition:
        case Atom(term):
            return frozenset(variables(term))
        case And(parts):
            return frozenset().union(*map(_bound, parts))
        case Or(parts):
            return frozenset.intersection(*map(_bound, parts))
    return frozenset()
