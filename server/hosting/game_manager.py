"""The game manager: takes orders, starts what can be started, goes on with what broke off, and loses nothing.

All that it must remember is in the database. Several managers may share one: a match has one holder at a time, whose
lease the holder renews; when the lease is over, another one takes the match over.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from server.clock import now_ms
from server.errors import ShuttingDownError, TooManyMatchesError, UnknownMatchError
from server.hosting import idle_ladder, practice, supervisor
from server.hosting.admission import AdmissionControl, rest_s
from server.hosting.game_finder import GameFinder
from server.hosting.order import DrawnMatch, MatchRequest, MatchRules, drawn_match
from server.hosting.settings import GameManagerSettings
from server.hosting.tournaments import Tournaments
from server.links import relay, seating
from server.registry.health import DEFAULT_SETTINGS, HealthChecks
from server.registry.queueing import WaitReason
from server.registry.registry import Registry, RegistrySettings
from server.storage import accounts, games, journals, lobby, matches, notifications, queue, results, tournaments, writer
from server.storage.database import Database
from server.storage.errors import StorageError
from server.storage.rows import MatchPurpose, MatchRow
from server.tournament.fixtures import ScheduledMatch

LOOK_S: Final = 1.0
"""How often the queue and the wishes of other managers are looked at when nothing else gives a reason to."""
PAUSE_S: Final = 0.05
"""How long to gather reasons before looking at the queue again."""
_LOG: Final = logging.getLogger(__name__)


class GameManager:
    """Plays the matches of *database* within *settings* before *observers*; `start` it where an event loop runs.

    Attributes:
        finder: finds the rules that orders mean.
        practice: takes the orders of players, too.
        ladder: pairs idle players.
        tournaments: goes on with the tournaments.
        relay: passes on what reached another manager than the one that plays the match.
        notifier: wakes viewers when something has happened in a match.
        writer: writes the journals.
    """

    def __init__(
        self,
        database: Database,
        settings: GameManagerSettings,
        observers: supervisor.GameManagerObservers = supervisor.NO_OBSERVERS,
    ) -> None:
        self.database, self.settings = database, settings
        self.games, self.players = games.GameStore(database), accounts.PlayerStore(database)
        self.matches, self.journals = matches.MatchStore(database), journals.JournalStore(database)
        self.queue, self.lobby = queue.MatchQueue(database), lobby.Lobby(database)
        self.notifier = notifications.Notifier()
        registering = RegistrySettings(targets=settings.targets, worker_limits=settings.worker_limits)
        self.registry = Registry(self.players, registering, on_change=self.look)
        self.request_queues = self.registry.request_queues
        holder = secrets.token_hex(8)
        self.relay = relay.Relay(database, holder, self.request_queues)
        self.health = HealthChecks(self.registry, self.matches.busy)
        self.writer = writer.EventWriter(
            database,
            holder,
            writer.WriterObservers(self.notifier.tell, self._take_failure, observers.on_batch),
            retries_s=settings.retries_s,
        )
        self._on_end = observers.on_end
        self.supervisor = supervisor.MatchSupervisor(
            database, self.registry, settings, self.writer, replace(observers, on_end=self._take_end)
        )
        self.finder = GameFinder(self.games)
        self.practice = practice.Practice(self, settings.practice)
        self.ladder = idle_ladder.IdleLadder(self, results.ResultStore(database))
        self.tournaments = Tournaments(tournaments.TournamentStore(database), self)
        self._loops: list[asyncio.Task[None]] = []
        self._wake = asyncio.Event()
        self._is_starting = True
        self._admission = AdmissionControl(database, self.registry, self.supervisor)

    @property
    def wait_reasons(self) -> Mapping[str, WaitReason]:
        """What matches of the queue waited for when they were last looked at, by their ids."""
        return self._admission.wait_reasons

    async def start(self) -> None:
        """Prepare, and begin to play; raises as `play`."""
        await self.prepare()
        await self.play()

    async def prepare(self) -> None:
        """Bring the library into the database, and hear of what other managers tell.

        Raises:
            StorageError: the database failed.
        """
        await self.finder.keep_library()
        if self.database.is_sqlite:
            await self.matches.free_all()  # its lock says that there is no other manager
        self.relay.start()

    async def play(self) -> None:
        """Begin to play, once all is prepared: first what broke off, then what waits.

        Raises:
            UnknownNameError: the ladder has a game that is not there.
            ScheduleError: the ladder has a game of one role.
            StorageError: the database failed.
        """
        await self.ladder.check()
        await self.supervisor.take_over()
        self.look()
        leases = self.supervisor.keep_leases(self.look)
        watches = self._watch_queue(), self._watch_requests(), self._watch_tournaments()
        pairing = self.ladder.run(lambda: self._is_starting)
        self._loops = [asyncio.create_task(loop) for loop in (*watches, leases, pairing, self.health.run())]

    async def close(self, *, parking: bool = True, limit_s: float = 15.0) -> None:
        """Stop: with *parking* what is played stays in the database and goes on later, else it is aborted."""
        self.stop_starting()
        await supervisor.cancelled(self._loops)
        if not parking:
            await self.supervisor.abort_all("the game manager shuts down", limit_s)
        await self.supervisor.close()
        await self.relay.close()
        await self.writer.close()
        if not self._loops:  # it never played anything
            return
        with suppress(StorageError):
            held = await self.matches.renew(self.supervisor.holder, self.settings.lease_s)
            await self.matches.release(held, self.supervisor.holder)

    def stop_starting(self) -> None:
        """Take no more orders, and start no more matches."""
        self._is_starting = False

    def n_running(self) -> int:
        """Return how many matches this manager plays."""
        return self.supervisor.n_running

    def lobby_until_ms(self, row: MatchRow) -> int:
        """Return when a match in the lobby is cancelled."""
        return row.created_ms + round(1000 * self.settings.lobby_s)

    def look(self) -> None:
        """Look at the queue soon: something may have become possible."""
        self._wake.set()

    def _take_failure(self, match_id: str, error: StorageError) -> None:
        self.supervisor.stop(match_id, error)

    def _take_end(self, match_id: str) -> None:
        self.notifier.tell([match_id])
        self.look()
        self.tournaments.wake.set()
        self._on_end(match_id)

    async def order(
        self,
        request: MatchRequest,
        by: str = "",
        rules: MatchRules | None = None,
        purpose: MatchPurpose | None = None,
    ) -> DrawnMatch:
        """Keep the match that *request* orders; it is started as soon as its people have come and its players are free.

        It has the rules that *request* names, if no others are given.

        Raises:
            UnknownNameError: no such game, player or role.
            TooManyRolesError: its game has more roles than may be played.
            TooFewCoresError: its players need more processes than may run at once.
            PlayerSpecError: a player that may not be named over the network.
            RuleFileError: its rules cannot be played.
            LimitExceeded: its rules cost too much.
            TooManyMatchesError: too many wait already.
            ShuttingDownError: the manager shuts down.
            StorageError: the database failed.
        """
        self._check_open()
        # New rules are a lot of work: none is done for a match that could not wait.
        if request.rules is not None and await self.queue.length() >= self.settings.max_queued:
            raise TooManyMatchesError(self.settings.max_queued)
        is_named = rules is None and request.rules is None
        # The game is looked up once, with the match: the rules that it had at the last order are mostly those it has.
        for must_be_current in (True, False) if is_named else (False,):
            found = rules or await self.finder.found(request, by, may_be_old=must_be_current)
            drawn = await self.draw(request, by, found)
            if await self._keep([drawn], purpose, must_be_current=must_be_current):
                break
        return drawn

    async def order_all(
        self, requests: Sequence[MatchRequest], by: str, rules: MatchRules, purpose: MatchPurpose
    ) -> None:
        """Keep the matches of *rules* that *requests* order: all of them, or none.

        Raises:
            GdlError: as `order`.
        """
        self._check_open()
        await self._keep([await self.draw(request, by, rules) for request in requests], purpose)

    def _check_open(self) -> None:
        if not self._is_starting:
            raise ShuttingDownError

    async def _keep(
        self, drawn: Sequence[DrawnMatch], purpose: MatchPurpose | None, *, must_be_current: bool = False
    ) -> bool:
        """Keep all of *drawn* as matches that wait, and return whether that was done, as `MatchStore.add_all` does."""
        rows = [(replace(each.row, purpose=purpose), each.seats) for each in drawn]
        is_kept = await self.matches.add_all(rows, self.settings.max_queued, must_be_current=must_be_current)
        self.look()
        return is_kept

    async def draw(
        self,
        request: MatchRequest,
        by: str,
        rules: MatchRules,
        match: ScheduledMatch | None = None,
    ) -> DrawnMatch:
        """Return the match of *rules* that *request* orders, with all drawn that it leaves open; it is not kept yet.

        One that a tournament has scheduled has the id and the seeds of *match*.

        Raises:
            UnknownNameError: no such player or role.
            TooManyRolesError: its game has more roles than may be played.
            TooFewCoresError: its players need more processes than may run at once.
            PlayerSpecError: a player that may not be named over the network.
            StorageError: the database failed.
        """
        if request.broadcast_delay is None and not self.settings.broadcast_delay.is_live:
            request = request.model_copy(update={"broadcast_delay": str(self.settings.broadcast_delay)})
        seating.check_n_roles(rules.outline, self.settings.max_roles)
        seated = await self.registry.seated(rules.outline, request.named_players)
        self.supervisor.cores.check(request.named_players.values())
        return drawn_match(request, by, rules, seated, match, shows_insight=self.settings.live_insight)

    async def absent(self, players: Collection[str]) -> Collection[str]:
        """Return those of *players* who are registered, play nothing, and would not get a match now.

        Raises:
            StorageError: the database failed.
        """
        busy = await self.matches.busy()
        rows = [row for row in await self.players.listed() if row.name in players and not busy.get(row.name)]
        # With several servers a player that dials in elsewhere was seen there a moment ago.
        seen_ms = now_ms() if self.database.is_sqlite else now_ms() - round(2_000 * DEFAULT_SETTINGS.every_s)
        return {row.name for row in rows if not self.registry.limit(row) and (row.seen_ms or 0) <= seen_ms}

    async def note_arrival(self, match_id: str, role: str) -> None:
        """Note that the person who plays *role* sits there; with the last one a match leaves the lobby.

        Raises:
            StorageError: the database failed.
        """
        if await self.lobby.note_arrival(match_id, role):
            self.notifier.tell([match_id])
            self.look()

    async def abort(self, match_id: str, reason: str) -> bool:
        """End the match soon, wherever it is played, and return whether it was not over yet.

        Raises:
            UnknownMatchError: there is no such match.
        """
        if await self.matches.request_abort(match_id, reason):
            self.supervisor.abort(match_id, reason)
            self.notifier.tell([match_id])
            return True
        if not await self.matches.has(match_id):
            raise UnknownMatchError(match_id)
        return False

    async def _watch_queue(self) -> None:
        """Go on with matches that broke off and start others, each time that there is a reason to look."""
        while True:
            await notifications.something_new(self._wake, LOOK_S)
            self._wake.clear()
            await asyncio.sleep(PAUSE_S)
            await self._guarded("the queue cannot be read", self._start_queued)

    async def _watch_requests(self) -> None:
        """Obey what other game managers on the same database write into it, and close lobbies."""
        while True:
            await asyncio.sleep(LOOK_S)
            await self._guarded("what other game managers want cannot be read", self._obey_others)
            await self._guarded("lobbies cannot be closed", self._close_lobbies)

    async def _watch_tournaments(self) -> None:
        """Go on with the tournaments that run, each time that there is a reason to."""
        while True:
            await notifications.something_new(self.tournaments.wake, LOOK_S)
            self.tournaments.wake.clear()
            if self._is_starting:
                begun_s = time.monotonic()
                await self._guarded("tournaments cannot go on", self.tournaments.drive)
                await asyncio.sleep(rest_s(time.monotonic() - begun_s))

    async def _guarded(self, what: str, work: Callable[[], Awaitable[None]]) -> None:
        """Do *work*; where it fails, log *what* that means, and leave a pause before the next try."""
        try:
            await work()
        except StorageError as error:
            _LOG.error("%s: %s", what, error)
            await asyncio.sleep(LOOK_S)
        except Exception:  # whatever it is, the next matches must begin
            _LOG.exception(what)
            await asyncio.sleep(LOOK_S)

    async def _start_queued(self) -> None:
        if self._is_starting and self.supervisor.may_take_over:
            await self.supervisor.take_over()
        if not self._is_starting or not self.supervisor.n_free:
            self._admission.wait_reasons = {}  # whatever the players do, there is no room
            return
        async with self.queue.choosing() as may_choose:
            if not may_choose:
                return
            chosen = await self._admission.admit()
            if chosen and self._is_starting:  # it may have been stopped meanwhile
                await self.supervisor.begin(chosen)

    async def _obey_others(self) -> None:
        for match_id, reason in (await self.matches.abort_requests(self.supervisor.holder)).items():
            self.supervisor.abort(match_id, reason)

    async def _close_lobbies(self) -> None:
        """Cancel the matches whose people did not come in time."""
        limit_s = self.settings.lobby_s
        for match_id, missing in (await self.lobby.overdue(limit_s)).items():
            reason = f"not everybody came within {_limit_words(limit_s)}: {', '.join(missing)} missing"
            if await self.lobby.cancel(match_id, reason):
                self.notifier.tell([match_id])


def _limit_words(limit_s: float) -> str:
    return f"{limit_s / 60:g} min" if limit_s % 60 == 0 else f"{limit_s:g} s"
