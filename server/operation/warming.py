"""The compiled engine made ready before the first match needs it.

Its kernels are compiled the first time ever, for some fifteen seconds in which a process does little else, and kept on
disk; another process does that here. Loading them takes less than a second, which is better spent before anybody plays.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

import structlog

from server.links.own_player import package_environment
from server.match.background import in_own_thread

_COMMAND: Final = "import os; os.nice(10); from gdl.compiler.kernels import load_kernels; load_kernels()"
_LOG: Final = structlog.get_logger("server.warming")


@asynccontextmanager
async def warming(*, is_wanted: bool = True) -> AsyncIterator[None]:
    """Make the compiled engine ready beside the block, if that is wanted."""
    settle_memory()
    task = asyncio.create_task(_warm(), name="warming") if is_wanted else None
    try:
        yield
    finally:
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def settle_memory() -> None:
    """Let the garbage collector look no more at what is there now, most of which is code.

    It would hold up everything for a tenth of a second each time.
    """
    gc.collect()
    gc.freeze()


async def _warm() -> None:
    try:
        await _fill_cache()
        await in_own_thread(_load)
    except Exception:  # matches are interpreted then, or wait for it themselves
        _LOG.exception("the compiled engine is not ready")
    else:
        settle_memory()
        _LOG.debug("the compiled engine is ready")


async def _fill_cache() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-c", _COMMAND, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, env=package_environment()
    )
    try:
        await process.wait()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise


def _load() -> None:
    from gdl.compiler.kernels import load_kernels  # noqa: PLC0415 -- numba is large, and this is the thread for it

    load_kernels()
