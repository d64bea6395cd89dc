"""The matches that wait in the lobby for their people."""

from collections import deque
from collections.abc import Callable
from typing import Final

import sqlalchemy as sa

from server.clock import now_ms
from server.storage.database import Database
from server.storage.rows import MatchStatus, SeatKind
from server.storage.schema import matches, seats

_IN_LOBBY: Final = matches.c.status == MatchStatus.LOBBY
_IS_MISSING: Final = sa.and_(seats.c.kind == SeatKind.HUMAN, seats.c.came_ms.is_(None))
_MAX_GAP_MS: Final = 30_000
"""How far apart two looks for overdue matches are at most that say of the time between them that it was waited."""
_MAX_GAPS: Final = 100


class Lobby:
    """The lobby of a database; *clock_ms* tells the time of day, at which people come.

    Time of which it sees nothing pass is not waited, as where the machine sleeps, or its clock is set.
    """

    def __init__(self, database: Database, clock_ms: Callable[[], int] = now_ms) -> None:
        self._database, self._clock_ms = database, clock_ms
        self._looked_ms: int | None = None
        self._gaps_ms: deque[tuple[int, int]] = deque(maxlen=_MAX_GAPS)
        """When each began, and how long it was."""

    async def note_arrival(self, match_id: str, role: str) -> bool:
        """Note that the person who plays *role* has come; return whether that was not known.

        With the last one the match leaves the lobby for the queue.
        """
        seat = sa.and_(seats.c.match_id == match_id, seats.c.role == role, _IS_MISSING)
        arriving = sa.update(seats).where(seat).values(came_ms=self._clock_ms())

        def arrived(connection: sa.Connection) -> bool:
            # The row is locked, so that of two who come at once to two managers the second one sees the first.
            locked = sa.select(matches.c.id).where(matches.c.id == match_id, _IN_LOBBY).with_for_update()
            if connection.scalar(locked) is None or not connection.execute(arriving).rowcount:
                return False
            others = sa.select(sa.literal(1)).where(seats.c.match_id == match_id, _IS_MISSING).limit(1)
            if connection.scalar(others) is None:
                connection.execute(sa.update(matches).where(matches.c.id == match_id).values(status=MatchStatus.QUEUED))
            return True

        return await self._database.write(arrived)

    async def overdue(self, limit_s: float) -> dict[str, tuple[str, ...]]:
        """Return the matches that have waited for more than *limit_s*, each with the roles that are missing."""
        at_ms = self._clock_ms()
        self._note_look(at_ms)
        oldest_ms = at_ms - round(1000 * limit_s)
        query = sa.select(matches.c.id, matches.c.created_ms, seats.c.role).select_from(matches.join(seats))
        query = query.where(_IN_LOBBY, matches.c.created_ms < oldest_ms, _IS_MISSING)
        found: dict[str, tuple[str, ...]] = {}
        for row in await self._database.rows(query.order_by(matches.c.id, seats.c.position)):
            if row["created_ms"] + self._gap_ms_since(row["created_ms"]) < oldest_ms:
                found[row["id"]] = (*found.get(row["id"], ()), row["role"])
        return found

    def _note_look(self, at_ms: int) -> None:
        before_ms, self._looked_ms = self._looked_ms, at_ms
        if before_ms is not None and at_ms - before_ms > _MAX_GAP_MS:
            self._gaps_ms.append((before_ms, at_ms - before_ms))

    def _gap_ms_since(self, since_ms: int) -> int:
        return sum(length_ms for begin_ms, length_ms in self._gaps_ms if begin_ms >= since_ms)

    async def cancel(self, match_id: str, reason: str) -> bool:
        """End a match that is still in the lobby; return whether it was."""
        ended = {"status": MatchStatus.ABORTED, "ended_ms": self._clock_ms(), "abort_reason": reason}
        cancelling = sa.update(matches).where(matches.c.id == match_id, _IN_LOBBY).values(ended)
        return await self._database.change(cancelling) > 0
