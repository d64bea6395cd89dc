"""What depends on what: components of mutual dependency, shortest chains, and cycles through a negation.

The nodes are numbers; what they stand for (clauses, relations) is the caller's affair.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property


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
