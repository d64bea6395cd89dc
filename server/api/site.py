"""The game manager as a process: a web application that listens until somebody ends it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from server.api.former import make_app
from server.hosting.matches import Matches


@asynccontextmanager
async def serving(matches: Matches, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Serve the game manager while the block runs, and yield its address; port 0 is one that the system chooses.

    In the end matches that are still being played are aborted, and their records written.

    Raises:
        OSError: nobody can listen there.
    """
    runner = web.AppRunner(make_app(matches), access_log=None, handler_cancellation=True, shutdown_timeout=2.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        name = f"[{host}]" if ":" in host else host
        yield f"http://{name}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def serve_until_stopped(matches: Matches, host: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve until Ctrl-C or SIGTERM; *announce* is told the address once it listens.

    Raises:
        OSError: nobody can listen there.
    """
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with serving(matches, host, port) as url:
        announce(url)
        await stopped.wait()
