"""Statistics of games, players and their versions over the matches of a database."""

import math
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from server.storage.database import Database
from server.storage.match_queries import IS_NAMED
from server.storage.rows import LIVE_STATUSES, RANDOM, MatchStatus, SeatKind
from server.storage.schema import matches, seats


@dataclass(frozen=True, slots=True)
class GameStatistics:
    """The matches of a game.

    Attributes:
        n_matches: by status.
        mean_steps: over the completed ones; None where there is none.
        mean_goals: over the completed ones, by role.
        goal_margins: by how much the mean of as many other matches may differ, in 95 of 100 cases; by role.
    """

    n_matches: dict[str, int]
    mean_steps: float | None
    mean_goals: dict[str, float]
    goal_margins: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlayerStatistics:
    """A player's seats in the completed matches of a game; `thinking_ms` is the time for all of its `n_moves` moves."""

    n_seats: int
    mean_goal: float
    n_errors: int
    n_moves: int
    thinking_ms: int


@dataclass(frozen=True, slots=True)
class VersionResult:
    """A registered player's seats in the completed matches of a game under one of its versions."""

    game: str
    version: str | None
    matches: int
    mean_goal: float
    errors: int


def _margin(mean: float, mean_square: float, n: int) -> float:
    """Return half the width of the interval in which the mean of *n* numbers is in 95 of 100 cases."""
    return 1.96 * math.sqrt(max(0.0, mean_square - mean * mean) / (n - 1))


def _of_named(query: sa.Select[Any]) -> sa.Select[Any]:
    """Return *query* for the seats of completed matches alone of which the public may know the game."""
    return query.select_from(seats.join(matches)).where(seats.c.goal.is_not(None), IS_NAMED)


class Statistics:
    """The statistics of a database, without matches of which the public may not know the game yet."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def by_game(self) -> dict[str, int]:
        """Return how many matches are over of each game that was ever played to an end."""
        return await self._counts(matches.c.game, matches.c.status.not_in(LIVE_STATUSES), IS_NAMED)

    async def of_game(self, game: str) -> GameStatistics:
        """Return how the matches of a game went."""
        n_matches = await self._counts(matches.c.status, matches.c.game == game, IS_NAMED)
        goal = sa.cast(seats.c.goal, sa.Double)
        squares = sa.func.avg(goal * goal), sa.func.count()
        means = sa.select(seats.c.role, sa.func.avg(seats.c.goal), sa.func.avg(seats.c.n_moves), *squares)
        means = _of_named(means).where(seats.c.game == game).group_by(seats.c.role)
        rows = await self._database.read(lambda connection: connection.execute(means).all())
        # Everybody who has a seat is asked for a move in each step.
        mean_steps = max((float(n_moves) for _, _, n_moves, *_ in rows), default=None)
        return GameStatistics(
            {status: n_matches.get(status, 0) for status in MatchStatus},
            mean_steps,
            {role: float(mean) for role, mean, *_ in rows},
            {role: _margin(float(mean), float(square), n) for role, mean, _, square, n in rows if n > 1},
        )

    async def of_player(self, player: str) -> dict[str, PlayerStatistics]:
        """Return how a player did, by game."""
        # Whole numbers could be too large together where one of them is damaged.
        sums = (sa.func.sum(sa.cast(seats.c[name], sa.Double)) for name in ("n_errors", "n_moves", "thinking_ms"))
        query = sa.select(seats.c.game, sa.func.count(), sa.func.avg(seats.c.goal), *sums)
        query = _of_named(query).where(seats.c.player == player)
        if player == RANDOM:  # chance is called so, too
            query = query.where(seats.c.kind != SeatKind.CHANCE)
        query = query.group_by(seats.c.game).order_by(seats.c.game)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return {game: PlayerStatistics(n, float(goal), *map(int, found)) for game, n, goal, *found in rows}

    async def by_version(self, player: str, since_ms: int = 0) -> list[VersionResult]:
        """Return how a registered player did since then, by game and version."""
        sums = sa.func.count(), sa.func.avg(seats.c.goal), sa.func.sum(sa.cast(seats.c.n_errors, sa.Double))
        query = _of_named(sa.select(seats.c.game, seats.c.version, *sums))
        query = query.where(seats.c.player == player, seats.c.created_ms >= since_ms)
        order = seats.c.game, sa.func.coalesce(seats.c.version, "")  # NULL comes first on SQLite, last on PostgreSQL
        query = query.group_by(seats.c.game, seats.c.version).order_by(*order)
        async with self._database.reading() as connection:
            rows = (await connection.execute(query)).all()
        return [
            VersionResult(game, version, n, float(goal), int(n_errors)) for game, version, n, goal, n_errors in rows
        ]

    async def _counts(self, column: sa.Column[str], *conditions: sa.ColumnElement[bool]) -> dict[str, int]:
        query = sa.select(column, sa.func.count()).where(*conditions).group_by(column)
        return dict(await self._database.read(lambda connection: connection.execute(query).all()))
