"""The order in which clauses must be evaluated: components of mutual recursion, what they need first.

Clauses are told apart by the arguments of their heads, so that `(goal r 50)` may negate `(goal r 100)`
(local stratification; gdl.md, check 10).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from gdl.clauses import Clause
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
    heads = Heads(clauses)
    edges: list[dict[int, bool]] = []
    for clause in clauses:
        needed: dict[int, bool] = {}
        for literal in clause.literals:
            for i in heads.meeting(literal.atom):
                needed[i] = needed.get(i, False) or not literal.is_positive
        edges.append(needed)
    groups = components_of([tuple(needed) for needed in edges])
    component_of = [0] * len(clauses)
    for number, group in enumerate(groups):
        for i in group:
            component_of[i] = number
    _check_negation(clauses, edges, component_of)
    return Strata(_components(groups, edges, component_of), tuple(component_of))


def _components(
    groups: list[tuple[int, ...]], edges: list[dict[int, bool]], component_of: list[int]
) -> tuple[Component, ...]:
    found: list[Component] = []
    for number, group in enumerate(groups):
        needs = {component_of[j] for i in group for j in edges[i]}
        is_recursive = number in needs
        needs.discard(number)
        height = 1 + max((found[k].height for k in needs), default=-1)
        found.append(Component(group, tuple(sorted(needs)), height, is_recursive))
    return tuple(found)


def components_of(successors: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Return the strongly connected components of a graph, each after all that it leads to.

    Source: Tarjan 1972, with an explicit stack.
    """
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    open_nodes: list[int] = []
    is_open: set[int] = set()
    found: list[tuple[int, ...]] = []
    for root in range(len(successors)):
        if root in index:
            continue
        path = [(root, iter(successors[root]))]
        while path:
            node, rest = path[-1]
            if node not in index:
                index[node] = low[node] = len(index)
                open_nodes.append(node)
                is_open.add(node)
            for target in rest:
                if target not in index:
                    path.append((target, iter(successors[target])))
                    break
                if target in is_open:
                    low[node] = min(low[node], index[target])
            else:
                path.pop()
                if path:
                    parent = path[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == index[node]:
                    at = open_nodes.index(node)
                    found.append(tuple(sorted(open_nodes[at:])))
                    is_open.difference_update(open_nodes[at:])
                    del open_nodes[at:]
    return found


def _check_negation(clauses: Sequence[Clause], edges: list[dict[int, bool]], component_of: list[int]) -> None:
    for i, needed in enumerate(edges):
        for j, is_negative in needed.items():
            if is_negative and component_of[i] == component_of[j]:
                raise _cycle_error(clauses, edges, component_of, i, j)


def _cycle_error(
    clauses: Sequence[Clause], edges: list[dict[int, bool]], component_of: list[int], i: int, j: int
) -> StratificationError:
    path = _path(edges, component_of, j, i)
    cycle = [str(clauses[i].head), f"not {clauses[j].head}", *(str(clauses[k].head) for k in path[1:])]
    return StratificationError(
        f"this rule makes {cycle[0]} depend on its own negation: {' <- '.join(cycle)}",
        clauses[i].span,
        "break the cycle: let the negated relation be defined without this one",
        cycle,
    )


def _path(edges: list[dict[int, bool]], component_of: list[int], start: int, end: int) -> list[int]:
    """Return the shortest path from *start* to *end* inside their component."""
    came_from = {start: start}
    queue = [start]
    for node in queue:
        for target in edges[node]:
            if target not in came_from and component_of[target] == component_of[end]:
                came_from[target] = node
                queue.append(target)
    path = [end]
    while path[-1] != start:
        path.append(came_from[path[-1]])
    return path[::-1]
