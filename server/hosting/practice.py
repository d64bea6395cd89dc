"""Matches that no host orders: practice, which players order themselves, and the ladder, where idle players meet.

A player may order so many practice matches a day. On the ladder idle players meet again and again, so that each has a
rating after a night.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from gdl.errors import CallerError
from gdl.game import played_roles
from server.hosting.engine_process import GameOutline
from server.hosting.order import HostSettings, LadderSettings, MatchRequest, PracticeLimits, SeatText, order_of
from server.hosting.ordering import GameFinder, Ordered
from server.match.link import now_ms
from server.match.setup import new_seed
from server.principal import Principal, Role, may_command
from server.refusals import RequestError
from server.registry.registry import RegisteredPlayer, Registry
from server.storage.matches import MatchStore
from server.storage.queue import MatchQueue
from server.storage.results import RatedResult, ResultStore, by_version
from server.storage.rows import GameVersion, MatchPurpose, MatchRow, PlayerRow, SeatKind
from server.tournament.competition import Competition
from server.tournament.fixtures import Entrant, MatchResult, ScheduledMatch, TournamentGame, digest
from server.tournament.ladder import NEWCOMER, Estimate, Ladder
from server.tournament.ratings import Ratings, fit_ratings

_DAY_MS: Final = 86_400_000
LOOK_S: Final = 2.0
"""How often the server looks for idle players."""
MAX_RESULTS: Final = 2_000
"""How many results the ratings are made of, the latest ones."""
RATED_S: Final = 20.0
"""How old ratings may be."""
MAX_WAITING: Final = 1_000
"""How many matches may wait while more are ordered."""
NAME: Final = "ladder"
"""Who orders the matches of the ladder."""
_LOG: Final = logging.getLogger(__name__)


class MatchOrders(Protocol):
    """What takes the orders of matches: a game manager."""

    settings: HostSettings
    registry: Registry
    matches: MatchStore
    finder: GameFinder
    queue: MatchQueue

    async def order(
        self,
        text: MatchRequest,
        by: str = "",
        rules: tuple[GameVersion, GameOutline] | None = None,
        purpose: MatchPurpose | None = None,
    ) -> Ordered:
        """Keep the match that *text* orders."""


class Practice:
    """Orders matches at *orders* for those who may: hosts all, players within *limits* those with a part of theirs."""

    def __init__(self, orders: MatchOrders, limits: PracticeLimits) -> None:
        self._orders, self._limits = orders, limits
        self._counting = asyncio.Lock()

    async def order(
        self, text: MatchRequest, viewer: Principal, rules: tuple[GameVersion, GameOutline] | None = None
    ) -> Ordered:
        """Keep the match that *text* orders, of *rules* if they are given; one of a player is a practice match.

        Raises:
            RequestError: the match is none that a player may order, or has ordered too many.
            GdlError: as `GameManager.order`.
        """
        if viewer.may(Role.HOST):
            return await self._orders.order(text, viewer.name, rules)
        _check_terms(text)
        await self._check_seats(text, viewer)
        async with self._counting, self._orders.queue.counting(viewer.name):
            await self._check_number(viewer.name)
            return await self._orders.order(text, viewer.name, rules, MatchPurpose.PRACTICE)

    async def rematch(self, row: MatchRow, viewer: Principal) -> Ordered:
        """Keep a match like one that is over, of the same rules, in which each player has the next one's seat.

        Raises:
            RequestError: as `order`; or the match is not over.
            GdlError: as `GameManager.order`.
        """
        if not row.has_ended:
            raise RequestError("match_not_over", "a rematch comes after the end", status=409)
        request = order_of(row.order).request
        version, outline = await self._orders.finder.pinned(row.sha256)
        players = rotated(request.players, version.played_roles)
        changes = {"players": players, "game": row.game, "seed": None, "tournament": None, "begin": None}
        return await self.order(request.model_copy(update=changes), viewer, (version.called(row.game), outline))

    async def _check_seats(self, text: MatchRequest, viewer: Principal) -> None:
        """Check that *viewer* has a part in the match, and that the others may be asked to play.

        Raises:
            RequestError: one of them may not, or nothing of it is the viewer's own.
        """
        has_own = False
        for seat in text.players.values():
            player = await self._orders.registry.resolve(seat.player)
            if isinstance(player, RegisteredPlayer):
                if not may_name(viewer, player.row):
                    told = f"the owner of {player.name} does not allow others to challenge it"
                    raise RequestError("not_challengeable", told, status=403)
                has_own |= may_command(viewer, player.row.owner)
            elif player.kind == SeatKind.HUMAN:
                has_own = True
            elif player.kind != SeatKind.OWN:
                told = "players at an address are for hosts; register yours, and name it"
                raise RequestError("forbidden", told, status=403)
        if not has_own:
            raise RequestError("no_own_seat", "name a player of your own in it, or a seat for yourself: human")

    async def _check_number(self, name: str) -> None:
        """Check that *name* may order one more.

        Raises:
            RequestError: not today, or not now.
        """
        n_ordered, n_live = await self._orders.matches.n_practised(name, now_ms() - _DAY_MS)
        if n_ordered >= self._limits.per_day:
            told = f"you have ordered {n_ordered} practice matches in 24 hours, and may order {self._limits.per_day}"
            raise RequestError("too_much_practice", told, "a host may order more", 429)
        if n_live >= self._limits.at_once:
            told = f"{n_live} practice matches of yours wait or are played: no more at once"
            raise RequestError("too_much_practice", told, "wait until one is over", 429)


def may_name(viewer: Principal, player: PlayerRow) -> bool:
    """Return whether *viewer* may order matches with the registered *player*: a host may with all."""
    return viewer.may(Role.HOST) or may_command(viewer, player.owner) or player.allows_challenges


def _check_terms(text: MatchRequest) -> None:
    """Check that *text* orders no more than a match of a game.

    Raises:
        RequestError: it does.
    """
    for what, is_there in (("rules", text.rules), ("from", text.begin), ("tournament", text.tournament)):
        if is_there is not None:
            raise RequestError("forbidden", f"only hosts order matches with `{what}`", "name a game", 403)


def rotated(seats: Mapping[str, SeatText], roles: tuple[str, ...]) -> dict[str, SeatText]:
    """Return who sits where when each role has the player that the role before it had.

    >>> seats = {"x": SeatText(player="mcts"), "o": SeatText(player="human")}
    >>> {role: seat.player for role, seat in rotated(seats, ("x", "o")).items()}
    {'x': 'human', 'o': 'mcts'}
    """
    before = zip(roles, (*roles[-1:], *roles[:-1]), strict=True)
    return {role: seats[last] for role, last in before if last in seats}


class IdleLadder:
    """Pairs the idle players of *host* that allow it, by the *results* so far, as its settings say.

    *seconds* tells the time that has passed.
    """

    def __init__(self, host: MatchOrders, results: ResultStore, seconds: Callable[[], float] = time.monotonic) -> None:
        self._host, self._results, self._seconds = host, results, seconds
        self._ratings: Ratings | None = None
        self._rated_s = 0.0
        self._rating = asyncio.Lock()

    async def ratings(self) -> Ratings:
        """Return the ratings by the latest results of all matches but those of people, up to `RATED_S` old.

        Older versions of players are players of their own.

        Raises:
            StorageError: the database failed.
        """
        async with self._rating:
            if self._ratings is None or self._seconds() - self._rated_s > RATED_S:
                found, rows = await self._results.latest(limit=MAX_RESULTS), await self._host.registry.store.listed()
                results = of_versions(found, {row.name: row for row in rows})
                self._ratings, self._rated_s = await asyncio.to_thread(fit_ratings, results), self._seconds()
            return self._ratings

    async def check(self) -> None:
        """Check that the games of the ladder are there.

        Raises:
            UnknownNameError: one is not.
            StorageError: the database failed.
        """
        for name in self._host.settings.ladder.games:
            await self._rules(name)

    async def run(self, may_begin: Callable[[], bool]) -> None:
        """Pair idle players again and again while matches *may_begin*, until cancelled."""
        while self._host.settings.ladder.games:
            await asyncio.sleep(LOOK_S)
            try:
                if may_begin():
                    await self.look()
            except Exception as error:  # whatever it is, the server goes on, and the next look may do
                is_foreseen = isinstance(error, CallerError)
                _LOG.error("the ladder stands still: %s", error, exc_info=None if is_foreseen else error)

    async def look(self) -> int:
        """Order the next matches of players that are idle now; return how many.

        Raises:
            CallerError: a game of the ladder cannot be played.
            StorageError: the database failed.
        """
        rows = {row.name: row for row in await self._host.registry.store.listed() if row.joins_ladder}
        if len(await self._idle(rows)) < 2:
            return 0
        found, ratings = await self._results.latest(limit=MAX_RESULTS), await self.ratings()
        versions = {name: await self._rules(name) for name in self._host.settings.ladder.games}
        games = tuple(TournamentGame(name, len(played_roles(outline))) for name, (_, outline) in versions.items())
        async with self._host.queue.choosing() as may_choose:  # other managers wait: what takes long is done before
            if not may_choose or await self._host.queue.length() >= MAX_WAITING:
                return 0
            field = Field(rows, await self._idle(rows), games)
            drawn = await asyncio.to_thread(pairings, found, ratings, field, new_seed())
            for match in drawn:
                version, outline = versions[match.game]
                order = order_of_match(match, version.played_roles, self._host.settings.ladder)
                await self._host.order(order, NAME, (version, outline), MatchPurpose.LADDER)
        return len(drawn)

    async def _rules(self, name: str) -> tuple[GameVersion, GameOutline]:
        return await self._host.finder.found(MatchRequest.model_validate({"game": name}), NAME)

    async def _idle(self, rows: Mapping[str, PlayerRow]) -> list[str]:
        """Return the names of the players that are there, and neither play a match nor wait for one."""
        busy = set(await self._host.matches.busy())
        for waiting in await self._host.queue.waiting(MAX_WAITING):
            busy.update(player for player, _ in waiting.players)
        return [name for name, row in rows.items() if name not in busy and self._host.registry.limit(row)]


def order_of_match(match: ScheduledMatch, roles: Sequence[str], settings: LadderSettings) -> MatchRequest:
    """Return the order of a match of the ladder."""
    seats = {role: SeatText(player=name) for role, name in zip(roles, match.players, strict=True)}
    clocks = {"startClock": settings.start_clock, "playClock": settings.play_clock}
    return MatchRequest.model_validate({"game": match.game, "players": seats, "seed": match.seed, **clocks})


@dataclass(frozen=True, slots=True)
class Field:
    """Who can play in the ladder, who of them is idle, and what is played there."""

    rows: Mapping[str, PlayerRow]
    idle: Collection[str]
    games: tuple[TournamentGame, ...]


def pairings(found: Sequence[RatedResult], ratings: Ratings, field: Field, seed: int) -> tuple[ScheduledMatch, ...]:
    """Return the next matches of the players of *field* that are idle, by the results so far and their *ratings*.

    Every idle player meets once at most, in the games of the ladder, with each seat once. A new version is a newcomer.
    """
    rows, idle, games = field.rows, field.idle, field.games
    results = of_versions(found, rows)
    estimates = {each.player: Estimate(each.elo, each.deviation) for each in ratings.players}
    names = {game.name for game in games}
    on_ladder = (each for each, kept in zip(results, found, strict=True) if kept.purpose == MatchPurpose.LADDER)
    before = [each for each in on_ladder if each.game in names and rows.keys() >= set(each.players)]
    competition = Competition(
        tuple(map(Entrant, rows)), games, seed, tuple(_played(each, number) for number, each in enumerate(before, 1))
    )
    known = {name: estimates.get(name, NEWCOMER) for name in rows}
    return Ladder(known, idle, n_meetings=max(1, len(idle) // 2))(competition)


def of_versions(found: Sequence[RatedResult], rows: Mapping[str, PlayerRow]) -> list[MatchResult]:
    """Return results in which an older version of a registered player is another player: `mine 1.0`."""
    return [each.result for each in by_version(found, {name: row.version for name, row in rows.items()})]


def _played(result: MatchResult, number: int) -> ScheduledMatch:
    """Return a match of the ladder that is over; the matches of a meeting count one by one."""
    pairing = digest(result.match_id)
    return ScheduledMatch(result.match_id, result.game, result.players, 0, 0, number, pairing, pairing)
