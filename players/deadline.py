"""When an answer is due, and how much work a search may do before."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment of a monotonic clock. *Units*: seconds of that clock."""

    at_s: float
    clock: Callable[[], float] = time.monotonic

    @classmethod
    def after(cls, seconds: float, clock: Callable[[], float] = time.monotonic) -> Self:
        """Return the deadline *seconds* from now."""
        return cls(clock() + seconds, clock)

    def earlier(self, margin_s: float) -> Deadline:
        """Return the deadline *margin_s* before this one."""
        return Deadline(self.at_s - margin_s, self.clock)

    def at_most(self, seconds: float) -> Deadline:
        """Return this deadline, or that *seconds* from now if it is earlier."""
        return Deadline(min(self.at_s, self.clock() + seconds), self.clock)

    @property
    def remaining_s(self) -> float:
        """The seconds left, never negative."""
        return max(0.0, self.at_s - self.clock())

    @property
    def has_passed(self) -> bool:
        """Whether no time is left."""
        return self.clock() >= self.at_s


def by_processor_time(seconds: float) -> Deadline:
    """Return a deadline that comes when this process has worked for *seconds*.

    Its clock begins as the monotonic one stands: to a player that asks that one instead, time runs by the clock.
    """
    offset_s = time.monotonic() - time.process_time()
    return Deadline.after(seconds, lambda: time.process_time() + offset_s)


@dataclass(frozen=True, slots=True)
class SearchBudget:
    """What a search may spend: a number of iterations, time, or both; a search that is finished stops earlier.

    *Units*: iterations are playouts for a tree search and positions for alpha-beta.

    Attributes:
        is_wanted: says, from any thread, whether the search is to go on; without it, it is.
    """

    max_iterations: int | None = None
    deadline: Deadline | None = None
    is_wanted: Callable[[], bool] | None = None

    def now_s(self) -> float:
        """Return the time by the clock of the deadline, without one by the monotonic clock."""
        return time.monotonic() if self.deadline is None else self.deadline.clock()

    @property
    def is_out_of_time(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and self.deadline.has_passed

    def is_spent(self, n_iterations: int) -> bool:
        """Whether there is nothing left to spend after *n_iterations* iterations."""
        is_over = (self.max_iterations is not None and n_iterations >= self.max_iterations) or self.is_out_of_time
        return is_over or (self.is_wanted is not None and not self.is_wanted())
