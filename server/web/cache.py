"""Answers that take long to find: found in the background, once for all who ask, and remembered."""

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Final, Generic, TypeVar

from cachetools import LRUCache

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Found(Generic[Value]):
    value: Value
    at_s: float


class BackgroundCache(Generic[Key, Value]):
    """Remembers what *find* found for the *n_kept* keys that were asked last, and finds what it does not know.

    Pages wait *patience_s* for an answer, together where they ask for the same, and go without it then. An answer that
    is older than *fresh_s* is given all the same, and found anew meanwhile. Where *find* fails, which is logged, there
    is no answer, and the next page has it tried again. *Units*: seconds, those of *clock*.
    """

    def __init__(
        self,
        find: Callable[[Key], Awaitable[Value]],
        *,
        n_kept: int,
        patience_s: float,
        fresh_s: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._find, self._n_kept, self._patience_s = find, n_kept, patience_s
        self._fresh_s, self._clock = fresh_s, clock
        self._found: LRUCache[Key, _Found[Value]] = LRUCache(n_kept)
        self._tasks: dict[Key, asyncio.Task[None]] = {}

    async def of(self, key: Key, patience_s: float | None = None) -> Value | None:
        """Return what was found last for *key*; None while nothing was found yet."""
        found = self._found.get(key)
        if found is None or self._clock() - found.at_s > self._fresh_s:
            task = self._tasks.get(key) or self._begin(key)
            if found is None:
                await asyncio.wait((task,), timeout=self._patience_s if patience_s is None else patience_s)
                found = self._found.get(key)
        return None if found is None else found.value

    def is_at_work(self, key: Key) -> bool:
        """Return whether an answer may be known soon."""
        return key in self._tasks

    def _begin(self, key: Key) -> asyncio.Task[None]:
        """Find the answer for *key* in the background, instead of the one that was begun first where they are many."""
        if len(self._tasks) >= self._n_kept:
            self._tasks.pop(next(iter(self._tasks))).cancel()
        task = self._tasks[key] = asyncio.create_task(self._remember(key))
        task.add_done_callback(partial(self._forget, key))
        return task

    async def _remember(self, key: Key) -> None:
        try:
            self._found[key] = _Found(await self._find(key), self._clock())
        except Exception:  # the page does without
            _LOG.exception("an answer for pages was not found")

    def _forget(self, key: Key, task: asyncio.Task[None]) -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]

    async def close(self, grace_s: float = 0.0) -> None:
        """Wait *grace_s* for what is being found, and end the rest."""
        tasks = tuple(self._tasks.values())
        if tasks:
            await asyncio.wait(tasks, timeout=grace_s)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
