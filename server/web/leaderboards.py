"""Leaderboards, over all games and for each, with curves of ratings; players head to head; the balance of roles.

Curves are drawn with the areas of their intervals, and with lines at round numbers of Elo.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from aiohttp import web
from cachetools import LRUCache

from gdl.worker import ChildLimits, run_limited
from server.api.operation import MANAGER
from server.refusals import RequestError
from server.storage.games import title_of
from server.storage.results import RatedResult, ResultStore, by_version
from server.tournament.fixtures import MatchResult
from server.tournament.rating_chart import RatingChart, rating_chart
from server.tournament.ratings import Rating, RoleEffect, fit_ratings, rating_history
from server.tournament.standings import MEETINGS_COUNT
from server.tournament.table import outcomes
from server.web.cache import BackgroundCache
from server.web.rendering import date, render

_FRESH_S: Final = 60.0
_PATIENCE_S: Final = 0.15
_LONG_PATIENCE_S: Final = 10.0
"""How long a page waits that has nothing to show without the answer."""
_N_KEPT: Final = 128
_N_CURVES: Final = 8
_N_FITS: Final = 20
_MOST_NEW: Final = 10
"""The curves are worked out anew when more than one in so many results is new."""
_MOST_LISTED: Final = 200
_N_MATCHES: Final = 40
_N_OPPONENTS: Final = 12
_MOST_MET: Final = 2_000
"""How many results of a player count where its opponents are listed, or two players are compared: the latest."""
_MOST_HERE: Final = 500
"""Leaderboards of more results than that are worked out in a process of their own, since matches would wait for it."""
_LIMITS: Final = ChildLimits(max_seconds=300.0)
ALL_GAMES: Final = ""
"""The key of the leaderboard over all games."""


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """A player on a leaderboard: its rating, what it won, drew and lost, its errors, and when it last played.

    An older version is a player of its own; `name` is that of the player without it.
    """

    rank: int
    rating: Rating
    name: str
    outcomes: Mapping[str, int]
    n_errors: int
    last_ms: int


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The players of a game, or of all games, the best first; what each role is worth; and the curves of the best."""

    rows: tuple[LeaderboardRow, ...]
    roles: tuple[RoleEffect, ...]
    n_matches: int
    chart: RatingChart | None

    @property
    def elo_range(self) -> tuple[float, float]:
        """The lowest and the highest end of the intervals of those who are listed."""
        rated = [row.rating for row in self.rows[:_MOST_LISTED]]
        return (min(each.low for each in rated), max(each.high for each in rated)) if rated else (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class RatingCurves:
    """The ratings of all players at several times, the first ones first, and from how many results up to when."""

    n_results: int
    last_ms: int
    points: tuple[tuple[int, Mapping[str, Rating]], ...]

    def hold_for(self, found: Sequence[RatedResult]) -> bool:
        """Return whether few of the results *found* are new: many fits of many results take long."""
        return _MOST_NEW * sum(each.ended_ms > self.last_ms for each in found) <= self.n_results


@dataclass(frozen=True, slots=True)
class HeadToHead:
    """What one player made against another, in a game and role of the first, or altogether (no game)."""

    game: str
    role: int
    n_matches: int
    wins: int
    draws: int
    losses: int
    mean_goal: float
    other_goal: float


@dataclass(frozen=True, slots=True)
class Encounters:
    """All matches of two players: what the first made altogether (None where they have not met) and in each seat.

    `lead` is its rating above the other, `superiority` the likelihood that it is stronger, `latest` their last matches.
    """

    total: HeadToHead | None
    seats: tuple[HeadToHead, ...]
    lead: Rating | None
    superiority: float | None
    latest: tuple[RatedResult, ...]


class Leaderboards:
    """The leaderboards of what *store* holds, worked out in the background and remembered for a minute."""

    def __init__(self, store: ResultStore) -> None:
        self.store = store
        self._curves: LRUCache[str, RatingCurves] = LRUCache(_N_KEPT)
        self._found = BackgroundCache(self._find, n_kept=_N_KEPT, patience_s=_PATIENCE_S, fresh_s=_FRESH_S)
        self._met = BackgroundCache(self._find_met, n_kept=_N_KEPT, patience_s=_PATIENCE_S, fresh_s=_FRESH_S)
        self._encounters = BackgroundCache(
            self._find_encounters, n_kept=_N_KEPT, patience_s=_LONG_PATIENCE_S, fresh_s=_FRESH_S
        )
        self._games = BackgroundCache(self._find_games, n_kept=1, patience_s=_PATIENCE_S, fresh_s=_FRESH_S)

    async def of(self, game: str = ALL_GAMES, patience_s: float = _PATIENCE_S) -> Leaderboard | None:
        """Return the leaderboard of *game*; None while it is worked out, after *patience_s* seconds."""
        return await self._found.of(game, patience_s)

    async def _find(self, game: str) -> Leaderboard:
        latest, versions = await self.store.latest(game or None), await self.store.versions()
        found = await asyncio.to_thread(by_version, latest, versions)
        work = leaderboard_of if len(found) <= _MOST_HERE else _leaderboard_apart
        board, self._curves[game] = await asyncio.to_thread(work, found, self._curves.get(game))
        return board

    async def opponents_of(self, player: str) -> list[tuple[str, int]]:
        """Return whom a player has met in matches that are rated, each with how often; the most frequent first."""
        return await self._met.of(player) or []

    async def _find_met(self, player: str) -> list[tuple[str, int]]:
        met: Counter[str] = Counter()
        for each in await self.store.latest(players=(player,), limit=_MOST_MET):
            met.update({other for other in each.result.players if other != player})
        return met.most_common(_N_OPPONENTS)

    async def encounters(self, one: str, other: str) -> Encounters | None:
        """Return what *one* made against *other*; None where that takes too long just now."""
        return await self._encounters.of((one, other))

    async def _find_encounters(self, pair: tuple[str, str]) -> Encounters:
        one, other = pair
        found = await self.store.latest(players=pair, limit=_MOST_MET) if one != other else []
        return await asyncio.to_thread(encounters_of, one, other, found)

    async def rated_games(self) -> list[tuple[str, int]]:
        """Return the games that have results, as `ResultStore.rated_games`; none while they are counted."""
        return await self._games.of(ALL_GAMES) or []

    async def _find_games(self, _key: str) -> list[tuple[str, int]]:
        return await self.store.rated_games()

    async def close(self) -> None:
        """End what is being worked out."""
        for cache in (self._found, self._met, self._encounters, self._games):
            await cache.close()


LEADERBOARDS: Final = web.AppKey("leaderboards", Leaderboards)


def _leaderboard_apart(found: Sequence[RatedResult], kept: RatingCurves | None) -> tuple[Leaderboard, RatingCurves]:
    return run_limited(leaderboard_of, (found, kept), _LIMITS)


def leaderboard_of(found: Sequence[RatedResult], kept: RatingCurves | None = None) -> tuple[Leaderboard, RatingCurves]:
    """Return the leaderboard of the results, which are in the order of time, and its curves.

    The curves *kept* from an earlier time are good enough until a tenth of the results is new.
    """
    results = [each.result for each in found]
    fitted = fit_ratings(results)
    counts = outcomes(results, MEETINGS_COUNT)
    names = {one: name for each in found for one, name in zip(each.result.players, each.names, strict=False)}
    names = {player: names.get(player, player) for each in results for player in each.players}
    last_ms = {player: each.ended_ms for each in found for player in each.result.players}
    n_errors: Counter[str] = Counter()
    for result in results:
        for player, errors in zip(result.players, result.errors, strict=True):
            n_errors[player] += errors
    rows = tuple(
        LeaderboardRow(
            rank, rating, names[rating.player], counts[rating.player], n_errors[rating.player], last_ms[rating.player]
        )
        for rank, rating in enumerate(fitted.players, 1)
    )
    curves = kept if kept is not None and kept.hold_for(found) else _curves(found)
    chart = _chart(curves, rows, found[-1].ended_ms) if found else None
    return Leaderboard(rows, fitted.roles, fitted.n_matches, chart), curves


def _curves(found: Sequence[RatedResult]) -> RatingCurves:
    history = rating_history([each.result for each in found], _N_FITS)
    points = tuple((found[each.n_results - 1].ended_ms, each.ratings) for each in history)
    return RatingCurves(len(found), found[-1].ended_ms if found else 0, points)


def _chart(curves: RatingCurves, rows: Sequence[LeaderboardRow], now_ms: int) -> RatingChart | None:
    """Return the curves of the first of *rows* over time, which end with their ratings now."""
    if len(curves.points) < 2:
        return None
    drawn = {}
    for rating in (row.rating for row in rows[:_N_CURVES]):
        before = [
            (float(at_ms), ratings[rating.player]) for at_ms, ratings in curves.points if rating.player in ratings
        ]
        drawn[rating.player] = [*before, (float(now_ms), rating)]
    return rating_chart(drawn, date(curves.points[0][0]), date(now_ms), has_areas=False)


async def show_all(request: web.Request) -> web.Response:
    """Show the leaderboard over all games."""
    return await _leaderboard(request, ALL_GAMES)


async def show_game(request: web.Request) -> web.Response:
    """Show the leaderboard of a game."""
    name = request.match_info["name"]
    if await request.app[MANAGER].games.find(name) is None:
        raise RequestError("unknown_game", f"there is no game called {name[:100]!r}", "the games are in the menu", 404)
    return await _leaderboard(request, name)


async def _leaderboard(request: web.Request, game: str) -> web.Response:
    leaderboards = request.app[LEADERBOARDS]
    return render(
        request,
        "leaderboard.html",
        game=game,
        board=await leaderboards.of(game),
        most_listed=_MOST_LISTED,
        games=await leaderboards.rated_games(),
    )


async def show_head_to_head(request: web.Request) -> web.Response:
    """Show what two players made against each other."""
    one, other = request.match_info["name"], request.match_info["other"]
    found = await request.app[LEADERBOARDS].encounters(one, other)
    if found is None:
        raise RequestError("busy", "the matches of these two are being looked up", "try again in a moment", 503)
    if found.total is None:
        raise RequestError("not_found", f"{one[:100]} and {other[:100]} have not met", status=404)
    games = {part.game: await request.app[MANAGER].games.find(part.game) for part in found.seats}
    titles = {name: name if version is None else title_of(version) for name, version in games.items()}
    roles = {name: () if version is None else version.played_roles for name, version in games.items()}
    return render(request, "head_to_head.html", one=one, other=other, found=found, titles=titles, roles=roles)


def encounters_of(one: str, other: str, found: Sequence[RatedResult]) -> Encounters:
    """Return what *one* made against *other* by their results *found*, which are in the order of time."""
    results = [each.result for each in found]
    if not results:
        return Encounters(None, (), None, None, ())
    fitted = fit_ratings(results, anchor=(other, 0.0))
    return Encounters(
        _made(ALL_GAMES, 0, results, one, other),
        tuple(by_seat(results, one, other)),
        fitted.rating_of(one),
        fitted.superiority(one, other),
        tuple(found[: -_N_MATCHES - 1 : -1]),
    )


def by_seat(results: Sequence[MatchResult], one: str, other: str) -> list[HeadToHead]:
    """Return what *one* made against *other* in each role of each game."""
    found: defaultdict[tuple[str, int], list[MatchResult]] = defaultdict(list)
    for result in results:
        found[result.game, result.players.index(one)].append(result)
    return [_made(game, role, of_seat, one, other) for (game, role), of_seat in sorted(found.items())]


def _made(game: str, role: int, results: Sequence[MatchResult], one: str, other: str) -> HeadToHead:
    goals = [(result.goal_of(one), result.goal_of(other)) for result in results]
    n_won, n_lost = sum(own > its for own, its in goals), sum(own < its for own, its in goals)
    means = fmean(own for own, _ in goals), fmean(its for _, its in goals)
    return HeadToHead(game, role, len(goals), n_won, len(goals) - n_won - n_lost, n_lost, *means)
