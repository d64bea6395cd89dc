"""The end of the process: on SIGTERM matches are finished, parked or aborted, within a limit."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Final, Protocol

import structlog
from aiohttp import web

POLL_S: Final = 0.2
_LOG: Final = structlog.get_logger("server.ending")


class ShutdownMode(StrEnum):
    """What becomes of the matches that are being played when the process shall end."""

    FINISH = "finish"
    PARK = "park"
    ABORT = "abort"


class Closable(Protocol):
    """What plays matches, and can be stopped."""

    def stop_starting(self) -> None:
        """Begin no further match, and take no further order."""

    def n_running(self) -> int:
        """Return how many matches are being played."""

    async def close(self, *, parking: bool) -> None:
        """Leave the matches where they are in the database (*parking*), or abort them; then let go of everything."""


class Shutdown:
    """The shutdown of the process: whether it was requested; `requested` waits for that."""

    def __init__(self, leave: Callable[[int], object] = os._exit) -> None:
        self._requested = asyncio.Event()
        self._leave = leave
        self.reason = ""

    @property
    def has_begun(self) -> bool:
        """Whether no more work should be sent here."""
        return self._requested.is_set()

    def request(self, reason: str) -> None:
        """Ask for the end of the process; *reason* is for the log."""
        if not self.has_begun:
            self.reason = reason
            self._requested.set()

    async def requested(self) -> None:
        """Wait until the end is requested."""
        await self._requested.wait()

    async def unless_requested(self, work: Awaitable[object]) -> None:
        """Wait for *work*, which is cancelled when the end is requested before it is done; raises what it raises."""
        waiting = asyncio.ensure_future(work), asyncio.create_task(self.requested())
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if waiting[0].done():
                await waiting[0]
        finally:
            for each in waiting:
                each.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    def take_signal(self, number: signal.Signals) -> None:
        """Begin the end; a second Ctrl-C is the end."""
        if number is signal.SIGINT and self.has_begun:
            _LOG.warning("ended at once")
            self._leave(128 + number)  # as shells have it
        self.request(number.name)

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """Take SIGTERM and SIGINT while the block runs."""
        loop = asyncio.get_running_loop()
        numbers = (signal.SIGINT, signal.SIGTERM)
        for number in numbers:
            loop.add_signal_handler(number, self.take_signal, number)
        try:
            yield
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)


SHUTDOWN: Final = web.AppKey("shutdown", Shutdown)


async def end(
    manager: Closable, mode: ShutdownMode, limit_s: float, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
) -> None:
    """End what *manager* plays in *mode*; what is not finished within *limit_s* is parked."""
    manager.stop_starting()
    _LOG.info("shutting down", manner=mode.value, running=manager.n_running())
    if mode is ShutdownMode.FINISH:
        await _finished(manager, limit_s, sleep)
    is_aborting = mode is ShutdownMode.ABORT
    if manager.n_running() and not is_aborting:
        _LOG.info("parked", running=manager.n_running())
    await manager.close(parking=not is_aborting)
    _LOG.info("shut down")


async def _finished(manager: Closable, limit_s: float, sleep: Callable[[float], Awaitable[object]]) -> None:
    loop = asyncio.get_running_loop()
    until_s = loop.time() + limit_s
    while manager.n_running() and loop.time() < until_s:
        await sleep(POLL_S)
