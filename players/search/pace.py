"""How much a kernel does in a call, so that the clock is asked again in time."""

import time
from collections.abc import Callable
from typing import Final

_TURN_S: Final = 0.01
"""How long a call should take."""


class Pace:
    """A number of steps for each call, `n_steps`, which begins with one and follows the time that calls take."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.n_steps = 1
        self.clock, self._begun_s = clock, 0.0

    def begin(self) -> None:
        """Note that a call begins."""
        self._begun_s = self.clock()

    def end(self, n_done: int) -> float:
        """Note that a call has ended after *n_done* steps, and adapt; return the seconds that it took.

        A call that ended early says nothing of how long more steps would take.
        """
        took_s = self.clock() - self._begun_s
        if took_s > 2 * _TURN_S:
            self.n_steps = max(1, self.n_steps // 2)
        elif n_done >= self.n_steps and took_s < _TURN_S / 2:
            self.n_steps *= 2
        return took_s
