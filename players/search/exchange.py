"""What trees in threads tell each other while they search: the walks through their most visited nodes, and the sums.

Source: Bourki et al. 2010, scalability and parallelization of Monte-Carlo tree search (slow tree parallelisation).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from players.search.tree.nodes import BOUNDS, CHILD, DECIDER, FIRST, SOLVED, TOTAL, VISITS, Tree

_SHARE: Final = 0.05
"""How many of the root's walks lead to a node that is told of."""
_LEAST: Final = 64
"""How many walks do, at least."""
_GROWTH: Final = 1.05
"""How many walks a tree has that tells again, for each that it had before: later there is less news."""
_TOLD: Final = slice(TOTAL, VISITS + 1)
"""The columns of an edge that are told: the sum of goals, and the walks."""


class OfTree(Protocol):
    """A search, by its tree."""

    @property
    def tree(self) -> Tree:
        """The tree as it is now."""

    def node_of(self, words: NDArray[np.uint64]) -> int | None:
        """Return the node of a state, given as words, a new one where there is none; None where there is no room."""


@dataclass(frozen=True, slots=True)
class Walked:
    """Walks through a node, and along its edges with the sums of their goals. *Shapes*: `edges` (E, 2), sums first."""

    visits: int
    edges: NDArray[np.int32]


@dataclass(slots=True)
class Exchange:
    """Takes what each of some trees, by number, has walked by itself, and gives it to the others.

    To be asked for a tree by the thread that searches it. A node is known by its state. A tree tells again when its
    walks have grown by a factor.
    """

    n_roles: int
    growth: float = _GROWTH
    _own: dict[int, Mapping[bytes, Walked]] = field(default_factory=dict)
    _lent: dict[int, dict[bytes, Walked]] = field(default_factory=dict)
    _visits: dict[int, int] = field(default_factory=dict)

    def meet(self, number: int, search: OfTree, root: int) -> None:
        """Tell the others what a tree knows of nodes near its *root*, and add what they know now to it."""
        tree, lent = search.tree, self._lent.setdefault(number, {})
        if tree.node[root, VISITS] < self.growth * self._visits.get(number, 0):
            return
        others = [told for other, told in list(self._own.items()) if other != number]
        own = {}
        for key, node, edges in _top(tree, self.n_roles, root):
            own[key] = mine = _without(tree, node, edges, lent.get(key))
            theirs = [told[key] for told in others if key in told]
            if theirs:
                lent[key] = more = _sum(theirs)
                _put(tree, node, edges, _sum((mine, more)))
        self._own[number], self._visits[number] = own, int(tree.node[root, VISITS])

    def part(self, number: int, search: OfTree) -> None:
        """Leave in a tree what it has walked by itself alone."""
        for key, lent in self._lent.pop(number, {}).items():
            node = search.node_of(np.frombuffer(key, np.uint64))
            edges = search.tree.edge[:0] if node is None else _edges(search.tree, self.n_roles, node)
            if node is not None and len(edges) == len(lent.edges):  # else it was forgotten since
                _put(search.tree, node, edges, _without(search.tree, node, edges, lent))


def _top(tree: Tree, n_roles: int, root: int) -> Iterator[tuple[bytes, int, NDArray[np.int32]]]:
    """Yield the most visited nodes from *root* on that have edges, and are not solved: states, numbers and edges."""
    least, met, todo = max(_LEAST, int(_SHARE * tree.node[root, VISITS])), set(), [root]
    while todo:
        node = todo.pop()
        row = tree.node[node]
        if node in met or row[FIRST] < 0 or row[SOLVED]:
            continue
        met.add(node)
        edges = _edges(tree, n_roles, node)
        yield tree.words[node].tobytes(), node, edges
        if row[DECIDER] >= 0:
            todo += [child for child in edges[edges[:, VISITS] >= least, CHILD].tolist() if child >= 0]


def _edges(tree: Tree, n_roles: int, node: int) -> NDArray[np.int32]:
    """Return the edges of a node (E, 4), a view; none where it has not been opened."""
    row = tree.node[node].tolist()
    first, n = row[FIRST], sum(row[BOUNDS + n_roles : BOUNDS + 2 * n_roles])
    return tree.edge[first : first + n] if first >= 0 else tree.edge[:0]


def _without(tree: Tree, node: int, edges: NDArray[np.int32], lent: Walked | None) -> Walked:
    """Return the walks through a node without those that were *lent* to it."""
    visits, walked = int(tree.node[node, VISITS]), edges[:, _TOLD]
    if lent is None:
        return Walked(visits, walked.copy())
    return Walked(max(0, visits - lent.visits), np.maximum(walked - lent.edges, 0))


def _sum(walked: Sequence[Walked]) -> Walked:
    first, *others = walked
    visits, edges = first.visits, first.edges
    for each in others:
        visits, edges = visits + each.visits, edges + each.edges
    return Walked(visits, edges)


def _put(tree: Tree, node: int, edges: NDArray[np.int32], walked: Walked) -> None:
    tree.node[node, VISITS] = walked.visits
    edges[:, _TOLD] = walked.edges
