"""Long work beside the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TypeAlias

from server.position import Position

Evaluator: TypeAlias = Callable[[Callable[[], Position]], Awaitable[Position]]
"""Runs the function that it is given without holding up the event loop, and returns what that returned."""


async def in_own_thread(work: Callable[[], Position]) -> Position:
    """Return what *work* returns, from a thread of its own.

    A pool would let one match without end starve the others, and hold up the end of the process.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Position] = loop.create_future()
    threading.Thread(target=_run, args=(work, loop, done), name="evaluation", daemon=True).start()
    return await done


def _run(work: Callable[[], Position], loop: asyncio.AbstractEventLoop, done: asyncio.Future[Position]) -> None:
    try:
        position = work()
    except Exception as error:
        _report(loop, done, partial(done.set_exception, error))
    else:
        _report(loop, done, partial(done.set_result, position))


def _report(loop: asyncio.AbstractEventLoop, done: asyncio.Future[Position], set_done: Callable[[], None]) -> None:
    # The loop is closed when nobody waits any more.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(lambda: None if done.done() else set_done())
