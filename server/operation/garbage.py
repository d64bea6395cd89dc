"""The garbage of a server is collected when little happens, so that no step of a match waits for it.

By itself the interpreter looks for cycles among young objects hundreds of times a second, and every few seconds among
all that there are: with a thousand matches that takes a fifth of a second, in which no reply is read. What a match
leaves has hardly any cycles. So young objects are looked at less often here, and all of them when it is asked for.
"""

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

LEAST_PAUSE_S: Final = 60.0
"""How long after a collection of all objects the next one comes at the earliest."""
MOST_PAUSE_S: Final = 600.0
"""How long after it the next one comes in any case."""
MOST_NEW: Final = 20
"""How many collections of younger objects, of some 200,000 new ones each, do not wait for a quiet moment either."""
QUIET: Final = 0.3
"""How much of a core the process uses at most in a quiet moment."""
THRESHOLDS: Final = (20_000, 10, 2**31 - 1)
"""How many new objects, and collections of younger ones, lead to a collection of each generation; the last is never."""
_INTERVAL_S: Final = 5.0


def settle_memory() -> None:
    """Let the garbage collector look no more at what is there now, most of which is code.

    It would hold up everything for a tenth of a second each time.
    """
    gc.collect()
    gc.freeze()


class CollectionTimes:
    """Says when all objects are to be collected: in quiet moments, or after `MOST_PAUSE_S` or `MOST_NEW` collections.

    *now_s* is the time, *worked_s* for how long a core has worked for this process, *n_new* how often younger objects
    were collected since all were.
    """

    def __init__(
        self,
        now_s: Callable[[], float] = time.monotonic,
        worked_s: Callable[[], float] = time.process_time,
        n_new: Callable[[], int] = lambda: gc.get_count()[2],
    ) -> None:
        self._now_s, self._worked_s, self._n_new = now_s, worked_s, n_new
        self._collected_s = self._looked_s = now_s()
        self._worked_before_s = worked_s()

    def is_due(self) -> bool:
        """Return whether to collect now, by how busy the process was since the last call."""
        now_s, worked_s = self._now_s(), self._worked_s()
        is_quiet = worked_s - self._worked_before_s < QUIET * (now_s - self._looked_s)
        self._looked_s, self._worked_before_s = now_s, worked_s
        pause_s = now_s - self._collected_s
        is_due = pause_s >= (LEAST_PAUSE_S if is_quiet else MOST_PAUSE_S) or self._n_new() >= MOST_NEW
        if is_due:
            self._collected_s = now_s
        return is_due


@asynccontextmanager
async def collecting(times: CollectionTimes | None = None, interval_s: float = _INTERVAL_S) -> AsyncIterator[None]:
    """Collect all objects at no other *times* while the block runs, and young ones by `THRESHOLDS`."""
    thresholds = gc.get_threshold()
    gc.set_threshold(*THRESHOLDS)
    task = asyncio.create_task(_collect(times or CollectionTimes(), interval_s), name="garbage")
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _collect(times: CollectionTimes, interval_s: float) -> None:
    while True:
        await asyncio.sleep(interval_s)
        if times.is_due():
            gc.collect()
