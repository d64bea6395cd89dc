"""How much a kernel does in a call, so that the clock is asked again in time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_TURN_S: Final = 0.01


class Pace:
    """A number of steps for each call, `n_steps`, which begins with one and follows the time that calls take.

    A call should take ten milliseconds.
    """

    def __init__(self) -> None:
        self.n_steps = 1

    @contextmanager
    def call(self, n_steps: int) -> Iterator[None]:
        """Time a call of *n_steps*, and adapt."""
        begun_s = time.perf_counter()
        yield
        took_s = time.perf_counter() - begun_s
        if took_s > 2 * _TURN_S:
            self.n_steps = max(1, self.n_steps // 2)
        elif n_steps == self.n_steps and took_s < _TURN_S / 2:
            self.n_steps *= 2
