"""The clock of this machine: the time of day, time to measure by, and an alarm; tests have clocks of their own."""

import asyncio
import time
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol


class Timeout(Protocol):
    """A deadline that is running."""

    def expired(self) -> bool:
        """Return whether it ended what it was set for."""


class Clock(Protocol):
    """Two clocks and an alarm."""

    def now_s(self) -> float:
        """Return monotonic time, to measure by. *Units*: seconds from anywhere."""

    def wall_ms(self) -> int:
        """Return the time of day, to write down. *Units*: milliseconds since 1970."""

    def timeout(self, limit_s: float) -> AbstractAsyncContextManager[Timeout]:
        """Return a context that is cancelled, and raises TimeoutError, *limit_s* seconds after it was entered."""


def now_ms() -> int:
    """Return the time of day of this machine. *Units*: milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class SystemClock:
    """The clocks of this machine."""

    def now_s(self) -> float:
        """Return monotonic time."""
        return time.monotonic()

    def wall_ms(self) -> int:
        """Return the time of day."""
        return now_ms()

    def timeout(self, limit_s: float) -> AbstractAsyncContextManager[Timeout]:
        """Return what interrupts the block that it is entered for after *limit_s*, by `TimeoutError`."""
        return asyncio.timeout(limit_s)


SYSTEM_CLOCK: Final = SystemClock()
