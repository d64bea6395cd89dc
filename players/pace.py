"""How fast a search goes: whether there is time for one more round, and how many plays a round should have."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from players.deadline import Budget

MAX_LOADS: Final = 16
_MEMORY: Final = 0.7
"""What is left, a round later, of how long a round took: a machine may be busy just once."""


class Pace:
    """Learns from the rounds of a search.

    `n_loads` says how often the lanes of the engine are to be filled in a round, so that plays take a quarter to a
    half of its time: more of them would be better spent on other leaves.
    """

    def __init__(self) -> None:
        self.n_loads = 1
        self._round_s = self._play_s = 0.0

    def allows(self, budget: Budget) -> bool:
        """Return whether a round is likely to end in time."""
        return budget.deadline is None or budget.deadline.remaining_s >= self._round_s

    def rest(self) -> None:
        """Forget half of it between moves: after one slow round there must be another try."""
        self._round_s /= 2

    @contextmanager
    def round(self, budget: Budget) -> Iterator[None]:
        """Time a round, and learn from it."""
        began_s, self._play_s = _now_s(budget), 0.0
        yield
        round_s = _now_s(budget) - began_s
        self._round_s = max(round_s, self._round_s * _MEMORY)
        if 0 < self._play_s < round_s / 4:
            self.n_loads = min(2 * self.n_loads, MAX_LOADS)
        elif self._play_s > round_s / 2:
            self.n_loads = max(1, self.n_loads // 2)

    @contextmanager
    def plays(self, budget: Budget) -> Iterator[None]:
        """Time the plays of a round."""
        began_s = _now_s(budget)
        yield
        self._play_s = _now_s(budget) - began_s


def _now_s(budget: Budget) -> float:
    return time.monotonic() if budget.deadline is None else budget.deadline.clock()
