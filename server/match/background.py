"""Work in the background: what may take long, beside the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TypeAlias, TypeVar

from server.match.position import Position

Evaluator: TypeAlias = Callable[[Callable[[], Position]], Awaitable[Position]]
"""Runs the function that it is given without holding up the event loop, and returns what that returned."""

Result = TypeVar("Result")


async def in_own_thread(work: Callable[[], Result]) -> Result:
    """Return what *work* returns, from a thread of its own.

    In a pool, work without end would starve the work of others, and hold up the end of the process.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()
    threading.Thread(target=_run, args=(work, loop, done), name="background", daemon=True).start()
    return await done


def _run(work: Callable[[], Result], loop: asyncio.AbstractEventLoop, done: asyncio.Future[Result]) -> None:
    try:
        result = work()
    except Exception as error:
        _report(loop, done, partial(done.set_exception, error))
    else:
        _report(loop, done, partial(done.set_result, result))


def _report(loop: asyncio.AbstractEventLoop, done: asyncio.Future[Result], set_done: Callable[[], None]) -> None:
    # The loop is closed when nobody waits any more.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(lambda: None if done.done() else set_done())
