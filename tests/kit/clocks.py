"""Clocks that a test sets, for what is given a function that tells the time."""

from __future__ import annotations


class TimeOfDay:
    """A time of day. *Units*: milliseconds since 1970."""

    def __init__(self, now_ms: int = 1_000_000) -> None:
        self.now_ms = now_ms

    def __call__(self) -> int:
        return self.now_ms


class Stopwatch:
    """A time to measure by. *Units*: seconds."""

    def __init__(self, now_s: float = 100.0) -> None:
        self.now_s = now_s

    def __call__(self) -> float:
        return self.now_s
