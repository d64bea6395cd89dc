"""Tournaments as they change: what is read of one in few numbers, once for all who watch it."""

import asyncio
import hashlib
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from cachetools import TTLCache

from server.registry.queueing import WaitReason
from server.spectating.public_record import as_broadcast
from server.spectating.stream import POLL_S
from server.storage.database import Database
from server.storage.journals import JournalStore
from server.storage.notifications import Notifier, something_new
from server.storage.rows import MatchRow, MatchStatus
from server.storage.tournaments import TournamentStore

AGE_S: Final = 0.5
"""How long all viewers get what was read, so that many viewers cost no more than one."""
_N_KEPT: Final = 256


@dataclass(frozen=True, slots=True)
class LiveMatch:
    """A match of a tournament that waits or is played, its last step that is shown, and what it waits for."""

    match_id: str
    status: str
    n_steps: int
    wait_reason: WaitReason | None = None


@dataclass(frozen=True, slots=True)
class LiveTournament:
    """How far a tournament is: its revision, how many of its matches are over, and those that are live."""

    revision: int
    n_over: int
    live: tuple[LiveMatch, ...]

    @property
    def shape(self) -> str:
        """A word that is another one when anything but the steps of matches has changed."""
        parts = (self.revision, self.n_over, [(one.match_id, one.status, one.wait_reason) for one in self.live])
        return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()

    @property
    def steps(self) -> dict[str, int]:
        """The number of the last step of each match that is played, by its id, in the order of the schedule."""
        return {one.match_id: one.n_steps for one in self.live if one.status == MatchStatus.RUNNING}


class LiveTournaments:
    """What is read of the tournaments of a database; *wait_reasons* says what matches of the queue wait for."""

    def __init__(self, database: Database, wait_reasons: Callable[[], Mapping[str, WaitReason]] = dict) -> None:
        self._tournaments, self._journals = TournamentStore(database), JournalStore(database)
        self._wait_reasons = wait_reasons

    async def of(self, name: str) -> LiveTournament | None:
        """Return how far the tournament *name* is; None where there is none of that name."""
        found = await self._tournaments.live(name)
        if found is None:
            return None
        revision, n_over, rows = found
        return LiveTournament(revision, n_over, tuple(map(self._live, await as_broadcast(self._journals, rows))))

    def _live(self, row: MatchRow) -> LiveMatch:
        reason = self._wait_reasons().get(row.id) if row.status == MatchStatus.QUEUED else None
        return LiveMatch(row.id, row.status, row.n_steps, reason)


class TournamentFeed:
    """What the tournaments of *store* are at; *notifier* wakes those who wait, *clock* tells the time in seconds."""

    def __init__(self, store: LiveTournaments, notifier: Notifier, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self._notifier = store, notifier
        self._latest: TTLCache[str, LiveTournament | None] = TTLCache(_N_KEPT, AGE_S, clock)
        self._reading = asyncio.Lock()

    async def now(self, name: str) -> LiveTournament | None:
        """Return what the tournament *name* is at now; None where there is none."""
        return await self._store.of(name)

    async def changes(self, name: str, poll_s: float = POLL_S) -> AsyncGenerator[LiveTournament]:
        """Yield what the tournament *name* is at, and again whenever that has changed; it ends where there is none."""
        seen: LiveTournament | None = None
        with self._notifier.subscribed() as fresh:
            while True:
                fresh.clear()
                found = await self._shared(name)
                if found is None:
                    return
                if found != seen:
                    yield found
                seen = found
                await something_new(fresh, poll_s)
                await asyncio.sleep(AGE_S)  # viewers get changes that come together in one

    async def _shared(self, name: str) -> LiveTournament | None:
        async with self._reading:
            # Not asked twice: what is kept may be too old a moment later.
            with suppress(KeyError):
                return self._latest[name]
            found = self._latest[name] = await self._store.of(name)
            return found
