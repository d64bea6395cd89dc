"""Requests that last, streams above all: each ends soon after what entitled it does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from aiohttp import web

CHECKED_S: Final = 15.0
"""How often it is looked whether those who read streams still may."""


class Lasting:
    """The requests that are being answered; *still_admits* tells whether one would still be let in."""

    def __init__(self, still_admits: Callable[[web.Request], Awaitable[bool]]) -> None:
        self._still_admits = still_admits
        self._requests: dict[asyncio.Task[object], web.Request] = {}

    @contextmanager
    def held(self, request: web.Request) -> Iterator[None]:
        """Count *request* among them while the block answers it."""
        task = asyncio.current_task()
        assert task is not None
        self._requests[task] = request
        try:
            yield
        finally:
            del self._requests[task]

    async def sweep(self) -> None:
        """End those whose token was revoked, or whose session is over."""
        for task, request in tuple(self._requests.items()):
            if not await self._still_admits(request) and task in self._requests:
                task.cancel()

    async def run(self, _app: web.Application) -> AsyncIterator[None]:
        """Sweep every now and then, for as long as the application runs."""
        sweeping = asyncio.create_task(self._sweep_on())
        yield
        sweeping.cancel()
        with suppress(asyncio.CancelledError):
            await sweeping

    async def _sweep_on(self) -> None:
        while True:
            await asyncio.sleep(CHECKED_S)
            # A database that does not answer now does so at the next sweep.
            with suppress(Exception):
                await self.sweep()
