"""The game manager: takes orders, starts what can be started, goes on with what broke off, and loses nothing.

All that it must remember is in the database. Several managers may share one: a match has one holder at a time, whose
lease the holder renews; when it is silent, another one takes the match over.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from gdl.game import RANDOM, Role
from server.errors import TooManyMatchesError, UnknownMatchError
from server.hosting.news import News, something_new
from server.hosting.order import OrderText
from server.hosting.ordering import GameFinder
from server.hosting.playing import Playing, cancelled
from server.hosting.seating import Entrant, check_roles, seated
from server.hosting.settings import HostSettings
from server.hosting.terms import new_terms
from server.links.info import ask_info
from server.links.mailbox import Mailboxes
from server.match.clock import now_ms
from server.match.setup import new_match_id
from server.registry.claims import new_claim
from server.registry.health import HealthChecks
from server.registry.queueing import QueuedMatch, startable
from server.registry.registry import Registry, RegistrySettings
from server.storage.database import Database
from server.storage.errors import StorageError
from server.storage.games import GameStore
from server.storage.matches import MatchStore
from server.storage.players import PlayerStore
from server.storage.queue import MatchQueue, WaitingMatch
from server.storage.rows import QUEUED, MatchRow, SeatRow
from server.storage.writer import EventWriter

LOOK_S: Final = 1.0
"""How often the queue and the wishes of other managers are looked at when nothing else gives a reason to."""
PAUSE_S: Final = 0.05
"""How long to gather reasons before looking at the queue again."""
MAX_LOOKED_AT: Final = 2_000
"""How many of the matches that wait are looked at, the oldest ones."""
_OWN: Final = "\0own"
"""No player is called so."""
_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ordered:
    """A match that was ordered, and what its people say to take their seats: it is kept nowhere else."""

    row: MatchRow
    seat_secrets: Mapping[str, str]


class GameManager:
    """Plays the matches of *database* within *settings*; `start` it where an event loop runs.

    Attributes:
        news: tells viewers when something has happened in a match.
        writer: writes the journals, once the manager has started.
    """

    def __init__(self, database: Database, settings: HostSettings) -> None:
        self.database, self.settings = database, settings
        self.games, self.players, self.matches = GameStore(database), PlayerStore(database), MatchStore(database)
        self.queue = MatchQueue(database)
        self.news = News()
        self.mailboxes = Mailboxes()
        self.registry = Registry(self.players, self.mailboxes, RegistrySettings(targets=settings.targets))
        self.registry.on_change = self.look
        self.health = HealthChecks(self.registry, self.matches.busy, partial(ask_info, targets=settings.targets))
        self.playing = Playing(database, self.registry, settings, self._take_end)
        self._finder = GameFinder(self.games)
        self._loops: list[asyncio.Task[None]] = []
        self._wake = asyncio.Event()
        self._is_starting = True
        self.writer: EventWriter

    async def start(self) -> None:
        """Bring the library into the database, and begin to play: first what broke off, then what waits.

        Raises:
            StorageError: the database failed.
        """
        await self._finder.keep_library()
        self.writer = self.playing.writer = EventWriter(self.database, self.playing.holder, self.news.tell)
        if self.database.is_sqlite:
            await self.matches.free_all()  # its lock says that there is no other manager
        await self.playing.take_over()
        self.look()
        leases = self.playing.keep_leases(may_take_over=lambda: self._is_starting)
        self._loops = [asyncio.create_task(loop) for loop in (self._watch_queue(), leases, self.health.run())]

    async def close(self, *, parking: bool = True, limit_s: float = 15.0) -> None:
        """Stop: with *parking* what is played stays in the database and goes on later, else it is aborted."""
        self.stop_starting()
        await cancelled(self._loops)
        if not parking:
            await self.playing.abort_all("the game manager shuts down", limit_s)
        await self.playing.close()
        await self.writer.close()
        with suppress(StorageError):
            held = await self.matches.renew(self.playing.holder, self.settings.lease_s)
            await self.matches.release(held, self.playing.holder)

    def stop_starting(self) -> None:
        """Take no more orders, and start no more matches."""
        self._is_starting = False

    def n_running(self) -> int:
        """Return how many matches this manager plays."""
        return self.playing.n_running

    def look(self) -> None:
        """Look at the queue soon: something may have become possible."""
        self._wake.set()

    def _take_end(self, match_id: str) -> None:
        self.news.tell([match_id])
        self.look()

    async def order(self, text: OrderText, by: str = "") -> Ordered:
        """Keep the match that *text* orders; it is started as soon as its players are free.

        Raises:
            UnknownNameError: no such game, player or role.
            PlayerSpecError: a player that may not be named over the network.
            RuleFileError: its rules cannot be played.
            LimitExceeded: its rules cost too much.
            TooManyMatchesError: too many wait already, or the manager shuts down.
            StorageError: the database failed.
        """
        if not self._is_starting or await self.queue.length() >= self.settings.max_queued:
            raise TooManyMatchesError(self.settings.max_queued)
        version, outline = await self._finder.found(text, by)
        named = {role: await self.registry.resolve(seat.player) for role, seat in text.players.items()}
        check_roles(outline, named)
        entrants = seated(outline, named)
        claims = {str(role): new_claim() for role, entrant in entrants.items() if entrant.kind == "human"}
        terms = new_terms(text, version.name, {role: claim.hash for role, claim in claims.items()})
        row = MatchRow(
            id=new_match_id(),
            game=version.name,
            sha256=version.sha256,
            order=terms.as_json(),
            created_ms=now_ms(),
            status=QUEUED,
            ordered_by=by,
            tournament=text.tournament,
            is_hidden=version.is_gdl2 or any(terms.profile_of(str(role)).is_scrambled for role in entrants),
        )
        await self.matches.add(row, [_seat_row(row.id, i, role, entrants) for i, role in enumerate(outline.roles)])
        self.look()
        return Ordered(row, {role: claim.secret for role, claim in claims.items()})

    async def abort(self, match_id: str, reason: str) -> bool:
        """End the match soon, wherever it is played, and return whether it was not over yet.

        Raises:
            UnknownMatchError: there is no such match.
        """
        if await self.matches.request_abort(match_id, reason):
            self.playing.abort(match_id, reason)
            self.news.tell([match_id])
            return True
        if not await self.matches.has(match_id):
            raise UnknownMatchError(match_id)
        return False

    async def _watch_queue(self) -> None:
        while True:
            await something_new(self._wake, LOOK_S)
            self._wake.clear()
            await asyncio.sleep(PAUSE_S)
            try:
                await self._start_queued()
                await self._obey_others()
            except StorageError as error:
                _LOG.error("the queue cannot be read: %s", error)
                await asyncio.sleep(LOOK_S)

    async def _start_queued(self) -> None:
        if not self._is_starting or not self.playing.n_free:
            return
        at_ms = now_ms()
        waiting = [_in_queue(match, at_ms) for match in await self.queue.waiting(MAX_LOOKED_AT)]
        if not waiting:
            return
        limits = await self.registry.limits({player for match in waiting for player in match.players})
        limits |= {_OWN: self.settings.max_own_matches}
        busy = await self.matches.busy() | {_OWN: self.playing.n_own}
        chosen = startable(waiting, busy, limits, self.playing.n_free)
        if chosen:
            await self.playing.begin(chosen)

    async def _obey_others(self) -> None:
        for match_id, reason in (await self.matches.abort_requests(self.playing.holder)).items():
            self.playing.abort(match_id, reason)


def _in_queue(match: WaitingMatch, at_ms: int) -> QueuedMatch:
    """Return the match as the queue knows it; players of ours wait for each other, since they share the processor."""
    players = tuple(_OWN if kind == "own" else player for player, kind in match.players)
    return QueuedMatch(match.id, players, (at_ms - match.created_ms) / 1000)


def _seat_row(match_id: str, position: int, role: Role, entrants: Mapping[Role, Entrant]) -> SeatRow:
    entrant = entrants.get(role)
    if entrant is None:
        return SeatRow(match_id, str(role), position, str(RANDOM), "chance")
    return SeatRow(match_id, str(role), position, entrant.name, entrant.kind)
