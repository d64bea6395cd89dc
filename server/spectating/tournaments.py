"""Tournaments as they change: one look at the database for all who watch the same one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Final

from cachetools import TTLCache

from server.spectating.stream import POLL_S
from server.storage.journals import Notifier, something_new
from server.storage.pulses import Pulse, PulseStore

AGE_S: Final = 0.5
"""How long what was read is told to everybody, so that many viewers cost no more than one."""
_N_KEPT: Final = 256


class TournamentFeed:
    """What the tournaments of *store* are at; *notifier* wakes those who wait, *clock* tells the time in seconds."""

    def __init__(self, store: PulseStore, notifier: Notifier, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self._notifier = store, notifier
        self._latest: TTLCache[str, Pulse | None] = TTLCache(_N_KEPT, AGE_S, clock)
        self._reading = asyncio.Lock()

    async def now(self, name: str) -> Pulse | None:
        """Return what the tournament *name* is at now; None where there is none."""
        return await self._store.of(name)

    async def changes(self, name: str, poll_s: float = POLL_S) -> AsyncIterator[Pulse]:
        """Yield what the tournament *name* is at, and again whenever that has changed; it ends where there is none."""
        seen: Pulse | None = None
        with self._notifier.subscribed() as fresh:
            while True:
                fresh.clear()
                pulse = await self._shared(name)
                if pulse is None:
                    return
                if pulse != seen:
                    yield pulse
                seen = pulse
                await something_new(fresh, poll_s)
                await asyncio.sleep(AGE_S)  # changes that come together are told together

    async def _shared(self, name: str) -> Pulse | None:
        async with self._reading:
            if name not in self._latest:
                self._latest[name] = await self._store.of(name)
            return self._latest.get(name)
