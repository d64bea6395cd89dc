"""The matches: what was ordered, who plays which seat, who holds which match, and how they went."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from typing import Final

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from server.errors import DamagedRowError, LostMatchError, MatchRecordError, UnknownMatchError
from server.match.link import now_ms
from server.records.entries import Entry
from server.storage import batch, journals
from server.storage.database import Database
from server.storage.journals import WholeJournal
from server.storage.listing import Filter, listing
from server.storage.reading import MAX_MS, damage, sound
from server.storage.rows import LIVE, NO_ORDER, WAITING, MatchPurpose, MatchRow, MatchStatus, SeatKind, SeatRow
from server.storage.schema import matches, records, seats

_HOLDING: Final = matches.c.status == MatchStatus.RUNNING
DAMAGED: Final = "damaged"
"""The player of a seat whose row is damaged."""
_LOG: Final = logging.getLogger(__name__)
_FREE: Final[dict[str, object]] = {"holder": None, "lease_until_ms": None}


class MatchStore:
    """The matches of a database; *clock_ms* tells the time of day, by which leases run out."""

    def __init__(self, database: Database, clock_ms: Callable[[], int] = now_ms) -> None:
        self._database, self._clock_ms = database, clock_ms

    async def add(self, match: MatchRow, chairs: Sequence[SeatRow]) -> None:
        """Keep a new match and its seats.

        Raises:
            StorageError: there is one with that id.
        """
        async with self._database.begin() as connection:
            await add_match(connection, match, chairs)

    async def get(self, match_id: str) -> MatchRow | None:
        """Return the match, if there is one.

        Raises:
            DamagedRowError: its row is damaged.
        """
        found = await self.find(match_id)
        if found is not None and found.damage:
            raise DamagedRowError(self._database.name, matches.name, match_id, found.damage)
        return found

    async def find(self, match_id: str) -> MatchRow | None:
        """Return the match, if there is one, with its `damage` where its row is damaged, as lists do."""
        async with self._database.reading() as connection:
            found = (await connection.execute(sa.select(matches).where(matches.c.id == match_id))).mappings().first()
        return None if found is None else match_row(found)

    async def has(self, match_id: str) -> bool:
        """Return whether there is such a match."""
        async with self._database.reading() as connection:
            return await connection.scalar(sa.select(sa.literal(1)).where(matches.c.id == match_id)) is not None

    async def seats(self, match_ids: Collection[str]) -> dict[str, tuple[SeatRow, ...]]:
        """Return the seats of each of the matches, in the order of the roles."""
        columns = [seats.c[name] for name in SeatRow.__slots__]
        query = sa.select(*columns).where(seats.c.match_id.in_(match_ids)).order_by(seats.c.match_id, seats.c.position)
        found: dict[str, list[SeatRow]] = {match_id: [] for match_id in match_ids}
        async with self._database.reading() as connection:
            for row in (await connection.execute(query)).mappings():
                found.setdefault(row["match_id"], []).append(_seat_row(row))
        return {match_id: tuple(rows) for match_id, rows in found.items()}

    async def listed(  # noqa: PLR0913 -- each is a filter of its own, and named
        self,
        *,
        status: str | None = None,
        game: str | None = None,
        player: str | None = None,
        tournament: str | None = None,
        before: str | None = None,
        limit: int = 50,
        is_public: bool = False,
    ) -> list[MatchRow]:
        """Return up to *limit* matches that are all of what is asked for, the newest first.

        *before* is the id of the last match of the page before; *is_public* leaves out matches of which not everybody
        may know the game and the players yet.

        Raises:
            UnknownMatchError: there is no match with the id *before*.
        """
        async with self._database.reading() as connection:
            place = None
            if before is not None:
                row = (await connection.execute(sa.select(matches.c.created_ms).where(matches.c.id == before))).first()
                if row is None:
                    raise UnknownMatchError(before)
                place = (row[0], before)
            query = listing(Filter(status, game, player, tournament, is_public), place, limit)
            return [match_row(row) for row in (await connection.execute(query)).mappings()]

    async def queued(self, limit: int = 100) -> list[MatchRow]:
        """Return the matches that wait, for people or for players, the oldest first."""
        query = (
            sa.select(matches)
            .where(matches.c.status.in_(WAITING))
            .order_by(matches.c.created_ms, matches.c.id)
            .limit(limit)
        )
        async with self._database.reading() as connection:
            return [match_row(row) for row in (await connection.execute(query)).mappings()]

    async def changed_since(self, time_ms: int, limit: int = 1_000) -> list[MatchRow]:
        """Return the matches that were ordered, begun, or over at *time_ms* or later, the newest first."""
        is_live = matches.c.status.in_(LIVE)
        is_new = sa.or_(matches.c.created_ms >= time_ms, matches.c.started_ms >= time_ms)
        changed = sa.union(
            sa.select(matches.c.id).where(is_live, is_new), sa.select(matches.c.id).where(matches.c.ended_ms >= time_ms)
        )
        query = sa.select(matches).where(matches.c.id.in_(changed.scalar_subquery()))
        query = query.order_by(matches.c.created_ms.desc(), matches.c.id.desc()).limit(limit)
        async with self._database.reading() as connection:
            return [match_row(row) for row in (await connection.execute(query)).mappings()]

    async def busy(self) -> dict[str, int]:
        """Return how many seats each player has in matches that are played now."""
        query = sa.select(seats.c.player, sa.func.count()).select_from(matches.join(seats)).where(_HOLDING)
        async with self._database.reading() as connection:
            return dict((await connection.execute(query.group_by(seats.c.player))).all())

    async def n_practised(self, ordered_by: str, since_ms: int) -> tuple[int, int]:
        """Return how many practice matches a party has ordered since then, and how many of them are not over."""
        is_own = sa.and_(matches.c.ordered_by == ordered_by, matches.c.purpose == MatchPurpose.PRACTICE)
        is_live = sa.case((matches.c.status.in_(LIVE), 1), else_=0)
        query = sa.select(sa.func.count(), sa.func.sum(is_live)).where(is_own, matches.c.created_ms >= since_ms)
        async with self._database.reading() as connection:
            n, n_live = (await connection.execute(query)).one()
        return int(n), int(n_live or 0)

    async def entries(self, match_id: str, after: int = -1) -> list[Entry]:
        """Return the journal's entries behind number *after*; they count from 0, while the match is played and later.

        There are none where the match has not begun, or is not there; and none behind the first that is damaged.

        Raises:
            DamagedRowError: the match is over, and its record damaged.
        """
        try:
            async with self._database.reading() as connection:
                return (await journals.journal(connection, match_id, after)).entries
        except MatchRecordError as error:
            raise DamagedRowError(self._database.name, records.name, match_id, str(error)) from error

    async def whole_journal(self, match_id: str) -> WholeJournal:
        """Return all of the journal of a match that is played, to close it.

        Raises:
            StorageError: the database failed.
        """
        async with self._database.reading() as connection:
            return await journals.whole_journal(connection, match_id)

    async def mended(self, match_id: str, holder: str) -> list[Entry]:
        """Return the journal of a match that *holder* plays, from which it goes on; what is behind a gap is dropped.

        Raises:
            LostMatchError: the match is not *holder*'s.
            StorageError: the database failed.
        """
        async with self._database.reading() as connection:
            found = await journals.journal(connection, match_id)
        if not found.damage:
            return found.entries
        held = sa.select(matches.c.id).where(matches.c.id == match_id, matches.c.holder == holder, _HOLDING)
        async with self._database.begin() as connection:
            if await connection.scalar(held.with_for_update(key_share=True)) is None:
                raise LostMatchError(self._database.name, match_id)
            found = await journals.journal(connection, match_id)
            n_dropped = await journals.mend(connection, match_id, found.entries)
        told = "match %s: %s; it goes on from before that, and %d events are dropped"
        _LOG.warning(told, match_id, found.damage, n_dropped)
        return found.entries

    async def fail(self, match_id: str, holder: str, reason: str) -> bool:
        """End a match that *holder* plays as failed, and tell it in its record; return whether it was *holder*'s.

        However damaged the match is, it is over then.
        """
        held = sa.select(matches.c.id).where(matches.c.id == match_id, matches.c.holder == holder, _HOLDING)
        async with self._database.begin() as connection:
            if await connection.scalar(held.with_for_update(key_share=True)) is None:
                return False
            entries = (await journals.journal(connection, match_id)).entries
            await journals.cut(connection, match_id, len(entries))
            await connection.run_sync(batch.fail, match_id, entries, reason, self._clock_ms())
            await connection.execute(sa.update(matches).where(matches.c.id == match_id).values(abort_reason=reason))
        return True

    async def signature(self, match_id: str) -> dict[str, str] | None:
        """Return the keys that sign the record of a match that is over, if it was signed."""
        async with self._database.reading() as connection:
            found = await journals.signature(connection, match_id)
        sound(self._database.name, records, {"match_id": match_id, "signature": found})
        return found

    async def take_over(self, holder: str, lease_s: float, n: int) -> list[str]:
        """Make up to *n* matches *holder*'s whose lease is over, and return their ids."""
        is_free = sa.func.coalesce(matches.c.lease_until_ms, 0) < self._clock_ms()
        oldest = sa.select(matches.c.id).where(_HOLDING, is_free).order_by(matches.c.created_ms, matches.c.id)
        chosen = oldest.limit(n).with_for_update(skip_locked=True)
        taking = sa.update(matches).where(matches.c.id.in_(chosen))
        taking = taking.values(began(holder, lease_s, self._clock_ms()))
        async with self._database.begin() as connection:
            return sorted(await connection.scalars(taking.returning(matches.c.id)))

    async def renew(self, holder: str, lease_s: float) -> set[str]:
        """Extend the lease of every match that *holder* plays, and return their ids: others are no longer its own."""
        held = sa.select(matches.c.id).where(matches.c.holder == holder, _HOLDING).order_by(matches.c.id)
        async with self._database.begin() as connection:
            found = set(await connection.scalars(held.with_for_update(key_share=True)))
            extending = sa.update(matches).where(matches.c.holder == holder, _HOLDING)
            await connection.execute(extending.values(_lease(holder, lease_s, self._clock_ms())))
        return found

    async def release(self, match_ids: Collection[str], holder: str) -> int:
        """Let others go on at once with matches that *holder* plays; return how many matches that were."""
        conditions = (matches.c.id.in_(match_ids), matches.c.holder == holder, _HOLDING)
        return await self._update(_FREE, *conditions)

    async def free_all(self) -> int:
        """Let every match that is played be taken over: for the one server of a SQLite file, when it starts."""
        return await self._update(_FREE, _HOLDING)

    async def request_abort(self, match_id: str, reason: str) -> bool:
        """End a match that waits, or have its holder end one that is played; return False where it is over already."""
        async with self._database.begin() as connection:
            return await abort_matches(connection, (match_id,), reason, self._clock_ms()) > 0

    async def abort_requests(self, holder: str) -> dict[str, str]:
        """Return the matches that *holder* plays and whose end was requested, each with the reason."""
        query = sa.select(matches.c.id, matches.c.abort_reason)
        query = query.where(matches.c.holder == holder, _HOLDING, matches.c.abort_reason.is_not(None))
        async with self._database.reading() as connection:
            return dict((await connection.execute(query)).all())

    async def name_person(self, match_id: str, role: str, name: str) -> None:
        """Keep *name* as that of the person who plays *role*, unless there is one already."""
        async with self._database.begin() as connection:
            query = sa.select(matches.c.order).where(matches.c.id == match_id).with_for_update()
            order = await connection.scalar(query)
            if order is not None and role not in order.get("people", {}):
                named = order | {"people": order.get("people", {}) | {role: name}}
                await connection.execute(sa.update(matches).where(matches.c.id == match_id).values(order=named))

    async def delete(self, match_id: str) -> bool:
        """Forget a match and all that is kept of it; return whether there was one."""
        async with self._database.begin() as connection:
            return (await connection.execute(sa.delete(matches).where(matches.c.id == match_id))).rowcount > 0

    async def _update(self, values: dict[str, object], *conditions: sa.ColumnElement[bool]) -> int:
        async with self._database.begin() as connection:
            return (await connection.execute(sa.update(matches).where(*conditions).values(values))).rowcount


async def add_match(connection: AsyncConnection, match: MatchRow, chairs: Sequence[SeatRow]) -> None:
    """Keep a new match and its seats within the transaction of *connection*."""
    also = {"game": match.game, "created_ms": match.created_ms}
    await connection.execute(sa.insert(matches), match.columns())
    if chairs:
        await connection.execute(sa.insert(seats), [asdict(seat) | also for seat in chairs])


async def abort_matches(connection: AsyncConnection, match_ids: Collection[str], reason: str, at_ms: int) -> int:
    """End those of the matches that wait, have those that are played ended; return how many were not over."""
    ended = {"status": MatchStatus.ABORTED, "ended_ms": at_ms, "abort_reason": reason}
    waiting = sa.update(matches).where(matches.c.id.in_(match_ids), matches.c.status.in_(WAITING)).values(ended)
    n_waiting = (await connection.execute(waiting)).rowcount
    playing = sa.update(matches).where(matches.c.id.in_(match_ids), _HOLDING).values(abort_reason=reason)
    return n_waiting + (await connection.execute(playing)).rowcount


def began(holder: str, lease_s: float, at_ms: int) -> dict[str, object]:
    """Return what changes of a match that *holder* begins, or goes on, to play."""
    return {"epoch": matches.c.epoch + 1} | _lease(holder, lease_s, at_ms)


def _lease(holder: str, lease_s: float, at_ms: int) -> dict[str, object]:
    return {"holder": holder, "lease_until_ms": at_ms + round(lease_s * 1000)}


def match_row(row: sa.RowMapping) -> MatchRow:
    """Return a row of the table as the dataclass; of one that is damaged little more than that."""
    what = damage(matches, row)
    if what:
        _LOG.error("the row of match %s is damaged: %s", row["id"], what)
        created_ms = row["created_ms"]
        is_known = type(created_ms) is int and 0 <= created_ms <= MAX_MS
        return MatchRow(row["id"], "", "", NO_ORDER, created_ms if is_known else 0, MatchStatus.FAILED, damage=what)
    goals = row["goals"]
    purpose = None if row["purpose"] is None else MatchPurpose(row["purpose"])
    read = {"status": MatchStatus(row["status"]), "goals": None if goals is None else tuple(goals), "purpose": purpose}
    return MatchRow(**{**row, **read})


def _seat_row(row: sa.RowMapping) -> SeatRow:
    what = damage(seats, row)
    if what:
        _LOG.error("a seat of match %s is damaged: %s", row["match_id"], what)
        return SeatRow(row["match_id"], row["role"], 0, DAMAGED, SeatKind.UNKNOWN)
    kind = SeatKind(row["kind"]) if row["kind"] in tuple(SeatKind) else SeatKind.UNKNOWN
    return SeatRow(**{**row, "kind": kind})
