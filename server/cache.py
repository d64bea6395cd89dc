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


@dataclass(frozen=True, slots=True)
class _Search:
    task: asyncio.Task[None]
    begun_s: float


class BackgroundCache(Generic[Key, Value]):
    """Remembers what *find* found for the *n_kept* keys that were asked last, and finds what it does not know.

    A page waits for an answer until *patience_s* after the first one asked for it, and goes without it then: what takes
    long holds up one page, and not all that come meanwhile. An answer that is older than *fresh_s* is given all the
    same, and found anew meanwhile. Where *find* fails, which is logged, there is no answer, and the next page has it
    tried again. *Units*: seconds, those of *clock*.
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
        self._searches: dict[Key, _Search] = {}

    async def of(self, key: Key, patience_s: float | None = None, *, may_be_old: bool = True) -> Value | None:
        """Return what was found last for *key*; None while nothing was found yet.

        What reads once, as a program does, has no use for an answer that was found long ago for others: where an
        answer may not be old it is waited for, too, and the old one given where that takes too long.
        """
        found = self._found.get(key)
        if found is None or self._clock() - found.at_s > self._fresh_s:
            search = self._searches.get(key) or self._begin(key)
            if found is None or not may_be_old:
                until_s = search.begun_s + (self._patience_s if patience_s is None else patience_s)
                await asyncio.wait((search.task,), timeout=max(0.0, until_s - self._clock()))
                found = self._found.get(key)
        return None if found is None else found.value

    def is_at_work(self, key: Key) -> bool:
        """Return whether an answer may be known soon."""
        return key in self._searches

    def _begin(self, key: Key) -> _Search:
        """Find the answer for *key* in the background, instead of the one that was begun first where they are many."""
        if len(self._searches) >= self._n_kept:
            self._searches.pop(next(iter(self._searches))).task.cancel()
        search = self._searches[key] = _Search(asyncio.create_task(self._remember(key)), self._clock())
        search.task.add_done_callback(partial(self._forget, key))
        return search

    async def _remember(self, key: Key) -> None:
        try:
            self._found[key] = _Found(await self._find(key), self._clock())
        except Exception:  # the page does without
            _LOG.exception("an answer for pages was not found")

    def _forget(self, key: Key, task: asyncio.Task[None]) -> None:
        search = self._searches.get(key)
        if search is not None and search.task is task:
            del self._searches[key]

    async def close(self, grace_s: float = 0.0) -> None:
        """Wait *grace_s* for what is being found, and end the rest."""
        tasks = tuple(search.task for search in self._searches.values())
        if tasks:
            await asyncio.wait(tasks, timeout=grace_s)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
