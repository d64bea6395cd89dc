"""Kernels and the clock: how much one does in a call, and how many plays are made in a batch of a search."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from players.deadline import SearchBudget

TURN_S: Final = 0.01
"""How long a call should take."""


class Pace:
    """A number of steps for each call, `n_steps`, which begins with one and follows the time that calls take.

    A call should take *turn_s* seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter, turn_s: float = TURN_S) -> None:
        self.n_steps = 1
        self.clock, self._turn_s, self._begun_s = clock, turn_s, 0.0

    def begin(self) -> None:
        """Note that a call begins."""
        self._begun_s = self.clock()

    def end(self, n_done: int) -> float:
        """Note that a call has ended after *n_done* steps, and adapt; return the seconds that it took.

        A call that ended early says nothing of how long more steps would take.
        """
        took_s = self.clock() - self._begun_s
        if took_s > 2 * self._turn_s:
            self.n_steps = max(1, self.n_steps // 2)
        elif n_done >= self.n_steps and took_s < self._turn_s / 2:
            self.n_steps *= 2
        return took_s


MAX_LOADS: Final = 16
_MEMORY: Final = 0.7
"""The share of a batch's time that still counts a batch later: a machine may be busy just once."""


class BatchSizer:
    """Adapts the size of batches to the time that they take.

    `n_loads` is how often the lanes of the engine are filled in a batch, so that plays take a quarter to a half of its
    time: more plays would be better spent on other leaves.
    """

    def __init__(self) -> None:
        self.n_loads = 1
        self._batch_s = self._play_s = 0.0

    def allows(self, budget: SearchBudget) -> bool:
        """Return whether a batch is likely to end in time."""
        return budget.deadline is None or budget.deadline.remaining_s >= self._batch_s

    def rest(self) -> None:
        """Halve the expected time of a batch between moves: after one slow batch there must be another try."""
        self._batch_s /= 2

    @contextmanager
    def batch(self, budget: SearchBudget) -> Iterator[None]:
        """Time a batch, and learn from it."""
        began_s, self._play_s = budget.now_s(), 0.0
        yield
        batch_s = budget.now_s() - began_s
        self._batch_s = max(batch_s, self._batch_s * _MEMORY)
        if 0 < self._play_s < batch_s / 4:
            self.n_loads = min(2 * self.n_loads, MAX_LOADS)
        elif self._play_s > batch_s / 2:
            self.n_loads = max(1, self.n_loads // 2)

    @contextmanager
    def plays(self, budget: SearchBudget) -> Iterator[None]:
        """Time the plays of a batch."""
        began_s = budget.now_s()
        yield
        self._play_s = budget.now_s() - began_s
