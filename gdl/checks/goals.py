"""Whether goal values are whole numbers from 0 to 100, those of variables too; and where others come from."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from typing import Final

from gdl.checks.subject import Subject, part
from gdl.checks.suggestions import short
from gdl.datalog.clauses import Clause
from gdl.datalog.domains import values_of_relations
from gdl.datalog.values import TOP, Values, bound_by, values_of
from gdl.diagnostics import Diagnostic, Related, Span, diagnostic
from gdl.language.syntax import Rule
from gdl.language.terms import Compound, Constant, Term, Variable, arguments_of, signature

_INTEGER: Final = re.compile("[-+]?[0-9]+")
_GOAL: Final = re.compile("100|[1-9]?[0-9]")
_MOST_VALUES: Final = 4
_MOST_PLACES: Final = 2_000
"""How many arguments are looked at for where a value comes from."""
_GOALS: Final = ("goal", 2)
_HINT: Final = "write a whole number from 0 to 100"
_OPEN_CODES: Final = {
    False: ("goal-is-no-number", "goal-may-be-no-number", "no whole number"),
    True: ("goal-not-in-range", "goal-may-not-be-in-range", "none of 0, 1, 2 ... 100"),
}
"""For values that are numbers and for others: the codes where all values are bad and where some are, and why."""
_GOAL_MAKERS: Final = {("true", 1): (("init", 1), ("next", 1)), ("does", 2): (("legal", 2),)}
"""By which relations there is what conditions ask for under another name."""


def goal_values(subject: Subject) -> Iterator[Diagnostic]:
    """Yield goal values that are no whole numbers from 0 to 100."""
    for rule in subject.rules:
        head = rule.head.term
        if isinstance(head, Compound) and signature(head) == _GOALS and not isinstance(head.arguments[1], Variable):
            value = str(head.arguments[1])
            if _GOAL.fullmatch(value) is None:
                yield _bad_goal(value, part(rule.head.span, 2))


def _bad_goal(value: str, place: Span) -> Diagnostic:
    if _INTEGER.fullmatch(value) is None:
        return diagnostic("goal-is-no-number", place, f"the goal value {short(value)} is no whole number", _HINT)
    message = f"the goal value {short(value)} is none of 0, 1, 2 ... 100"
    return diagnostic("goal-not-in-range", place, message, _HINT)


def variable_goal_values(subject: Subject) -> Iterator[Diagnostic]:
    """Yield goal values that are variables which may, or must, stand for something else than whole numbers to 100.

    It is an error where nothing that conditions leave to the variable is a goal value, else a warning.
    """
    goals = [rule for rule in subject.rules if signature(rule.head.term) == _GOALS]
    named = [rule for rule in goals if isinstance(rule.head.term, Compound)]
    if subject.broken or subject.alternatives.refused or not any(_is_open(rule.head.term) for rule in named):
        return
    known = values_of_relations(clause for _, clause in subject.alternatives.clauses)
    sources = Sources(subject.alternatives.clauses)
    for rule, clause in subject.alternatives.clauses:
        if signature(clause.head) == _GOALS and _is_open(clause.head):
            bound = bound_by(clause.literals, known)
            values = TOP if bound is None else values_of(arguments_of(clause.head)[1], bound)
            if not values.is_all:
                yield from _bad_values(rule, clause, values, sources)


def _is_open(goal: Term) -> bool:
    return isinstance(arguments_of(goal)[1], Variable)


def _bad_values(rule: Rule, clause: Clause, values: Values, sources: Sources) -> Iterator[Diagnostic]:
    texts: dict[str, Constant | None] = {str(constant): constant for constant in values.constants}
    texts |= {f"({name} ...)": None for name, _ in values.compounds}
    bad = sorted((text for text in texts if _GOAL.fullmatch(text) is None), key=lambda text: (len(text), text))
    variable = arguments_of(clause.head)[1]
    is_all_bad = len(bad) == len(texts)
    for is_number, (must, may, what) in _OPEN_CODES.items():
        found = [text for text in bad if (_INTEGER.fullmatch(text) is not None) == is_number]
        if found:
            shown = ", ".join(map(short, found[:_MOST_VALUES])) + (" ..." if len(found) > _MOST_VALUES else "")
            places = (sources.of(clause, variable, value) for text in found[:_MOST_VALUES] if (value := texts[text]))
            related = [Related(place, "this value comes from here") for place in places if place is not None]
            message = f"the goal value {variable} {'can only' if is_all_bad else 'may'} be {shown}: {what}"
            yield diagnostic(must if is_all_bad else may, part(rule.head.span, 2), message, _HINT, related)


class Sources:
    """Where the values of variables come from, found by following them from condition to fact."""

    def __init__(self, clauses: Iterable[tuple[Rule, Clause]]) -> None:
        self._by_relation: dict[tuple[str, int], list[tuple[Rule, Clause]]] = defaultdict(list)
        for rule, clause in clauses:
            self._by_relation[signature(clause.head)].append((rule, clause))

    def of(self, clause: Clause, variable: Term, value: Constant) -> Span | None:
        """Return where *value* stands that *variable* may have in *clause*; None where that is not plain."""
        todo = deque(_asked_by(clause, variable, ()))
        seen = set(todo)
        while todo and len(seen) < _MOST_PLACES:
            relation, path = todo.popleft()
            for maker in _GOAL_MAKERS.get(relation, (relation,)):
                for rule, one in self._by_relation[maker]:
                    found, left = _followed(one.head, path)
                    if found is value and not left:
                        return part(rule.head.span, *path)
                    if isinstance(found, Variable):
                        new = [place for place in _asked_by(one, found, left) if place not in seen]
                        seen.update(new)
                        todo += new
        return None


def _asked_by(
    clause: Clause, variable: Term, rest: tuple[int, ...]
) -> Iterator[tuple[tuple[str, int], tuple[int, ...]]]:
    """Yield where the conditions of *clause* have *variable*: of which relation, and the way to it there."""
    for atom in clause.positive:
        todo: list[tuple[Term, tuple[int, ...]]] = [(atom, ())]
        while todo:
            term, path = todo.pop()
            if term is variable:
                yield signature(atom), path + rest
            todo += ((inner, (*path, number)) for number, inner in enumerate(arguments_of(term), 1))


def _followed(term: Term, path: tuple[int, ...]) -> tuple[Term, tuple[int, ...]]:
    """Return what stands at *path* in *term*, or the variable on the way there and what is left of the path."""
    for i, number in enumerate(path):
        arguments = arguments_of(term)
        if number > len(arguments):
            return term, path[i:]
        term = arguments[number - 1]
    return term, ()
