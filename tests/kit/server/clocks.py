"""Clocks of a machine that a test sets."""

from __future__ import annotations

from server.clock import SystemClock


class HandClock(SystemClock):
    """A machine on which no time passes but what a test sets: of the day in `ms`, and to measure by in `s`."""

    s = 100.0
    ms = 1_000

    def now_s(self) -> float:
        return self.s

    def wall_ms(self) -> int:
        return self.ms
