"""How many matches there are and how they went, each read from one index without looking at the matches."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from server.storage.database import Database
from server.storage.listing import IS_OPEN, LIVE
from server.storage.rows import STATUSES
from server.storage.schema import matches, seats


@dataclass(frozen=True, slots=True)
class GameStatistics:
    """The matches of a game.

    Attributes:
        n_matches: by status, without those that are played by players who may not know the game.
        mean_steps: over the completed ones; None where there is none.
        mean_goals: over the completed ones, by role.
    """

    n_matches: dict[str, int]
    mean_steps: float | None
    mean_goals: dict[str, float]


@dataclass(frozen=True, slots=True)
class PlayerStatistics:
    """A player's seats in the completed matches of a game; `thinking_ms` is the time for all of its `n_moves` moves."""

    n_seats: int
    mean_goal: float
    n_errors: int
    n_moves: int
    thinking_ms: int


class Statistics:
    """The statistics of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def by_status(self) -> dict[str, int]:
        """Return how many matches there are of each status, nought included."""
        return dict.fromkeys(STATUSES, 0) | await self._counts(matches.c.status)

    async def by_game(self) -> dict[str, int]:
        """Return how many matches are over of each game that was ever played to an end."""
        return await self._counts(matches.c.game, matches.c.status.not_in(LIVE))

    async def of_game(self, game: str) -> GameStatistics:
        """Return how the matches of a game went."""
        is_over = matches.c.status.not_in(LIVE)
        over = await self._counts(matches.c.status, matches.c.game == game, is_over)
        live = await self._counts(matches.c.status, matches.c.game == game, ~is_over, IS_OPEN)
        means = sa.select(seats.c.role, sa.func.avg(seats.c.goal), sa.func.avg(seats.c.n_moves))
        means = means.where(seats.c.game == game, seats.c.goal.is_not(None)).group_by(seats.c.role)
        async with self._database.reading() as connection:
            rows = (await connection.execute(means)).all()
        # Everybody who has a seat is asked for a move in each step.
        mean_steps = max((float(n_moves) for _, _, n_moves in rows), default=None)
        return GameStatistics(
            dict.fromkeys(STATUSES, 0) | over | live, mean_steps, {role: float(goal) for role, goal, _ in rows}
        )

    async def of_player(self, player: str) -> dict[str, PlayerStatistics]:
        """Return how a player did, by game."""
        sums = (sa.func.sum(seats.c[name]) for name in ("n_errors", "n_moves", "thinking_ms"))
        query = sa.select(seats.c.game, sa.func.count(), sa.func.avg(seats.c.goal), *sums)
        query = query.where(seats.c.player == player, seats.c.goal.is_not(None))
        async with self._database.reading() as connection:
            rows = (await connection.execute(query.group_by(seats.c.game).order_by(seats.c.game))).all()
        return {game: PlayerStatistics(n, float(goal), *map(int, found)) for game, n, goal, *found in rows}

    async def _counts(self, column: sa.Column[str], *conditions: sa.ColumnElement[bool]) -> dict[str, int]:
        query = sa.select(column, sa.func.count()).where(*conditions).group_by(column)
        async with self._database.reading() as connection:
            return dict((await connection.execute(query)).all())
