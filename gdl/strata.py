"""The order in which clauses must be evaluated: components of mutual recursion, what they need first.

Clauses are told apart by the arguments of their heads, so that `(goal r 50)` may negate `(goal r 100)`
(local stratification; gdl.md, check 10).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from gdl.clauses import Clause
from gdl.dependencies import Dependencies
from gdl.errors import StratificationError
from gdl.terms import Compound, Constant, Term, signature
from gdl.unification import can_meet


@dataclass(frozen=True, slots=True)
class Component:
    """Clauses that depend on one another, by index; `needs` are the components that must be there first.

    `height` is the length of the longest chain of needs below; `is_recursive` tells whether a clause needs itself.
    """

    clauses: tuple[int, ...]
    needs: tuple[int, ...]
    height: int
    is_recursive: bool


@dataclass(frozen=True, slots=True)
class Strata:
    """The components, each after all that it needs, and the component of every clause."""

    components: tuple[Component, ...]
    component_of: tuple[int, ...]


class Heads:
    """The heads of clauses, found by the atoms that they can meet."""

    def __init__(self, clauses: Sequence[Clause]) -> None:
        self._by_signature: dict[tuple[str, int], list[tuple[int, Term]]] = defaultdict(list)
        for i, clause in enumerate(clauses):
            self._by_signature[signature(clause.head)].append((i, clause.head))

    def meeting(self, atom: Constant | Compound) -> tuple[int, ...]:
        """Return the indexes of the clauses whose heads have an instance in common with *atom*."""
        return tuple(i for i, head in self._by_signature.get(signature(atom), ()) if can_meet(atom, head))


def stratify(clauses: Sequence[Clause]) -> Strata:
    """Return the strata of *clauses*.

    Raises:
        StratificationError: a clause depends on its own negation; names the rule and the cycle.

    Source: Apt, Blair, Walker 1988; Przymusinski 1988 (local stratification).
    """
    dependencies = dependencies_of(clauses)
    for cycle in dependencies.negative_cycles():
        raise _cycle_error(clauses, cycle)
    return Strata(_components(dependencies), dependencies.component_of)


def dependencies_of(clauses: Sequence[Clause]) -> Dependencies:
    """Return which clauses need which: those whose heads a literal of theirs can meet."""
    heads = Heads(clauses)
    edges: list[dict[int, bool]] = []
    for clause in clauses:
        needed: dict[int, bool] = {}
        for literal in clause.literals:
            for i in heads.meeting(literal.atom):
                needed[i] = needed.get(i, False) or not literal.is_positive
        edges.append(needed)
    return Dependencies(edges)


def cycle_text(clauses: Sequence[Clause], cycle: Sequence[int]) -> list[str]:
    """Return the heads along a negative cycle, the negated one with `not`."""
    first, negated, *rest = (str(clauses[i].head) for i in cycle)
    return [first, f"not {negated}", *rest]


def _components(dependencies: Dependencies) -> tuple[Component, ...]:
    component_of = dependencies.component_of
    found: list[Component] = []
    for number, group in enumerate(dependencies.components):
        needs = {component_of[j] for i in group for j in dependencies.edges[i]}
        is_recursive = number in needs
        needs.discard(number)
        height = 1 + max((found[k].height for k in needs), default=-1)
        found.append(Component(group, tuple(sorted(needs)), height, is_recursive))
    return tuple(found)


def _cycle_error(clauses: Sequence[Clause], cycle: Sequence[int]) -> StratificationError:
    names = cycle_text(clauses, cycle)
    return StratificationError(
        f"this rule makes {names[0]} depend on its own negation: {' <- '.join(names)}",
        clauses[cycle[0]].span,
        "break the cycle: let the negated relation be defined without this one",
        names,
    )
