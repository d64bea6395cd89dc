"""The compiled engine, made ready beside a server that has begun: its kernels are put on disk, then loaded."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final, cast

import structlog

from gdl.compiler.kernel_loading import load_kernels
from server.links.own_player import package_environment
from server.operation.garbage_collection import freeze_objects
from server.threads import in_own_thread

_BESIDE_MATCHES: Final = 10
"""The niceness of what compiles beside a server."""
_BEGINNING: Final = "import os, sys\nos.nice(int(sys.argv[1]))\n"
_WORK: Final = """
from functools import partial

from gdl.compiler.kernel_loading import announcing_compilation
from players.stock import warm_up_all

with announcing_compilation(partial(print, flush=True)):
    warm_up_all()
"""
_LOG: Final = structlog.get_logger("server.warming")


@asynccontextmanager
async def warming(*, is_wanted: bool) -> AsyncIterator[None]:
    """Make the compiled engine ready beside the block, if that is wanted."""
    freeze_objects()
    task = asyncio.create_task(_warm(), name="warming") if is_wanted else None
    try:
        yield
    finally:
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def _warm() -> None:
    """Compile the kernels into the cache, then load them into this process."""
    try:
        await fill_cache(niceness=_BESIDE_MATCHES)
        await in_own_thread(load_kernels)
    except Exception:  # matches are interpreted then, or wait for it themselves
        _LOG.exception("the compiled engine is not ready")
    else:
        freeze_objects()
        _LOG.debug("the compiled engine is ready")


async def fill_cache(say: Callable[[str], object] = lambda _: None, *, niceness: int = 0) -> None:
    """Compile the kernels in a child process, which fills the cache of numba; quick where they are there already.

    *say* takes a line where kernels have to be compiled, and others now and then that tell how many have been. With
    *niceness* all other processes come first: what waits for it then waits long where cores are busy.
    """
    command = sys.executable, "-P", "-c", _BEGINNING + _WORK, str(niceness)
    process = await asyncio.create_subprocess_exec(
        *command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, env=package_environment()
    )
    try:
        async for told in cast(asyncio.StreamReader, process.stdout):
            say(told.decode().rstrip("\n"))
        await process.wait()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
