"""The matches that wait in the queue for players and for room, and which process takes them."""

import json
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import sqlalchemy as sa

from server.clock import now_ms
from server.storage.database import Database
from server.storage.integrity import are_seats
from server.storage.matches import N_WAITING, began, locked, match_row
from server.storage.rows import MatchPurpose, MatchRow, MatchStatus, SeatKind
from server.storage.schema import matches, players, seats

_REGISTERED: Final = (SeatKind.HTTP, SeatKind.DIAL_IN)
_NAMED: Final = matches.c.order["text", "players"]
_READABLE_NAMED: Final = sa.case((sa.func.json_valid(matches.c.order) == 1, _NAMED))
"""The same on SQLite, where a damaged order would fail the whole query."""
_RANK: Final = sa.case(
    (matches.c.purpose == MatchPurpose.LADDER, 2), (matches.c.purpose == MatchPurpose.PRACTICE, 1), else_=0
)
"""The class of a match in the queue: those of a lower one come first."""
_AT_ONCE: Final = 1_000
"""How many matches one query names."""
_LOCK: Final = 7_171_002
"""The number of the lock under which matches are chosen, among those of PostgreSQL."""
_COUNTING: Final = 7_171_003
"""The number of the locks under which the orders of a name are counted."""


@dataclass(frozen=True, slots=True)
class WaitingMatch:
    """A match that waits since `created_ms`, and the name and kind of the player of each seat.

    `named` are the seats by role as they were ordered; those that were left to the game manager are not among them.
    """

    id: str
    created_ms: int
    players: tuple[tuple[str, str], ...]
    named: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class MatchQueue:
    """The queue of a database; *clock_ms* tells the time of day, by which leases run out."""

    def __init__(self, database: Database, clock_ms: Callable[[], int] = now_ms) -> None:
        self._database, self._clock_ms = database, clock_ms
        self._named = _READABLE_NAMED if database.is_sqlite else _NAMED

    async def length(self) -> int:
        """Return how many matches wait, for people or for players."""
        return int(await self._database.scalar(N_WAITING) or 0)

    async def waiting(self, limit: int | None = None) -> list[WaitingMatch]:
        """Return the matches that wait, those that have waited longest first, up to *limit* if there is one.

        Practice comes after all others, then the ladder.
        """
        query = _waiting(self._named, limit)
        found: dict[str, list[tuple[str, str]]] = {}
        told: dict[str, tuple[int, Mapping[str, Any]]] = {}
        for match_id, created_ms, named, player, kind in await self._database.read(lambda it: it.execute(query).all()):
            # A damaged row keeps its turn.
            told[match_id] = created_ms if type(created_ms) is int else 0, _by_role(named)
            found.setdefault(match_id, []).extend([] if player is None else [(player, kind)])
        return [
            WaitingMatch(match_id, told[match_id][0], tuple(players), told[match_id][1])
            for match_id, players in found.items()
        ]

    async def playing(self) -> list[str]:
        """Return the ids of all matches that are played now."""
        is_running = matches.c.status == MatchStatus.RUNNING
        if not self._database.is_sqlite:
            return list(await self._database.scalars(sa.select(matches.c.id).where(is_running)))
        # As one row: for each the driver waits for the interpreter's lock, and there may be thousands.
        found = await self._database.scalar(sa.select(sa.func.json_group_array(matches.c.id)).where(is_running))
        return list(json.loads(found))

    async def named(self, match_ids: Sequence[str]) -> dict[str, Mapping[str, Mapping[str, Any]]]:
        """Return the seats by role, as they were ordered, of those of the matches that have HTTP players."""
        with_http = sa.select(seats.c.match_id).where(seats.c.kind == SeatKind.HTTP)
        query = sa.select(matches.c.id, self._named.label("named")).where(matches.c.id.in_(with_http))
        found: dict[str, Mapping[str, Mapping[str, Any]]] = {}
        for begin in range(0, len(match_ids), _AT_ONCE):
            part = query.where(matches.c.id.in_(match_ids[begin : begin + _AT_ONCE]))
            found |= {row["id"]: _by_role(row["named"]) for row in await self._database.rows(part)}
        return found

    @asynccontextmanager
    async def choosing(self) -> AsyncIterator[bool]:
        """Keep other managers on the database from choosing at the same time; yield False where one just does.

        Raises:
            StorageError: the database failed.
        """
        if self._database.is_sqlite:  # its lock says that there is no other manager
            yield True
            return
        async with self._database.reading() as connection:
            locking = sa.select(sa.func.pg_try_advisory_xact_lock(_LOCK))
            yield bool(await connection.scalar(locking))

    @asynccontextmanager
    async def counting(self, name: str) -> AsyncIterator[None]:
        """Keep other managers on the database from counting what *name* has ordered until it has ordered one more.

        Raises:
            StorageError: the database failed.
        """
        if self._database.is_sqlite:  # its lock says that there is no other manager
            yield
            return
        async with self._database.reading() as connection:
            await connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_COUNTING, sa.func.hashtext(name))))
            yield

    async def claim(self, match_ids: Collection[str], holder: str, lease_s: float) -> list[MatchRow]:
        """Begin to play those of the matches that still wait: return the ones that are *holder*'s now.

        Their seats get the versions that registered players have now.
        """
        is_waiting = sa.and_(matches.c.id.in_(match_ids), matches.c.status == MatchStatus.QUEUED)
        claiming = sa.update(matches).where(is_waiting)
        claiming = claiming.values({"status": MatchStatus.RUNNING} | began(holder, lease_s, self._clock_ms()))

        def claimed(connection: sa.Connection) -> list[MatchRow]:
            locked(connection, is_waiting)
            rows = list(map(match_row, connection.execute(claiming.returning(matches)).mappings()))
            is_theirs = sa.and_(seats.c.match_id.in_([row.id for row in rows]), seats.c.kind.in_(_REGISTERED))
            version = sa.select(players.c.version).where(players.c.name == seats.c.player).scalar_subquery()
            connection.execute(sa.update(seats).where(is_theirs).values(version=version))
            return rows

        return await self._database.write(claimed)


@lru_cache(8)
def _waiting(named: sa.ColumnElement[Any], limit: int | None) -> sa.Select[Any]:
    """Return the query of `MatchQueue.waiting`, which is made once: it is asked at each order and each end."""
    order = matches.c.created_ms, matches.c.id
    waiting = sa.select(*order, _RANK.label("rank"), named.label("named"))
    waiting = waiting.where(matches.c.status == MatchStatus.QUEUED)
    oldest = waiting.order_by(_RANK, *order).limit(limit).subquery()
    query = sa.select(oldest.c.id, oldest.c.created_ms, oldest.c.named, seats.c.player, seats.c.kind)
    query = query.join_from(oldest, seats, seats.c.match_id == oldest.c.id, isouter=True)
    return query.order_by(oldest.c.rank, oldest.c.created_ms, oldest.c.id, seats.c.position)


def _by_role(named: object) -> Mapping[str, Mapping[str, Any]]:
    """Return the seats that were ordered; none where that is damaged."""
    return named if isinstance(named, dict) and are_seats(named) else {}
