"""The ladder, where idle players meet again and again, so that each has a rating after a night."""

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from gdl.errors import CallerError, UnknownNameError
from gdl.game import played_roles
from server.errors import ScheduleError
from server.hosting.order import MatchRequest, MatchRules, SeatText
from server.hosting.practice import MatchOrders
from server.hosting.settings import LadderSettings
from server.match.chance import new_seed
from server.registry.queueing import addresses, names_by_address
from server.storage.results import ResultStore, by_version, rated_results
from server.storage.rows import GameVersion, MatchPurpose, PlayerRow, RatedResult
from server.tournament.competition import Competition
from server.tournament.fixtures import Entrant, MatchResult, ScheduledMatch, TournamentGame, digest
from server.tournament.ladder import Estimate, Ladder
from server.tournament.ratings import Ratings, fit_ratings

LOOK_S: Final = 2.0
"""How often the server looks for idle players."""
MAX_RESULTS: Final = 2_000
"""How many results the ratings are made of, the latest ones."""
RATED_S: Final = 20.0
"""How old ratings may be."""
LATE_MS: Final = 60_000
"""How much later than others a result may be in the database that is not to be missed until ratings are made again."""
MAX_WAITING: Final = 1_000
"""How many matches may wait while more are ordered."""
NAME: Final = "ladder"
"""Who orders the matches of the ladder."""
_LOG: Final = logging.getLogger(__name__)


class IdleLadder:
    """Pairs the idle players of *manager* that allow it, by the *results* so far, as its settings say.

    *seconds* tells the time that has passed.
    """

    def __init__(
        self, manager: MatchOrders, results: ResultStore, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._manager, self._results, self._seconds = manager, results, seconds
        self._ratings: Ratings | None = None
        self._rated: list[RatedResult] = []
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
                found, rows = await self._results.latest(limit=MAX_RESULTS), await self._manager.registry.store.listed()
                results = rated_results(of_versions(found, {row.name: row for row in rows}))
                self._ratings, self._rated_s = await asyncio.to_thread(fit_ratings, results), self._seconds()
                self._rated = found
            return self._ratings

    async def _latest(self) -> list[RatedResult]:
        """Return the results that the ratings were made of, and the newer ones, which alone are read."""
        since_ms = self._rated[-1].ended_ms - LATE_MS if self._rated else 0
        newer = await self._results.latest(limit=MAX_RESULTS, since_ms=since_ms)
        return list({each.result.match_id: each for each in (*self._rated, *newer)}.values())

    async def check(self) -> None:
        """Check that the games of the ladder are there, and can be played against each other.

        Raises:
            UnknownNameError: one is not there.
            ScheduleError: one has a single role.
            StorageError: the database failed.
        """
        for name in self._manager.settings.ladder.games:
            rules = await self._manager.finder.current(name)
            if len(played_roles(rules.outline)) < 2:
                raise ScheduleError(f"{name} has one role; the ladder is for games of two or more roles (--ladder)")

    async def run(self, may_begin: Callable[[], bool]) -> None:
        """Pair idle players again and again while matches *may_begin*, until cancelled."""
        while self._manager.settings.ladder.games:
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
        if len(await self._idle(await self._joining())) < 2:
            return 0
        ratings, found = await self.ratings(), await self._latest()
        rules = {name: await self._manager.finder.current(name) for name in self._manager.settings.ladder.games}
        games = tuple(TournamentGame(name, len(played_roles(each.outline))) for name, each in rules.items())
        async with self._manager.queue.choosing() as may_choose:  # other managers wait: what takes long is done before
            if not may_choose or await self._manager.queue.length() >= MAX_WAITING:
                return 0
            rows = await self._joining()  # others may have joined or left meanwhile
            field = Field(rows, await self._idle(rows), games)
            drawn = await asyncio.to_thread(pairings, found, ratings, field, new_seed())
            meetings = [tuple(meeting) for _, meeting in groupby(drawn, lambda match: match.pairing_id)]
            return sum([await self._order(meeting, rules[meeting[0].game]) for meeting in meetings])

    async def _order(self, meeting: Sequence[ScheduledMatch], rules: MatchRules) -> int:
        """Order the matches of a meeting and return how many; none where a player has left since it was seen."""
        orders = [order_of_match(match, rules.version, self._manager.settings.ladder) for match in meeting]
        try:
            await self._manager.order_all(orders, NAME, rules, MatchPurpose.LADDER)
        except UnknownNameError:
            return 0
        return len(orders)

    async def _joining(self) -> dict[str, PlayerRow]:
        """Return the players that play in the ladder, by name."""
        return {row.name: row for row in await self._manager.registry.store.listed() if row.joins_ladder}

    async def _idle(self, rows: Mapping[str, PlayerRow]) -> list[str]:
        """Return the names of the players that are there, and neither play nor wait, by their name or their address."""
        names = names_by_address({row.name: row.url for row in rows.values() if row.url is not None})
        busy = {*await self._manager.matches.busy(), *await self._manager.supervisor.addresses()}
        for waiting in await self._manager.queue.waiting(MAX_WAITING):
            busy.update(player for player, _ in waiting.players)
            busy.update(addresses(waiting.named))
        busy.update(names[address] for address in busy & names.keys())
        return [name for name, row in rows.items() if name not in busy and self._manager.registry.limit(row)]


def order_of_match(match: ScheduledMatch, version: GameVersion, settings: LadderSettings) -> MatchRequest:
    """Return the order of a match of the ladder by the rules *version*.

    The matches of a meeting have the same seed but where information is hidden: there the record of the one that ends
    first would tell what chance does in the other.
    """
    seats = {role: SeatText(player=name) for role, name in zip(version.played_roles, match.players, strict=True)}
    clocks = {"startClock": settings.start_clock, "playClock": settings.play_clock}
    seed = None if version.is_gdl2 else match.seed
    return MatchRequest.model_validate({"game": match.game, "players": seats, "seed": seed, **clocks})


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
    on_ladder = (each.result for each in results if each.purpose == MatchPurpose.LADDER)
    before = [each for each in on_ladder if each.game in names and rows.keys() >= set(each.players)]
    competition = Competition(
        tuple(map(Entrant, rows)), games, seed, tuple(_played(each, number) for number, each in enumerate(before, 1))
    )
    return Ladder(estimates, idle, n_meetings=max(1, len(idle) // 2))(competition)


def of_versions(found: Sequence[RatedResult], rows: Mapping[str, PlayerRow]) -> list[RatedResult]:
    """Return results in which an older version of a registered player is another player: `mine 1.0`."""
    return by_version(found, {name: row.version for name, row in rows.items()})


def _played(result: MatchResult, number: int) -> ScheduledMatch:
    """Return a match of the ladder that is over; the matches of a meeting count one by one."""
    pairing = digest(result.match_id)
    return ScheduledMatch(
        match_id=result.match_id,
        game=result.game,
        players=result.players,
        seed=0,
        scramble_seed=0,
        round=number,
        pairing_id=pairing,
        set_id=pairing,
    )
