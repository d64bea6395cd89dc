"""How many matches there are and how they went, each read from one index without looking at the matches."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from server.storage.database import Database
from server.storage.rows import STATUSES
from server.storage.schema import matches, seats


@dataclass(frozen=True, slots=True)
class GameStatistics:
    """The matches of a game.

    Attributes:
        n_matches: by status.
        mean_steps: over the completed ones; None where there is none.
        mean_goals: over the completed ones, by role.
    """

    n_matches: dict[str, int]
    mean_steps: float | None
    mean_goals: dict[str, float]


@dataclass(frozen=True, slots=True)
class PlayerStatistics:
    """A player's seats in a game, also in matches that are not over.

    Attributes:
        mean_goal: over the seats in completed matches; None where there is none.
        thinking_ms: all together, for `n_moves` moves.
    """

    n_seats: int
    mean_goal: float | None
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
        """Return how many matches there are of each game that was ever played."""
        return await self._counts(matches.c.game)

    async def of_game(self, game: str) -> GameStatistics:
        """Return how the matches of a game went."""
        # Written out, since an index on some rows serves no statement whose rows it cannot tell.
        is_completed = sa.literal_column("matches.status = 'completed'", sa.Boolean)
        steps = sa.select(sa.func.avg(matches.c.n_steps)).where(matches.c.game == game, is_completed)
        goals = sa.select(seats.c.role, sa.func.avg(seats.c.goal)).where(
            seats.c.game == game, seats.c.goal.is_not(None)
        )
        async with self._database.reading() as connection:
            mean = await connection.scalar(steps)
            rows = await connection.execute(goals.group_by(seats.c.role))
            means = {role: float(goal) for role, goal in rows}
        counts = await self._counts(matches.c.status, matches.c.game == game)
        return GameStatistics(dict.fromkeys(STATUSES, 0) | counts, None if mean is None else float(mean), means)

    async def of_player(self, player: str) -> dict[str, PlayerStatistics]:
        """Return how a player did, by game."""
        sums = (sa.func.sum(seats.c[name]) for name in ("n_errors", "n_moves", "thinking_ms"))
        query = sa.select(seats.c.game, sa.func.count(), sa.func.avg(seats.c.goal), *sums)
        query = query.where(seats.c.player == player).group_by(seats.c.game).order_by(seats.c.game)
        async with self._database.reading() as connection:
            rows = (await connection.execute(query)).all()
        return {
            game: PlayerStatistics(n, None if goal is None else float(goal), *map(int, found))
            for game, n, goal, *found in rows
        }

    async def _counts(self, column: sa.Column[str], *conditions: sa.ColumnElement[bool]) -> dict[str, int]:
        query = sa.select(column, sa.func.count()).where(*conditions).group_by(column)
        async with self._database.reading() as connection:
            return dict((await connection.execute(query)).all())
