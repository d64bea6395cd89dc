"""The matches that wait: what the queue is decided by, without what else was ordered, and who begins with which."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import sqlalchemy as sa

from server.match.clock import now_ms
from server.storage.database import Database
from server.storage.matches import began, match_row
from server.storage.rows import QUEUED, RUNNING, MatchRow
from server.storage.schema import matches, seats


@dataclass(frozen=True, slots=True)
class WaitingMatch:
    """A match that waits since `created_ms`, and the name and kind of the player of each seat."""

    id: str
    created_ms: int
    players: tuple[tuple[str, str], ...]


class MatchQueue:
    """The queue of a database; *clock_ms* tells the time of day, by which leases run out."""

    def __init__(self, database: Database, clock_ms: Callable[[], int] = now_ms) -> None:
        self._database, self._clock_ms = database, clock_ms

    async def length(self) -> int:
        """Return how many matches wait."""
        query = sa.select(sa.func.count()).select_from(matches).where(matches.c.status == QUEUED)
        async with self._database.reading() as connection:
            return int(await connection.scalar(query) or 0)

    async def waiting(self, limit: int) -> list[WaitingMatch]:
        """Return the matches that have waited longest, up to *limit*, the oldest first."""
        order = matches.c.created_ms, matches.c.id
        oldest = sa.select(*order).where(matches.c.status == QUEUED).order_by(*order).limit(limit).subquery()
        query = sa.select(oldest.c.id, oldest.c.created_ms, seats.c.player, seats.c.kind)
        query = query.join_from(oldest, seats, seats.c.match_id == oldest.c.id, isouter=True)
        found: dict[str, list[tuple[str, str]]] = {}
        since: dict[str, int] = {}
        async with self._database.reading() as connection:
            for match_id, created_ms, player, kind in await connection.execute(
                query.order_by(oldest.c.created_ms, oldest.c.id, seats.c.position)
            ):
                since[match_id] = created_ms
                found.setdefault(match_id, []).extend([] if player is None else [(player, kind)])
        return [WaitingMatch(match_id, since[match_id], tuple(players)) for match_id, players in found.items()]

    async def claim(self, match_ids: Collection[str], holder: str, lease_s: float) -> list[MatchRow]:
        """Begin to play those of the matches that still wait: return the ones that are *holder*'s now."""
        claiming = sa.update(matches).where(matches.c.id.in_(match_ids), matches.c.status == QUEUED)
        claiming = claiming.values({"status": RUNNING} | began(holder, lease_s, self._clock_ms()))
        async with self._database.begin() as connection:
            return [match_row(row) for row in (await connection.execute(claiming.returning(matches))).mappings()]
