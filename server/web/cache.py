"""Figures that take long to read: read in the background, and remembered for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

from cachetools import LRUCache

Value = TypeVar("Value")

FRESH_S: Final = 60.0
_N_KEPT: Final = 512


class StaleCache(Generic[Value]):
    """Remembers what *read* found for a key; pages wait for it no longer than *patience_s*, and go without it then."""

    def __init__(self, read: Callable[[str], Awaitable[Value]], patience_s: float = 0.08) -> None:
        self._read, self._patience_s = read, patience_s
        self._found: LRUCache[str, tuple[float, Value]] = LRUCache(_N_KEPT)
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def of(self, key: str) -> Value | None:
        """Return what was found last; None while nothing was found yet."""
        found = self._found.get(key)
        if found is None or asyncio.get_running_loop().time() - found[0] > FRESH_S:
            task = self._tasks.get(key) or self._begin(key)
            if found is None:
                await asyncio.wait((task,), timeout=self._patience_s)
                found = self._found.get(key)
        return None if found is None else found[1]

    def _begin(self, key: str) -> asyncio.Task[None]:
        task = self._tasks[key] = asyncio.create_task(self._remember(key))
        return task

    async def _remember(self, key: str) -> None:
        try:
            value = await self._read(key)
            self._found[key] = asyncio.get_running_loop().time(), value
        finally:
            del self._tasks[key]

    async def close(self) -> None:
        """End what is being read."""
        tasks = tuple(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
