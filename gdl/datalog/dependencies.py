"""What depends on what: components of mutual recursion, cycles through a negation, and the order of evaluation."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from gdl.datalog.clauses import Clause
from gdl.datalog.disjunctions import own_name
from gdl.errors import LimitExceeded, StratificationError
from gdl.language.terms import Compound, Constant, Signature, Term, Variable, can_meet, signature


@dataclass(frozen=True)
class Dependencies:
    """For every node the nodes that it needs, and whether it needs them through a negation (as well)."""

    edges: Sequence[Mapping[int, bool]]

    @cached_property
    def components(self) -> list[tuple[int, ...]]:
        """Nodes that depend on one another, each component after all that it needs."""
        return components_of([tuple(needed) for needed in self.edges])

    @cached_property
    def component_of(self) -> tuple[int, ...]:
        """The component of every node."""
        found = [0] * len(self.edges)
        for number, group in enumerate(self.components):
            for node in group:
                found[node] = number
        return tuple(found)

    def are_mutual(self, one: int, other: int) -> bool:
        """Return whether the nodes, of which one needs the other, stand on a common cycle."""
        return self.component_of[one] == self.component_of[other]

    def mutual_with(self, nodes: Iterable[int]) -> set[int]:
        """Return all nodes of the components of *nodes*."""
        return {node for number in {self.component_of[node] for node in nodes} for node in self.components[number]}

    def negative_cycles(self) -> Iterator[tuple[int, ...]]:
        """Yield a shortest cycle through every negative edge on one: its two nodes first, the first again last."""
        for i, needed in enumerate(self.edges):
            for j, is_negative in needed.items():
                if is_negative and self.are_mutual(i, j):
                    back = self.chain(j, {i})
                    assert back is not None
                    yield (i, *back)

    def distances_to(self, ends: Iterable[int]) -> dict[int, int]:
        """Return by how few steps each node leads to one of *ends*; nodes that lead to none are left out."""
        users: list[list[int]] = [[] for _ in self.edges]
        for node, needed in enumerate(self.edges):
            for target in needed:
                users[target].append(node)
        found = dict.fromkeys(ends, 0)
        queue = list(found)
        for node in queue:
            for user in users[node]:
                if user not in found:
                    found[user] = found[node] + 1
                    queue.append(user)
        return found

    def chain(self, start: int, ends: Collection[int]) -> tuple[int, ...] | None:
        """Return the nodes of a shortest path from *start* to one of *ends*, or None where there is none."""
        came_from = {start: start}
        queue = [start]
        for node in queue:
            if node in ends:
                return _path(came_from, start, node)
            for target in self.edges[node]:
                if target not in came_from:
                    came_from[target] = node
                    queue.append(target)
        return None


def _path(came_from: Mapping[int, int], start: int, end: int) -> tuple[int, ...]:
    path = [end]
    while path[-1] != start:
        path.append(came_from[path[-1]])
    return tuple(reversed(path))


def components_of(successors: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Return the strongly connected components of a graph, each after all that it leads to.

    Source: Tarjan 1972, with an explicit stack.
    """
    low = [0] * len(successors)  # the lowest number that a node leads to, as far as is known; 0 where it is not met
    done = len(successors) + 1
    n_met = 0
    open_nodes: list[int] = []
    found: list[tuple[int, ...]] = []
    for root in range(len(successors)):
        path: list[tuple[int, int, Iterator[int]]] = []
        new = None if low[root] else root
        while path or new is not None:
            if new is not None:
                n_met += 1
                low[new] = n_met
                open_nodes.append(new)
                path.append((new, n_met, iter(successors[new])))
            node, number, rest = path[-1]
            new = None
            for target in rest:
                if not low[target]:
                    new = target
                    break
                if low[target] < low[node]:  # noqa: PLR1730 -- `min` takes twice as long
                    low[node] = low[target]
            else:
                path.pop()
                if path and low[node] < low[path[-1][0]]:
                    low[path[-1][0]] = low[node]
                if low[node] == number:
                    group = [open_nodes.pop()]
                    while group[-1] != node:
                        group.append(open_nodes.pop())
                    for each in group:
                        low[each] = done
                    found.append(tuple(sorted(group)))
    return found


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
