"""Tournaments on the server: each goes on with what its schedule gives next, from what the database holds of it.

Nothing is remembered between two looks but what need not be looked at again; so a manager goes on with the tournaments
of one that was killed, and where two look at once, one of them makes the change and the other looks again.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from pydantic import ValidationError

from gdl.errors import GdlError, validation_message
from gdl.game import played_roles
from server.errors import ScheduleError
from server.hosting import order, ordering
from server.hosting.engine_process import GameOutline
from server.hosting.rounds import NEVER, Absences, Gate, gate_of, timetable_of, waiting, wakes_ms
from server.match.link import now_ms
from server.refusals import RequestError
from server.storage.accounts import PlayerStore
from server.storage.errors import DamagedRowError, StorageError
from server.storage.journals import Notifier
from server.storage.queue import MatchQueue
from server.storage.rows import AnnulmentRow, FixtureRow, GameVersion, MatchStatus, TournamentStatus
from server.storage.tournaments import StoredTournament, TournamentChange, TournamentStore
from server.tournament import fixtures, plan
from server.tournament.progress import PlayedMatch, Progress, is_decided

MAX_LIVE: Final = 100
"""How many matches of a tournament wait or are played at once, so that a pause comes soon and other matches get on."""
MAX_ATTEMPTS: Final = 3
"""How often a match is played that breaks off, before the tournament is paused."""
RETRY_MS: Final = 60_000
"""After how long a tournament is looked at again that met with an error which may pass."""
_MAX_TRIES: Final = 50
"""How often a change is tried that others come before."""
_MAX_REASON: Final = 300
_LOG: Final = logging.getLogger(__name__)


class MatchHost(Protocol):
    """What orders the matches of tournaments: a game manager."""

    finder: ordering.GameFinder
    players: PlayerStore
    queue: MatchQueue
    settings: order.HostSettings
    notifier: Notifier

    async def draw(
        self,
        text: order.MatchRequest,
        by: str,
        rules: tuple[GameVersion, GameOutline],
        match: fixtures.ScheduledMatch | None = None,
    ) -> ordering.DrawnMatch:
        """Return a match that is ready to be kept."""

    async def absent(self, players: Collection[str]) -> Collection[str]:
        """Return those of *players* who are registered, play nothing, and would not get a match now."""

    def look(self) -> None:
        """Look at the queue soon."""


class Tournaments:
    """The tournaments of *store*, whose matches *host* plays; *clock_ms* tells the time of day.

    Attributes:
        wake: is set where there may be something to go on with.
    """

    def __init__(self, store: TournamentStore, host: MatchHost, clock_ms: Callable[[], int] = now_ms) -> None:
        self.store, self._host, self.clock_ms = store, host, clock_ms
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
                self._host.notifier.tell(wanted.aborted)
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
            return await asyncio.to_thread(_until_ms, found, self.clock_ms())
        if await self.store.apply(found.row, change):
            self._host.notifier.tell([*change.aborted, *(match.id for match, _ in change.ordered)])
            self._host.look()
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
            return _paused(f"it could not start: {error.message}")

    async def _next_change(self, found: StoredTournament) -> TournamentChange | None:
        """Return the next change that a tournament which runs needs; None where it waits."""
        if found.row.status != TournamentStatus.RUNNING:
            return None
        look = await asyncio.to_thread(_look, found, self.clock_ms())
        settled = look.settled or await self._lost_by_absence(found)
        if settled is not None:
            return settled
        progress = look.progress
        if progress.is_decided:
            return _ended(found)
        if look.due:
            return await self._orders(found, look.due)
        try:
            given = await asyncio.to_thread(progress.next_matches, look.playing)
        except ScheduleError as error:
            return _paused(f"it cannot go on: {error}")
        drawn = tuple(match for match in given if look.gate.may_be_drawn(match))
        if drawn:
            return TournamentChange(scheduled=drawn)
        return None if given or progress.competition.open_matches else _ended(found)

    async def _lost_by_absence(self, found: StoredTournament) -> TournamentChange | None:
        """Return the forfeits of those who were not there for longer than the timetable allows, if there are any.

        What is not begun yet waits; a match that runs is played to its end.
        """
        limit_s = timetable_of(found).absence_limit
        if limit_s is None:
            return None
        seated = {name for one in waiting(found) for name in one.match.players}
        asked = {one.player for one in found.entrants if one.name in seated}
        self._absences.note(asked, await self._host.absent(asked) if asked else (), self.clock_ms())
        lost = self._absences.lost(found, self.clock_ms())
        reason = f"a player was not there within {limit_s:g} s"
        return TournamentChange(forfeits=lost, aborted=tuple(lost), abort_reason=reason) if lost else None

    async def _orders(self, found: StoredTournament, unordered: Sequence[FixtureRow]) -> TournamentChange | None:
        """Return the orders of as many matches as there is room for; None where there is none."""
        n_free = self._host.settings.max_queued - await self._host.queue.length()
        n_free = min(n_free, MAX_LIVE - len(live_matches(found)))
        try:
            in_turn = await self._in_turn(found, unordered) if n_free > 0 else ()
            drawn = [await self._drawn(found, one.match) for one in in_turn[:n_free]]
        except StorageError:
            raise
        except GdlError as error:  # a player is gone, or a game may not be played any more
            return _paused(f"its matches cannot be ordered: {error}")
        return TournamentChange(ordered=[(each.row, each.seats) for each in drawn]) if drawn else None

    async def _in_turn(self, found: StoredTournament, unordered: Sequence[FixtureRow]) -> Sequence[FixtureRow]:
        """Return *unordered* without those of absent entrants who have their share of `MAX_LIVE` in the queue.

        So the others play on, however many matches wait for them.
        """
        away = await self._host.absent({one.player for one in found.entrants})
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

    async def _drawn(self, found: StoredTournament, match: fixtures.ScheduledMatch) -> ordering.DrawnMatch:
        terms, specs = found.row.terms, await self._players_of(found, match)
        version, outline = await self._host.finder.pinned(found.row.games[match.game].sha256)
        roles = map(str, played_roles(outline))
        seats = {role: order.SeatText(player=specs[name]) for role, name in zip(roles, match.players, strict=True)}
        words = {
            "game": match.game,
            "players": seats,
            "startClock": terms.start_clock, "playClock": terms.play_clock, "grace": terms.grace,
            "scramble": terms.scramble, "dialect": terms.dialect, "substitute": terms.substitute,
            "tournament": found.row.name,
        }  # fmt: skip
        request = order.MatchRequest.model_validate(words)
        rules = replace(version, name=match.game), outline
        drawn = await self._host.draw(request, found.row.owner, rules, match)
        return replace(drawn, row=replace(drawn.row, created_ms=self.clock_ms()))

    async def _players_of(self, found: StoredTournament, match: fixtures.ScheduledMatch) -> Mapping[str, str]:
        """Return how the players of *match* are named, by their entrants.

        Raises:
            RequestError: another player has the name of one that entered.
        """
        playing = [one for one in found.entrants if one.name in match.players]
        for one in playing:
            row = await self._host.players.get(one.player)
            if row is not None and not one.is_played_by(row):
                reason = f"the player {one.player} of {one.name} is not registered any more"
                raise RequestError("unknown_player", reason)
        return {one.name: one.player for one in playing}


def plan_of(found: StoredTournament) -> plan.TournamentPlan:
    """Return the plan of a tournament with the entrants that it has.

    Raises:
        RequestError: it has none, or not as many as its terms want.
    """
    try:
        players = {one.name: one.player for one in found.entrants}
        return plan.TournamentPlan.model_validate(found.row.terms.model_dump() | {"players": players})
    except ValidationError as error:
        reason = validation_message(error.errors(include_url=False)[0])
        raise RequestError("wrong_entrants", f"the tournament cannot be played: {reason}", status=409) from error


def started(found: StoredTournament, at_ms: int) -> TournamentChange:
    """Return the start of a tournament with those who have entered.

    Raises:
        RequestError: they are not as many as its terms or its games want.
    """
    plan_of(found)
    needed = max(game.n_roles for game in found.row.games.values())
    if len(found.entrants) < needed:
        raise RequestError("wrong_entrants", f"{needed} entrants are needed for its games", status=409)
    return TournamentChange({"status": TournamentStatus.RUNNING, "started_ms": at_ms, "reason": ""})


async def check_schedule(found: StoredTournament) -> None:
    """Check that the format of a tournament has a schedule for those who have entered.

    Raises:
        RequestError: it has none, or they are not as many as its terms or its games want.
    """
    started(found, 0)
    try:
        await asyncio.to_thread(lambda: progress_of(found).next_matches())
    except ScheduleError as error:
        raise RequestError("no_schedule", f"the tournament cannot be played: {error}", status=409) from error


def progress_of(found: StoredTournament) -> Progress:
    """Return a tournament as schedules and standings read it; it has an entrant.

    Raises:
        RequestError: it has not as many entrants as its terms want.
    """
    entered = tuple(fixtures.Entrant(one.name, one.since_round, one.withdrawn_after) for one in found.entrants)
    games = tuple(fixtures.TournamentGame(name, found.row.games[name].n_roles) for name in found.row.terms.games)
    in_time = sorted(found.fixtures, key=lambda one: (one.ended_ms or 0, one.match.match_id))
    progress = Progress(
        plan_of(found), games,
        tuple(one.match for one in found.fixtures),
        tuple(played for one in in_time if (played := played_of(one)) is not None),
        entered=entered,
        annulled=frozenset(key for key, one in found.annulments.items() if not one.is_replayed),
        replayed=frozenset(key for key, one in found.annulments.items() if one.is_replayed),
    )  # fmt: skip
    return replace(progress, is_decided=is_decided(progress))


def played_of(one: FixtureRow) -> PlayedMatch | None:
    """Return how a match ended; None where it has no result."""
    if one.forfeited:
        nothing = (0,) * len(one.match.players)
        return PlayedMatch(fixtures.forfeit(one.match, one.forfeited), nothing, nothing, ended_ms=one.ended_ms or 0)
    if one.status != MatchStatus.COMPLETED:
        return None
    goals, errors = (seat.goal or 0 for seat in one.seats), (seat.n_errors for seat in one.seats)
    result = fixtures.MatchResult(one.match.game, one.match.players, tuple(goals), tuple(errors), one.match.match_id)
    thinking, moves = (seat.thinking_ms for seat in one.seats), (seat.n_moves for seat in one.seats)
    return PlayedMatch(result, tuple(thinking), tuple(moves), one.n_steps, one.ended_ms or 0)


def live_matches(found: StoredTournament) -> tuple[str, ...]:
    """Return the ids of the matches of a tournament that wait or are played."""
    return tuple(one.match.match_id for one in found.fixtures if one.is_live)


@dataclass(frozen=True, slots=True)
class _Look:
    """What a look at a tournament finds, which takes long where it has thousands of matches, and is made in a thread.

    Attributes:
        settled: what follows from withdrawals and from matches that broke off; None where nothing does.
        progress: how far it is.
        playing: the entrants with open matches.
        gate: which rounds may begin now.
        due: the matches that are to be ordered now.
    """

    settled: TournamentChange | None
    progress: Progress
    playing: frozenset[str]
    gate: Gate
    due: list[FixtureRow]


def _look(found: StoredTournament, at_ms: int) -> _Look:
    progress = progress_of(found)
    playing = frozenset(name for match in progress.competition.open_matches for name in match.players)
    gate = gate_of(found, at_ms)
    return _Look(_settled(found), progress, playing, gate, _due(found, gate))


def _due(found: StoredTournament, gate: Gate) -> list[FixtureRow]:
    """Return the matches of a tournament that runs which are to be ordered now."""
    unordered = _unordered(found)
    admitted = gate.admitted(one.match for one in unordered)
    return [one for one in unordered if one.match.match_id in admitted]


def _until_ms(found: StoredTournament, at_ms: int) -> int:
    """Return until when a tournament in which nothing changes need not be looked at again."""
    is_running = found.row.status == TournamentStatus.RUNNING
    return 0 if is_running and _due(found, gate_of(found, at_ms)) else wakes_ms(found, at_ms)


def _unordered(found: StoredTournament) -> list[FixtureRow]:
    waiting = (one for one in found.fixtures if one.status is None and not one.forfeited)
    return [one for one in waiting if one.match.match_id not in found.annulments]


def _settled(found: StoredTournament) -> TournamentChange | None:
    """Return the forfeits of entrants who have withdrawn, or else what follows from matches that broke off."""
    lost = forfeits(found)
    if lost.forfeits:
        return lost
    ended = (one for one in found.fixtures if one.status in (MatchStatus.ABORTED, MatchStatus.FAILED))
    broken = [one for one in ended if not one.forfeited and one.match.match_id not in found.annulments]
    for one in broken:
        if one.match.attempt >= MAX_ATTEMPTS:
            return _paused(
                f"match {one.match.match_id} broke off {MAX_ATTEMPTS} times: {one.abort_reason or one.status}"
            )
    rows = [AnnulmentRow(one.match.match_id, True, _why(one), "", now_ms()) for one in broken]
    return TournamentChange(annulled=rows) if rows else None


def _why(one: FixtureRow) -> str:
    return f"the match broke off: {one.abort_reason or one.status}"[:_MAX_REASON]


def forfeits(found: StoredTournament) -> TournamentChange:
    """Return the forfeits of the open matches of entrants who have withdrawn; those that are live are ended."""
    lost = {
        result.match_id: result.forfeited for result in fixtures.forfeits_of_withdrawn(progress_of(found).competition)
    }
    aborted = [match_id for match_id in live_matches(found) if match_id in lost]
    return TournamentChange(forfeits=lost, aborted=aborted, abort_reason="a player has withdrawn from the tournament")


def _paused(reason: str) -> TournamentChange:
    return TournamentChange({"status": TournamentStatus.PAUSED, "reason": reason[:_MAX_REASON]})


def _ended(found: StoredTournament) -> TournamentChange:
    values = {"status": TournamentStatus.OVER, "ended_ms": now_ms(), "reason": ""}
    return TournamentChange(values, aborted=live_matches(found), abort_reason="the tournament is decided")
