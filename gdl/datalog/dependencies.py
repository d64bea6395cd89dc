"""Graphs of what depends on what: components of mutual recursion, cycles through a negation, shortest chains."""

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
