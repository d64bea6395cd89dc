"""The netlist of gates: what each reads, what reads it, and in which order they are visited."""

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import chain
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.gates import Inputs, Lit

Numbers: TypeAlias = NDArray[np.integer[Any]]


def ranges(first: Numbers, size: Numbers) -> NDArray[np.int64]:
    """Return first[0], first[0] + 1, ... (size[0] of them), first[1] and so on."""
    found: NDArray[np.int64] = np.arange(int(size.sum())) + np.repeat(first - np.cumsum(size) + size, size)
    return found


def starts(groups: Numbers, n_groups: int) -> NDArray[np.int64]:
    """Return where each group begins among items that are sorted by their *groups*, and the end."""
    return np.concatenate([[0], np.cumsum(np.bincount(groups, minlength=n_groups))])


def each_once(nodes: Numbers, place: Numbers) -> Numbers:
    """Return *nodes* without repetitions, leaving in *place*, by node, the last number that each had among them."""
    numbers = np.arange(nodes.size)
    place[nodes] = numbers
    found: Numbers = nodes[place[nodes] == numbers]
    return found


def cone_of(gates: Sequence[Inputs], roots: Iterable[Lit]) -> set[int]:
    """Return the nodes that the literals *roots* depend on, their own nodes among them."""
    found: set[int] = set()
    todo = [root >> 1 for root in roots]
    while todo:
        node = todo.pop()
        if node not in found:
            found.add(node)
            todo += [x >> 1 for x in gates[node] or ()]
    return found


class InputLists:
    """The inputs of every node of *gates*, all after one another in `literals`; `sizes` says how many each has."""

    def __init__(self, gates: Sequence[Inputs]) -> None:
        self.sizes: Final = np.fromiter((len(inputs or ()) for inputs in gates), np.int64, len(gates))
        self.literals: Final = np.fromiter(chain.from_iterable(filter(None, gates)), np.int64, int(self.sizes.sum()))
        self._first: Final = np.cumsum(self.sizes) - self.sizes

    def of(self, nodes: Numbers) -> Numbers:
        """Return the inputs of *nodes*, those of the first, then those of the second, and so on."""
        found: Numbers = self.literals[ranges(self._first[nodes], self.sizes[nodes])]
        return found


class Readers:
    """The gates that read each node of *gates*."""

    def __init__(self, gates: Sequence[Inputs]) -> None:
        inputs = InputLists(gates)
        nodes = inputs.literals >> 1
        self._readers: Final = np.repeat(np.arange(len(gates)), inputs.sizes)[np.argsort(nodes, kind="stable")]
        self._starts: Final = starts(nodes, len(gates))

    def of(self, node: int) -> list[int]:
        """Return the gates that read *node*."""
        found: list[int] = self._readers[self._starts[node] : self._starts[node + 1]].tolist()
        return found

    def reach(self, nodes: Iterable[int], reached: NDArray[np.bool_]) -> None:
        """Set, per node, that it is *reached*, for *nodes* and all that reads them, or what reads them, and so on."""
        place = np.zeros(len(reached), np.int64)
        new: Numbers = np.fromiter(nodes, np.int64)
        while (new := each_once(new[~reached[new]], place)).size:
            reached[new] = True
            first = self._starts[new]
            new = self._readers[ranges(first, self._starts[new + 1] - first)]


class NodeQueue:
    """Nodes in ascending order, each once; more may be added on the way, above the one at hand."""

    def __init__(self) -> None:
        self._todo: list[int] = []
        self._met: set[int] = set()

    def add(self, nodes: Iterable[int]) -> None:
        """Add *nodes*, but those that were added before."""
        for node in nodes:
            if node not in self._met:
                self._met.add(node)
                heappush(self._todo, node)

    def __iter__(self) -> Iterator[int]:
        """Yield the nodes until there is none any more."""
        while self._todo:
            yield heappop(self._todo)
