"""Waiting for what no event tells of: another thread, another process, what is worked out in the background."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar, overload

_PAUSE_S = 0.02

T = TypeVar("T")


@overload
async def until(condition: Callable[[], Awaitable[T | None]], limit_s: float = ..., pause_s: float = ...) -> T: ...


@overload
async def until(condition: Callable[[], T | None], limit_s: float = ..., pause_s: float = ...) -> T: ...


async def until(condition: Callable[[], object], limit_s: float = 60.0, pause_s: float = _PAUSE_S) -> object:
    """Return what *condition*, which may be asynchronous, gives as soon as that is true.

    Where it takes long to find out, *pause_s* is longer, so that what is waited for has the core.

    Raises:
        TimeoutError: it is not true within *limit_s* seconds.
    """
    async with asyncio.timeout(limit_s):
        while True:
            found = condition()
            if inspect.isawaitable(found):
                found = await found
            if found:
                return found
            await asyncio.sleep(pause_s)


def wait_until(condition: Callable[[], T | None], limit_s: float = 30.0) -> T:
    """Return what *condition* gives as soon as that is true; fail where it takes longer than *limit_s* seconds."""
    end_s = time.monotonic() + limit_s
    while not (found := condition()):
        assert time.monotonic() < end_s, "it did not come true in time"
        time.sleep(_PAUSE_S)
    return found
