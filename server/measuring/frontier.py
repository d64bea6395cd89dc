"""States of a depth, packed, and how often each is reached: what `perft` counts by, equal states together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

MOST_STATES: Final = 1 << 22
"""How many states of a depth are kept; of more, those found so far go deeper by themselves."""
EXACT: Final = 2.0**60
"""Up to there sums are whole numbers of 64 bits, with room to spare."""
_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)
Packed: TypeAlias = NDArray[np.uint8]
Weights: TypeAlias = NDArray[Any]
"""How often each of some states is reached: whole numbers without a bound."""


@dataclass(frozen=True, slots=True)
class Frontier:
    """States of a depth, all different, and how often each is reached.

    *Shapes*: `packed` (N, bytes), `weights` (N,).
    """

    packed: Packed
    weights: Weights

    def __len__(self) -> int:
        return len(self.packed)

    def parts(self, n: int) -> list[Frontier]:
        """Return the frontier in parts of at most *n* states."""
        return [
            Frontier(self.packed[first : first + n], self.weights[first : first + n])
            for first in range(0, len(self), n)
        ]

    def where(self, mask: NDArray[np.bool_]) -> Frontier:
        """Return those states for which *mask* holds."""
        return Frontier(self.packed[mask], self.weights[mask])

    def total(self, times: Weights | None = None) -> int:
        """Return the sum of the weights, each *times* a number."""
        if times is None:
            times = np.ones(len(self), np.int64)
        is_large = np.object_ in {self.weights.dtype.type, times.dtype.type} or (
            float(np.dot(self.weights.astype(np.float64), times.astype(np.float64))) >= EXACT
        )
        dtype = np.object_ if is_large else np.int64
        return int((self.weights.astype(dtype) * times.astype(dtype)).sum())


def together(parts: Sequence[Frontier]) -> Frontier:
    """Return all *parts* as one frontier, equal states counted together."""
    packed = np.concatenate([part.packed for part in parts])
    weights = np.concatenate([part.weights for part in parts])
    if weights.dtype != np.object_ and float(weights.sum(dtype=np.float64)) > EXACT:
        weights = weights.astype(np.object_)
    if not len(packed):
        return Frontier(packed, weights)
    keys = _keys(packed)
    order = np.argsort(keys)
    packed, keys = packed[order], keys[order]
    is_new = np.ones(len(packed), np.bool_)
    is_new[1:] = (keys[1:] != keys[:-1]) | (packed[1:] != packed[:-1]).any(axis=1)
    return Frontier(packed[is_new], np.add.reduceat(weights[order], np.flatnonzero(is_new)))


def _keys(packed: Packed) -> NDArray[np.uint64]:
    """Return a number for each state by which equal ones come together when sorted; few others share it."""
    n_words = -(-packed.shape[1] // 8)
    words = np.zeros((len(packed), 8 * n_words), np.uint8)
    words[:, : packed.shape[1]] = packed
    found = np.zeros(len(packed), np.uint64)
    for word in words.view(np.uint64).T:
        found = (found ^ word) * _MULTIPLIER
        found ^= found >> np.uint64(29)
    return found


class Gathering:
    """States of a depth while they are found, equal ones counted together whenever many have come."""

    def __init__(self) -> None:
        self._parts: list[Frontier] = []

    def add(self, part: Frontier) -> Iterator[Frontier]:
        """Add a part; yield all states so far, and forget them, where they are too many to be kept."""
        self._parts.append(part)
        if sum(map(len, self._parts)) > 2 * MOST_STATES:
            self._parts = [together(self._parts)]
            if len(self._parts[0]) > MOST_STATES:
                yield self._parts.pop()

    def rest(self) -> Iterator[Frontier]:
        """Yield the states that are left."""
        if any(map(len, self._parts)):
            yield together(self._parts)
