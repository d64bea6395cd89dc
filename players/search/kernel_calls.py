"""Kernels and the clock: how much one does in a call, and what waits in a thread until kernels are compiled."""

import gc
import logging
import threading
import time
from collections.abc import Callable
from typing import Final, Generic, TypeVar

_LOG: Final = logging.getLogger(__name__)
_MAX_PATIENCE_S: Final = 3_600.0
TURN_S: Final = 0.01
"""How long a call should take."""

Made = TypeVar("Made")


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


class InTheMaking(Generic[Made]):
    """Something that *make* makes in a thread of its own; *name* is what it is called in the log."""

    def __init__(self, make: Callable[[], Made], name: str) -> None:
        self._make, self._name = make, name
        self._made: Made | None = None
        self._maker = threading.Thread(target=self._run, name=f"making a {name}", daemon=True)
        try:
            self._maker.start()
        except RuntimeError:  # no room for a thread: earlier searches may not have been given back yet
            gc.collect()
            self._maker.start()

    def _run(self) -> None:
        try:
            self._made = self._make()
        except MemoryError:
            _LOG.warning("there is no memory for a %s", self._name)

    def get(self, patience_s: float) -> Made | None:
        """Return it; None where it is not made within *patience_s* seconds."""
        if self._made is None:
            self._maker.join(min(max(0.0, patience_s), _MAX_PATIENCE_S))
        return self._made
