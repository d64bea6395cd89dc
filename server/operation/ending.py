"""The end of the process: on SIGTERM or Ctrl-C matches are finished, parked or aborted, within a limit.

Parked matches stay in the database as they are, and go on when a server is started on it again. A second Ctrl-C ends
the process at once, which loses nothing either: what was answered is in the database.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Final, Protocol

import structlog
from aiohttp import web

INTERRUPTED: Final = 128 + signal.SIGINT
POLL_S: Final = 0.2
_LOG: Final = structlog.get_logger("server.ending")


class Manner(Enum):
    """What becomes of the matches that are being played when the process shall end."""

    FINISH = "finish"
    PARK = "park"
    ABORT = "abort"


class Closable(Protocol):
    """What plays matches, and can be told to stop."""

    def stop_starting(self) -> None:
        """Begin no further match, and take no further order."""

    def n_running(self) -> int:
        """Return how many matches are being played."""

    async def close(self, *, parking: bool) -> None:
        """Leave the matches where they are in the database (*parking*), or abort them; then let go of everything."""


class Ending:
    """Whether the process shall end; `requested` waits for that."""

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
        """Wait until somebody asks for the end."""
        await self._requested.wait()

    def take_signal(self, number: signal.Signals) -> None:
        """Begin the end; a second Ctrl-C is the end."""
        if number is signal.SIGINT and self.has_begun:
            _LOG.warning("ended at once")
            self._leave(INTERRUPTED)
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


ENDING: Final = web.AppKey("ending", Ending)


async def end(
    playing: Closable, manner: Manner, limit_s: float, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
) -> None:
    """End what *playing* plays in the *manner* that was chosen; what is not finished within *limit_s* is parked."""
    playing.stop_starting()
    _LOG.info("shutting down", manner=manner.value, running=playing.n_running())
    if manner is Manner.FINISH:
        await _finished(playing, limit_s, sleep)
    is_aborting = manner is Manner.ABORT
    if playing.n_running() and not is_aborting:
        _LOG.info("parked", running=playing.n_running())
    await playing.close(parking=not is_aborting)
    _LOG.info("shut down")


async def _finished(playing: Closable, limit_s: float, sleep: Callable[[float], Awaitable[object]]) -> None:
    loop = asyncio.get_running_loop()
    until_s = loop.time() + limit_s
    while playing.n_running() and loop.time() < until_s:
        await sleep(POLL_S)
