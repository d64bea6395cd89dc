"""The garbage of a server is collected when little happens, so that no step of a match waits for it.

By itself the interpreter looks for cycles among young objects when there are some more objects than before, and every
few seconds among all that there are: with a thousand matches that takes a fifth of a second, in which no reply is read.
What a match leaves has hardly any cycles. So all objects are looked at when little happens, and young ones twenty times
a second, by the clock: where as many objects go as come the interpreter seldom looks at the young ones, and those that
have gathered by then take it up to 60 ms.
"""

import asyncio
import gc
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

LEAST_PAUSE_S: Final = 60.0
"""How long after a collection of all objects the next one comes at the earliest."""
MOST_PAUSE_S: Final = 600.0
"""How long after it the next one comes in any case."""
MOST_NEW: Final = 4_000_000
"""How many more objects than after the last one do not wait for a quiet moment either."""
QUIET: Final = 0.3
"""How much of a core the process uses at most in a quiet moment."""
_NEVER: Final = 2**31 - 1
THRESHOLDS: Final = (200_000, _NEVER, _NEVER)
"""How many more young objects are collected by the interpreter itself, which is when something holds the loop up."""
YOUNG_PAUSE_S: Final = 0.05
"""How long after a collection of young objects the next one comes."""
_N_YOUNG: Final = 100
"""How many of these come before it is looked whether all objects are to be collected."""


def freeze_objects() -> None:
    """Let the garbage collector look no more at what is there now, most of which is code.

    It would hold up everything for a tenth of a second each time.
    """
    gc.collect()
    gc.freeze()


class CollectionTimes:
    """Says when all objects are to be collected: in quiet moments, or after `MOST_PAUSE_S` or `MOST_NEW` new objects.

    *now_s* is the time, *worked_s* for how long a core has worked for this process, *n_objects* how many there are.
    """

    def __init__(
        self,
        now_s: Callable[[], float] = time.monotonic,
        worked_s: Callable[[], float] = time.process_time,
        n_objects: Callable[[], int] = sys.getallocatedblocks,
    ) -> None:
        self._now_s, self._worked_s, self._n_objects = now_s, worked_s, n_objects
        self._collected_s = self._looked_s = now_s()
        self._worked_before_s, self._n_before = worked_s(), n_objects()

    def is_due(self) -> bool:
        """Return whether to collect now, by how busy the process was since the last call."""
        now_s, worked_s = self._now_s(), self._worked_s()
        is_quiet = worked_s - self._worked_before_s < QUIET * (now_s - self._looked_s)
        self._looked_s, self._worked_before_s = now_s, worked_s
        pause_s, n_new = now_s - self._collected_s, self._n_objects() - self._n_before
        return pause_s >= (LEAST_PAUSE_S if is_quiet else MOST_PAUSE_S) or n_new >= MOST_NEW

    def note_collected(self) -> None:
        """Note that all objects were collected just now."""
        self._collected_s, self._n_before = self._now_s(), self._n_objects()


@asynccontextmanager
async def collecting(times: CollectionTimes | None = None, pause_s: float = YOUNG_PAUSE_S) -> AsyncIterator[None]:
    """Collect all objects at no other *times* while the block runs, and young ones *pause_s* after one another."""
    thresholds = gc.get_threshold()
    gc.set_threshold(*THRESHOLDS)
    task = asyncio.create_task(_collect(times or CollectionTimes(), pause_s), name="garbage")
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _collect(times: CollectionTimes, pause_s: float) -> None:
    while True:
        for _ in range(_N_YOUNG):
            await asyncio.sleep(pause_s)
            gc.collect(0)
        if times.is_due():
            gc.collect()
            times.note_collected()
