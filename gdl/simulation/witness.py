"""Which rules derive what, where it matters: the engine's answers, each with the rule that it came from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, TypeAlias

from gdl.datalog.clauses import Clause, clauses_of
from gdl.datalog.reasoner import Reasoner
from gdl.datalog.unification import can_meet
from gdl.game import Role
from gdl.kif import read_forms
from gdl.limits import DEFAULT_LIMITS, EvaluationLimits
from gdl.rules import Description, Rule
from gdl.source import Source, Span
from gdl.terms import Compound, Constant, Term, Variable, signature

Does: TypeAlias = Sequence[tuple[Role, Term]]
"""Roles with their moves: a joint move, or nothing where none is made."""

_RELATIONS: Final = frozenset(
    {("base", 1), ("goal", 2), ("init", 1), ("input", 2), ("legal", 2), ("next", 1), ("sees", 2), ("terminal", 0)}
)
_MARK: Final = " by rule"
"""Ends the names of the relations that tell rules apart: no token holds a blank, so no rule has such a name."""


@dataclass(frozen=True, slots=True)
class Derived:
    """The arguments of an atom that holds, and a rule that derives it."""

    rule: Rule
    arguments: tuple[Term, ...]


class Witness:
    """Answers with their rules, by an evaluation of its own that starts when somebody first asks.

    Raises:
        LimitExceeded: from every question that costs more than the limits allow.
    """

    def __init__(self, description: Description, limits: EvaluationLimits = DEFAULT_LIMITS) -> None:
        self.description = description
        self._limits = limits

    @cached_property
    def _reasoner(self) -> Reasoner:
        plain = clauses_of(self.description.rules)
        return Reasoner((*plain, *self._marked()), self._limits)

    def _marked(self) -> Iterator[Clause]:
        """Yield each clause of interest once more, with the number of its rule in the head."""
        for number, rule in enumerate(self.description.rules):
            if signature(rule.head.term) in _RELATIONS:
                for clause in clauses_of((rule,)):
                    name, _ = signature(clause.head)
                    own = clause.head.arguments if isinstance(clause.head, Compound) else ()
                    arguments = (Constant(str(number)), *own)
                    yield replace(clause, head=Compound(f"{name}{_MARK}", arguments))

    def derived(self, relation: str, facts: frozenset[Term] | None = None, does: Does = ()) -> list[Derived]:
        """Return what holds of *relation* in the state of *facts*, with the moves *does* made there, by rule."""
        head = next((rule.head.term for rule in self.rules(relation)), None)
        if head is None:
            return []
        arity = signature(head)[1]
        atom = Compound(f"{relation}{_MARK}", tuple(Variable(f"?{i}") for i in range(arity + 1)))
        rows = [row for _, row in self._reasoner.answers(atom, facts, does)]
        found = [Derived(self.description.rules[int(str(row[0]))], row[1:]) for row in rows]
        return sorted(found, key=lambda one: (one.rule.span.start, [str(argument) for argument in one.arguments]))

    def rules(self, relation: str, *arguments: Term | None) -> tuple[Rule, ...]:
        """Return the rules of *relation* whose heads may have *arguments*; None stands for any."""
        return tuple(
            rule
            for rule in self.description.rules
            if signature(rule.head.term)[0] == relation and _may_have(rule.head.term, arguments)
        )


def _may_have(head: Term, arguments: Sequence[Term | None]) -> bool:
    own = head.arguments if isinstance(head, Compound) else ()
    return len(own) >= len(arguments) and all(
        wanted is None or can_meet(wanted, argument) for wanted, argument in zip(arguments, own, strict=False)
    )


def part(span: Span, number: int) -> Span:
    """Return where the argument of that number, counted from 1, stands in the atom at *span*; else *span* itself."""
    (form,) = read_forms(Source(span.source.name, span.text))
    if form.children is None or number >= len(form.children):
        return span
    child = form.children[number]
    return Span(span.source, span.start + child.start, span.start + child.end)
