"""The matches that this process plays: it holds their leases, and takes over what nobody plays any more."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Collection
from typing import Final

from gdl.errors import CallerError, GdlError
from server.hosting.referees import Referees
from server.hosting.seating import Absent, Entrant, seated
from server.hosting.settings import HostSettings
from server.hosting.stored import Desk, StoredMatch
from server.hosting.terms import terms_of
from server.records.entries import OnEntry
from server.registry.failing import has_only_failed
from server.registry.registry import Registry
from server.storage.database import Database
from server.storage.errors import LostMatchError, StorageError
from server.storage.games import GameStore
from server.storage.matches import MatchStore
from server.storage.queue import MatchQueue
from server.storage.rows import MatchRow
from server.storage.writer import EventWriter

_LOG: Final = logging.getLogger(__name__)


class Playing:
    """Plays matches side by side, each in a task of its own; *on_end* is called when one is played no more.

    Attributes:
        holder: what this process is called in the database.
    """

    def __init__(
        self, database: Database, registry: Registry, settings: HostSettings, on_end: Callable[[str], None]
    ) -> None:
        self.holder = secrets.token_hex(8)
        self._games, self._matches, self._queue = GameStore(database), MatchStore(database), MatchQueue(database)
        self._registry, self._settings = registry, settings
        self._on_end = on_end
        self._referees = Referees(settings.referee_limits)
        self._matches_here: dict[str, StoredMatch] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self.on_share: Callable[[float], None] = lambda _: None
        self.on_entry: OnEntry = lambda *_: None
        self.writer: EventWriter

    @property
    def n_free(self) -> int:
        """How many more matches may be played at once."""
        return max(0, self._settings.max_running - len(self._tasks))

    @property
    def n_running(self) -> int:
        """How many matches are played here."""
        return len(self._tasks)

    @property
    def n_own(self) -> int:
        """In how many of them players of ours play, each in a process of its own."""
        return sum(any(one.kind == "own" for one in match.entrants.values()) for match in self._matches_here.values())

    async def begin(self, match_ids: Collection[str]) -> None:
        """Begin to play those of the matches that still wait.

        Raises:
            StorageError: the database failed.
        """
        for row in await self._queue.claim(match_ids, self.holder, self._settings.lease_s):
            self._spawn(row)

    async def take_over(self) -> None:
        """Go on with matches that broke off, as many as there is room for.

        Raises:
            StorageError: the database failed.
        """
        if not self.n_free:
            return
        for match_id in await self._matches.take_over(self.holder, self._settings.lease_s, self.n_free):
            row = await self._matches.get(match_id)
            if row is not None and match_id not in self._tasks:
                _LOG.info("match %s goes on at step %d", match_id, row.n_steps)
                self._spawn(row)

    async def keep_leases(self, *, may_take_over: Callable[[], bool]) -> None:
        """Renew the leases again and again, and take over the matches of those who did not; never returns."""
        while True:
            await asyncio.sleep(self._settings.lease_s / 3)
            try:
                await self._renew()
                if may_take_over():
                    await self.take_over()
            except StorageError as error:
                _LOG.error("leases cannot be renewed: %s", error)

    async def _renew(self) -> None:
        held = await self._matches.renew(self.holder, self._settings.lease_s)
        for match_id in self._tasks.keys() - held:
            await self._check_lost(match_id)
        # What stands still here, since something failed, may go on elsewhere.
        await self._matches.release(held - self._tasks.keys(), self.holder)

    async def _check_lost(self, match_id: str) -> None:
        row = await self._matches.get(match_id)
        if row is not None and not row.has_ended and row.holder != self.holder and match_id in self._tasks:
            _LOG.warning("match %s is played by another manager now", match_id)
            self._tasks[match_id].cancel()

    def _spawn(self, row: MatchRow) -> None:
        task = self._tasks[row.id] = asyncio.create_task(self._play(row), name=f"match {row.id}")
        task.add_done_callback(lambda _task: self._forget(row.id))

    def _forget(self, match_id: str) -> None:
        self._matches_here.pop(match_id, None)
        self._tasks.pop(match_id, None)
        self.writer.forget(match_id)
        self._on_end(match_id)

    async def _play(self, row: MatchRow) -> None:
        try:
            await self._play_out(row)
        except LostMatchError as error:
            _LOG.warning("match %s: %s", row.id, error)
        except (GdlError, OSError) as error:
            _LOG.error("match %s stands still: %s", row.id, error)
        except Exception:  # the game manager outlives whatever a match does
            _LOG.exception("match %s stands still", row.id)

    async def _play_out(self, row: MatchRow) -> None:
        version = await self._games.version(row.sha256)
        assert version is not None
        async with self._referees.lent(version) as referee:
            terms = terms_of(row.order)
            named = {role: await self._entrant(seat.player) for role, seat in terms.text.players.items()}
            desk = Desk(self._matches, self.writer, self._settings.signing_key, self.on_share, self.on_entry)
            match = self._matches_here[row.id] = StoredMatch(row, terms, seated(referee, named), referee, desk)
            if row.abort_reason is not None:
                match.abort(row.abort_reason)
            record = await match.play()
        await self._registry.note_match(has_only_failed(record.as_json()))

    async def _entrant(self, text: str) -> Entrant:
        try:
            return await self._registry.resolve(text)
        except CallerError:
            return Absent(text)

    def abort(self, match_id: str, reason: str) -> None:
        """End the match soon, if it is played here."""
        match = self._matches_here.get(match_id)
        if match is not None:
            match.abort(reason)

    async def abort_all(self, reason: str, limit_s: float) -> None:
        """Abort every match, and wait until the players are told, *limit_s* at most."""
        for match in self._matches_here.values():
            match.abort(reason)
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=limit_s)

    async def close(self) -> None:
        """Play no more: what is not over stays in the database as it is."""
        await cancelled(self._tasks.values())
        await self._referees.close()


async def cancelled(tasks: Collection[asyncio.Task[None]]) -> None:
    """Cancel *tasks* and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
