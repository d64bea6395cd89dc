"""Strata: which clauses depend on one another, which must be evaluated before others, and what no order can serve."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from gdl.datalog.clauses import Clause
from gdl.datalog.dependencies import Dependencies
from gdl.datalog.disjunctions import own_name
from gdl.errors import LimitExceeded, StratificationError
from gdl.language.terms import Compound, Constant, Signature, Term, Variable, can_meet, signature

Place: TypeAlias = tuple[Signature, int, Signature | None]
"""A relation, the number of an argument, and what that argument begins with."""

MAX_DEPENDENCIES: Final = 2_000_000
"""How many pairs of rules may depend on one another."""


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
        self._heads = [clause.head for clause in clauses]
        self._by_place: dict[Place, list[int]] = defaultdict(list)
        for i, head in enumerate(self._heads):
            for place in _places(head):
                self._by_place[place].append(i)
        self._found: dict[Term, tuple[int, ...]] = {}

    def meeting(self, atom: Constant | Compound) -> tuple[int, ...]:
        """Return the indexes of the clauses whose heads have an instance in common with *atom*."""
        found = self._found.get(atom)
        if found is None:
            near = self._near(atom)
            found = self._found[atom] = tuple(i for i in near if can_meet(atom, self._heads[i]))
        return found

    def _near(self, atom: Constant | Compound) -> list[int]:
        """Return the clauses whose heads agree with *atom* in the argument that leaves the fewest of them."""
        name = signature(atom)
        choices = [
            sorted(self._by_place.get(place, []) + self._by_place.get((name, place[1], None), []))
            for place in _places(atom)
            if place[2] is not None
        ]
        return min(choices, key=len, default=self._by_place.get((name, -1, None), []))


def _places(atom: Constant | Compound) -> Iterator[Place]:
    """Yield what can be known of *atom* from one argument, None for a variable; argument -1 is the relation itself."""
    name = signature(atom)
    yield name, -1, None
    if isinstance(atom, Compound):
        for number, argument in enumerate(atom.arguments):
            yield name, number, None if isinstance(argument, Variable) else signature(argument)


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


def dependencies_of(clauses: Sequence[Clause], limit: int = MAX_DEPENDENCIES) -> Dependencies:
    """Return which clauses need which: those whose heads a literal of theirs can meet.

    Raises:
        LimitExceeded: there are more than *limit* such pairs.
    """
    heads = Heads(clauses)
    edges: list[dict[int, bool]] = [{} for _ in clauses]
    n_meetings = 0
    for clause, needed in zip(clauses, edges, strict=True):
        for literal in clause.literals:
            meeting = heads.meeting(literal.atom)
            needed |= {i: needed.get(i, False) or not literal.is_positive for i in meeting}
            n_meetings += len(meeting)
            if n_meetings > limit:
                raise LimitExceeded("dependencies between rules", limit)
    return Dependencies(edges)


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
    heads = [own_name(clauses[i].head) for i in cycle]
    rest = [name for name, before in zip(heads[2:], heads[1:], strict=False) if name != before]
    names = [heads[0], f"not {heads[1]}", *rest]
    return StratificationError(
        f"this rule makes {names[0]} depend on its own negation: {' <- '.join(names)}",
        clauses[cycle[0]].span,
        "break the cycle: let the negated relation be defined without this one",
        names,
    )
