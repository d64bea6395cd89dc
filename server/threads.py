"""Work in a thread of its own, beside the event loop."""

import asyncio
import errno
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

Result = TypeVar("Result")


async def in_own_thread(work: Callable[[], Result]) -> Result:
    """Return what *work* returns, from a thread of its own.

    In a pool, work without end would starve the work of others, and hold up the end of the process.

    Raises:
        OSError: the system gives no thread now; otherwise whatever *work* raises.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()
    thread = threading.Thread(target=_run, args=(work, loop, done), name="background", daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        raise OSError(errno.EAGAIN, str(error)) from error
    return await done


def _run(work: Callable[[], Result], loop: asyncio.AbstractEventLoop, done: asyncio.Future[Result]) -> None:
    try:
        result = work()
    except Exception as error:
        _report(loop, done, partial(done.set_exception, error))
    else:
        _report(loop, done, partial(done.set_result, result))


def _report(loop: asyncio.AbstractEventLoop, done: asyncio.Future[Result], set_done: Callable[[], None]) -> None:
    # The loop is closed when no caller waits any more.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(lambda: None if done.done() else set_done())
