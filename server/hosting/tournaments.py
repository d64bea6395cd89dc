"""Tournaments on the server: each goes on with what its schedule gives next, from what the database holds of it.

Nothing is remembered between two looks but what need not be looked at again; so a manager goes on with the tournaments
of one that was killed, and where two look at once, one of them makes the change and the other looks again.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from gdl.errors import GdlError
from gdl.game import played_roles
from server.clock import now_ms
from server.errors import ScheduleError
from server.hosting.game_finder import GameFinder
from server.hosting.order import DrawnMatch, MatchRequest, MatchRules, SeatText
from server.hosting.rounds import NEVER, Absences, timetable_of, waiting
from server.hosting.settings import GameManagerSettings
from server.hosting.tournament_progress import (
    check_schedule,
    ended,
    forfeits_of,
    live_matches,
    look_at,
    paused,
    quiet_until_ms,
    started,
)
from server.refusals import RequestError
from server.storage.accounts import PlayerStore
from server.storage.errors import DamagedRowError, StorageError
from server.storage.notifications import Notifier
from server.storage.queue import MatchQueue
from server.storage.tournament_rows import FixtureRow, TournamentStatus
from server.storage.tournaments import StoredTournament, TournamentChange, TournamentStore
from server.tournament import fixtures

MAX_LIVE: Final = 100
"""How many matches of a tournament wait or are played at once, so that a pause comes soon and other matches get on."""
RETRY_MS: Final = 60_000
"""After how long a tournament is looked at again that met with an error which may pass."""
_MAX_TRIES: Final = 50
"""How often a change is tried that others come before."""
_LOG: Final = logging.getLogger(__name__)


class FixtureOrders(Protocol):
    """What takes the orders of the matches of tournaments: a game manager."""

    finder: GameFinder
    players: PlayerStore
    queue: MatchQueue
    settings: GameManagerSettings
    notifier: Notifier

    async def draw(
        self,
        request: MatchRequest,
        by: str,
        rules: MatchRules,
        match: fixtures.ScheduledMatch | None = None,
    ) -> DrawnMatch:
        """Return a match that is ready to be kept."""

    async def absent(self, players: Collection[str]) -> Collection[str]:
        """Return those of *players* who are registered, play nothing, and would not get a match now."""

    def look(self) -> None:
        """Look at the queue soon."""


class Tournaments:
    """The tournaments of *store*, whose matches *manager* plays; *clock_ms* tells the time of day.

    Attributes:
        wake: is set where there may be something to go on with.
    """

    def __init__(self, store: TournamentStore, manager: FixtureOrders, clock_ms: Callable[[], int] = now_ms) -> None:
        self.store, self._manager, self.clock_ms = store, manager, clock_ms
        self.wake = asyncio.Event()
        self._looked_at: dict[str, tuple[tuple[int, int], int]] = {}
        self._absences = Absences()

    async def get(self, name: str) -> StoredTournament:
        """Return the tournament *name*.

        Raises:
            RequestError: there is none.
            DamagedRowError: one of its rows is damaged.
        """
        found = await self.store.read(name)
        if found is None:
            raise RequestError("unknown_tournament", f"no tournament {name[:100]!r}", status=404)
        return found

    async def change(self, name: str, change: Callable[[StoredTournament], TournamentChange]) -> StoredTournament:
        """Make what *change* returns of the tournament *name*, and return the tournament as it is then.

        Raises:
            RequestError: there is none, or *change* refuses.
            StorageError: the database failed, or others changed it again and again.
        """
        for _ in range(_MAX_TRIES):
            found = await self.get(name)
            wanted = change(found)
            if await self.store.apply(found.row, wanted):
                self._manager.notifier.tell(wanted.aborted)
                self.wake.set()
                return await self.get(name)
        raise StorageError(name, "the tournament was changed by others again and again")

    async def drive(self) -> None:
        """Go on with each tournament that runs or starts, and of which something has changed, or whose time has come.

        Raises:
            StorageError: the database failed.
        """
        changes = await self.store.changes()
        self._looked_at = {name: looked for name, looked in self._looked_at.items() if name in changes}
        for name, change in changes.items():
            known, until_ms = self._looked_at.get(name, (None, 0))
            if known == change and self.clock_ms() < until_ms:
                continue
            try:
                self._looked_at[name] = change, await self._went_on(name)
            except Exception as error:  # whatever it is, the other tournaments go on
                if isinstance(error, StorageError) and not isinstance(error, DamagedRowError):
                    raise
                is_foreseen = isinstance(error, GdlError)
                self._looked_at[name] = change, NEVER if is_foreseen else self.clock_ms() + RETRY_MS
                _LOG.error("tournament %s stands still: %s", name, error, exc_info=None if is_foreseen else error)

    async def _went_on(self, name: str) -> int:
        """Do what there is to do for a tournament; return until when nothing is left if nothing changes."""
        found = await self.store.read(name)
        if found is None:
            return NEVER
        is_open = found.row.status == TournamentStatus.OPEN
        change = await (self._start(found) if is_open else self._next_change(found))
        if change is None:
            return await asyncio.to_thread(quiet_until_ms, found, self.clock_ms())
        if await self.store.apply(found.row, change):
            self._manager.notifier.tell([*change.aborted, *(match.id for match, _ in change.ordered)])
            self._manager.look()
        self.wake.set()
        return 0

    async def _start(self, found: StoredTournament) -> TournamentChange | None:
        """Return the start of a tournament whose time has come; where it cannot start it is paused, with the reason."""
        starts_ms = timetable_of(found).starts_ms
        if starts_ms is None or self.clock_ms() < starts_ms:
            return None
        try:
            await check_schedule(found)
            return started(found, self.clock_ms())
        except RequestError as error:
            return paused(f"it could not start: {error.message}")

    async def _next_change(self, found: StoredTournament) -> TournamentChange | None:
        """Return the next change that a tournament which runs needs; None where it waits."""
        if found.row.status != TournamentStatus.RUNNING:
            return None
        look = await asyncio.to_thread(look_at, found, self.clock_ms())
        correction = look.correction or await self._lost_by_absence(found)
        if correction is not None:
            return correction
        progress = look.progress
        if progress.is_decided:
            return ended(found)
        if look.due:
            return await self._orders(found, look.due)
        try:
            given = await asyncio.to_thread(progress.next_matches, look.playing)
        except ScheduleError as error:
            return paused(f"it cannot go on: {error}")
        drawn = tuple(match for match in given if look.rounds.may_be_drawn(match))
        if drawn:
            return TournamentChange(scheduled=drawn)
        return None if given or progress.competition.open_matches else ended(found)

    async def _lost_by_absence(self, found: StoredTournament) -> TournamentChange | None:
        """Return the forfeits of those who were not there for longer than the timetable allows, if there are any.

        What is not begun yet waits; a match that runs is played to its end.
        """
        limit_s = timetable_of(found).absence_limit
        if limit_s is None:
            return None
        seated = {name for one in waiting(found) for name in one.match.players}
        asked = {one.player for one in found.entrants if one.name in seated}
        self._absences.note(asked, await self._manager.absent(asked) if asked else (), self.clock_ms())
        lost = self._absences.lost(found, self.clock_ms())
        missed = f"not there within {limit_s:g} s"
        return forfeits_of(lost, lost, (f"was {missed}", f"were {missed}")) if lost else None

    async def _orders(self, found: StoredTournament, unordered: Sequence[FixtureRow]) -> TournamentChange | None:
        """Return the orders of as many matches as there is room for; None where there is none."""
        n_free = self._manager.settings.max_queued - await self._manager.queue.length()
        n_free = min(n_free, MAX_LIVE - len(live_matches(found)))
        try:
            in_turn = await self._in_turn(found, unordered) if n_free > 0 else ()
            drawn = [await self._drawn(found, one.match) for one in in_turn[:n_free]]
        except StorageError:
            raise
        except GdlError as error:  # a player is gone, or a game may not be played any more
            return paused(f"its matches cannot be ordered: {error}")
        return TournamentChange(ordered=[(each.row, each.seats) for each in drawn]) if drawn else None

    async def _in_turn(self, found: StoredTournament, unordered: Sequence[FixtureRow]) -> Sequence[FixtureRow]:
        """Return *unordered* without those of absent entrants who have their share of `MAX_LIVE` in the queue.

        So the others play on, however many matches wait for them.
        """
        away = await self._manager.absent({one.player for one in found.entrants})
        absent = {one.name for one in found.entrants if one.player in away}
        n_left = Counter(dict.fromkeys(absent, max(1, MAX_LIVE // len(found.entrants))))
        n_left.subtract(name for one in waiting(found) for name in absent.intersection(one.match.players))
        in_turn: list[FixtureRow] = []
        for one in unordered:
            missed = absent.intersection(one.match.players)
            if all(n_left[name] > 0 for name in missed):
                n_left.subtract(missed)
                in_turn.append(one)
        return in_turn

    async def _drawn(self, found: StoredTournament, match: fixtures.ScheduledMatch) -> DrawnMatch:
        terms, specs = found.row.terms, await self._players_of(found, match)
        pinned = await self._manager.finder.pinned(found.row.games[match.game].sha256)
        roles = map(str, played_roles(pinned.outline))
        seats = {role: SeatText(player=specs[name]) for role, name in zip(roles, match.players, strict=True)}
        words = {
            "game": match.game,
            "players": seats,
            "startClock": terms.start_clock, "playClock": terms.play_clock, "grace": terms.grace,
            "scramble": terms.scramble, "dialect": terms.dialect, "substitute": terms.substitute,
            "tournament": found.row.name,
        }  # fmt: skip
        request = MatchRequest.model_validate(words)
        rules = replace(pinned, version=replace(pinned.version, name=match.game))
        drawn = await self._manager.draw(request, found.row.owner, rules, match)
        return replace(drawn, row=replace(drawn.row, created_ms=self.clock_ms()))

    async def _players_of(self, found: StoredTournament, match: fixtures.ScheduledMatch) -> Mapping[str, str]:
        """Return how the players of *match* are named, by their entrants.

        Raises:
            RequestError: another player has the name of one that entered.
        """
        playing = [one for one in found.entrants if one.name in match.players]
        for one in playing:
            row = await self._manager.players.get(one.player)
            if row is not None and not one.is_played_by(row):
                reason = f"the player {one.player} of {one.name} is not registered any more"
                raise RequestError("unknown_player", reason)
        return {one.name: one.player for one in playing}
