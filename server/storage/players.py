"""The players that are registered."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import sqlalchemy as sa

from server.storage.database import Database
from server.storage.rows import PlayerRow
from server.storage.schema import players
from server.storage.upserts import insert, upsert


class PlayerStore:
    """The registered players of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, player: PlayerRow) -> bool:
        """Keep a new player; return False, and change nothing, where there is one of that name."""
        async with self._database.begin() as connection:
            found = await connection.execute(insert(self._database, players).on_conflict_do_nothing(), asdict(player))
        return found.rowcount > 0

    async def put(self, player: PlayerRow) -> None:
        """Keep *player*, in place of another of that name."""
        async with self._database.begin() as connection:
            await connection.execute(upsert(self._database, players), asdict(player))

    async def get(self, name: str) -> PlayerRow | None:
        """Return the player *name*."""
        found = await self._all(players.c.name == name)
        return found[0] if found else None

    async def listed(self, owner: str | None = None) -> list[PlayerRow]:
        """Return the players by name, only those of *owner* if one is named."""
        return await self._all(sa.true() if owner is None else players.c.owner == owner)

    async def change(self, name: str, **values: Any) -> bool:
        """Change columns of a player; return whether there is one."""
        return await self._update(name, values)

    async def set_status(self, name: str, status: str, reason: str = "") -> bool:
        """Pause a player for *reason*, or let it play again; return whether there is one."""
        values: dict[str, Any] = {"status": status, "pause_reason": reason}
        return await self._update(name, values | ({"n_failures": 0} if status == "ok" else {}))

    async def count_failure(self, name: str) -> int:
        """Count one more failure in a row and return how many there are now; 0 where there is no such player."""
        counting = sa.update(players).where(players.c.name == name).values(n_failures=players.c.n_failures + 1)
        async with self._database.begin() as connection:
            return await connection.scalar(counting.returning(players.c.n_failures)) or 0

    async def clear_failures(self, name: str) -> bool:
        """Forget the failures of a player that did well; return whether there is one."""
        return await self._update(name, {"n_failures": 0})

    async def set_info(self, name: str, info: Any, seen_ms: int | None) -> bool:
        """Keep what a player answered to INFO, and when it was last there; return whether there is one."""
        return await self._update(name, {"info": info, "seen_ms": seen_ms})

    async def delete(self, name: str) -> bool:
        """Forget a player; return whether there was one. Its matches keep its name."""
        async with self._database.begin() as connection:
            found = await connection.execute(sa.delete(players).where(players.c.name == name))
        return found.rowcount > 0

    async def _update(self, name: str, values: dict[str, Any]) -> bool:
        async with self._database.begin() as connection:
            found = await connection.execute(sa.update(players).where(players.c.name == name).values(values))
        return found.rowcount > 0

    async def _all(self, condition: sa.ColumnElement[bool]) -> list[PlayerRow]:
        query = sa.select(players).where(condition).order_by(players.c.name)
        async with self._database.reading() as connection:
            return [PlayerRow(**row) for row in (await connection.execute(query)).mappings()]
