"""The matches: what was ordered, who plays which seat, who holds which match, and how they went."""

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

import sqlalchemy as sa

from server.clock import now_ms
from server.errors import TooManyMatchesError, UnknownMatchError
from server.storage import batch, journals
from server.storage.database import Database
from server.storage.errors import DamagedRowError
from server.storage.integrity import MAX_MS, damage
from server.storage.match_queries import ALL_MATCHES, IS_WITHHELD, MATCH_ROWS, MatchFilter, page_query
from server.storage.rows import (
    LIVE_STATUSES,
    NO_ORDER,
    WAITING_STATUSES,
    MatchPurpose,
    MatchRow,
    MatchStatus,
    SeatKind,
    SeatRow,
)
from server.storage.schema import games, matches, seats

_HOLDING: Final = matches.c.status == MatchStatus.RUNNING
DAMAGED: Final = "damaged"
"""The player of a seat whose row is damaged."""
_LOG: Final = logging.getLogger(__name__)
_BUSY: Final = (
    sa.select(seats.c.player, sa.func.count(matches.c.id.distinct()))
    .select_from(matches.join(seats))
    .where(_HOLDING)
    .group_by(seats.c.player)
)
N_WAITING: Final = sa.select(sa.func.count()).select_from(matches).where(matches.c.status.in_(WAITING_STATUSES))
"""How many matches wait, for people or for players."""
_IS_CURRENT: Final = sa.select(sa.literal(1)).where(
    games.c.name == sa.bindparam("of_game"), games.c.sha256 == sa.bindparam("of_rules")
)
_ADD_MATCH: Final = sa.insert(matches)
_ADD_SEAT: Final = sa.insert(seats)
_FREE: Final[dict[str, object]] = {"holder": None, "lease_until_ms": None}


class MatchStore:
    """The matches of a database; *clock_ms* tells the time of day, by which leases run out."""

    def __init__(self, database: Database, clock_ms: Callable[[], int] = now_ms) -> None:
        self._database, self._clock_ms = database, clock_ms

    async def add_all(
        self,
        found: Collection[tuple[MatchRow, Sequence[SeatRow]]],
        max_waiting: int,
        *,
        must_be_current: bool,
    ) -> bool:
        """Keep new matches, each with its seats, all of them or none, and return whether that was done.

        It is not where their rules *must_be_current*, and those of a game are others by now.

        Raises:
            TooManyMatchesError: more than *max_waiting* matches would wait.
            StorageError: there is one with such an id.
        """

        def added(connection: sa.Connection) -> bool:
            if (connection.scalar(N_WAITING) or 0) + len(found) > max_waiting:
                raise TooManyMatchesError(max_waiting)
            if must_be_current and not all(_is_current(connection, match) for match, _ in found):
                return False
            for match, seat_rows in found:
                add_match(connection, match, seat_rows)
            return True

        return await self._database.write(added)

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
        found = await self._database.rows(MATCH_ROWS.where(matches.c.id == match_id))
        return match_row(found[0]) if found else None

    async def of_ids(self, match_ids: Collection[str]) -> list[MatchRow]:
        """Return those of the matches that there are, as `find` does."""
        if not match_ids:
            return []
        return list(map(match_row, await self._database.rows(MATCH_ROWS.where(matches.c.id.in_(match_ids)))))

    async def has(self, match_id: str) -> bool:
        """Return whether there is such a match."""
        return await self._database.scalar(sa.select(sa.literal(1)).where(matches.c.id == match_id)) is not None

    async def seats(self, match_ids: Collection[str]) -> dict[str, tuple[SeatRow, ...]]:
        """Return the seats of each of the matches, in the order of the roles."""
        columns = [seats.c[name] for name in SeatRow.__slots__]
        query = sa.select(*columns).where(seats.c.match_id.in_(match_ids)).order_by(seats.c.match_id, seats.c.position)
        found: dict[str, list[SeatRow]] = {match_id: [] for match_id in match_ids}
        for row in await self._database.rows(query):
            found.setdefault(row["match_id"], []).append(_seat_row(row))
        return {match_id: tuple(rows) for match_id, rows in found.items()}

    async def listed(
        self, wanted: MatchFilter = ALL_MATCHES, *, before: str | None = None, limit: int = 50
    ) -> list[MatchRow]:
        """Return up to *limit* matches that are as *wanted*, the newest first.

        *before* is the id of the last match of the page before.

        Raises:
            UnknownMatchError: there is no match with the id *before*.
        """
        place = None
        if before is not None:
            found = await self._database.scalars(sa.select(matches.c.created_ms).where(matches.c.id == before))
            if not found:
                raise UnknownMatchError(before)
            place = (found[0], before)
        query = page_query(wanted, place, limit)
        return list(map(match_row, await self._database.rows(query)))

    async def queued(self, limit: int = 100) -> list[MatchRow]:
        """Return the matches that wait, for people or for players, the oldest first."""
        query = (
            MATCH_ROWS.where(matches.c.status.in_(WAITING_STATUSES))
            .order_by(matches.c.created_ms, matches.c.id)
            .limit(limit)
        )
        return list(map(match_row, await self._database.rows(query)))

    async def ended_since(self, time_ms: int, limit: int = 1_000) -> list[MatchRow]:
        """Return up to *limit* matches that ended at *time_ms* or later, the latest end first."""
        query = MATCH_ROWS.where(matches.c.ended_ms >= time_ms)
        query = query.order_by(matches.c.ended_ms.desc(), matches.c.id.desc()).limit(limit)
        return list(map(match_row, await self._database.rows(query)))

    async def withheld(self) -> set[str]:
        """Return the ids of the matches that are over and not public, since others with the same seeds are not over."""
        return set(await self._database.scalars(sa.select(matches.c.id).where(IS_WITHHELD)))

    async def busy(self, players: Collection[str] | None = None) -> dict[str, int]:
        """Return in how many matches that are played now each player has a seat; only those of *players*, if given."""
        if players is None:
            return await self._pairs(_BUSY)
        return await self._pairs(_BUSY.where(seats.c.player.in_(players))) if players else {}

    async def n_practised(self, ordered_by: str, since_ms: int) -> tuple[int, int]:
        """Return how many practice matches a party has ordered since then, and how many are not over, however old."""
        own = sa.select(sa.func.count()).where(
            matches.c.ordered_by == ordered_by, matches.c.purpose == MatchPurpose.PRACTICE
        )
        recent, live = matches.c.created_ms >= since_ms, matches.c.status.in_(LIVE_STATUSES)
        query = sa.select(*(own.where(condition).scalar_subquery() for condition in (recent, live)))
        n, n_live = await self._database.read(lambda connection: connection.execute(query).one())
        return int(n), int(n_live)

    async def fail(self, match_id: str, holder: str, reason: str) -> bool:
        """End a match that *holder* plays as failed, and tell it in its record; return whether it was *holder*'s.

        However damaged the match is, it is over then.
        """
        async with self._database.begin() as connection:
            if await connection.scalar(journals.held_match(match_id, holder)) is None:
                return False
            entries = (await journals.journal(await connection.run_sync(journals.stored_text, match_id))).entries
            await connection.run_sync(journals.cut, match_id, len(entries))
            await connection.run_sync(batch.fail, match_id, entries, reason, self._clock_ms())
            await connection.execute(sa.update(matches).where(matches.c.id == match_id).values(abort_reason=reason))
        return True

    async def take_over(self, holder: str, lease_s: float, n: int) -> list[str]:
        """Make up to *n* matches *holder*'s whose lease is over, and return their ids."""
        is_free = sa.func.coalesce(matches.c.lease_until_ms, 0) < self._clock_ms()
        oldest = sa.select(matches.c.id).where(_HOLDING, is_free).order_by(matches.c.created_ms, matches.c.id)
        chosen = oldest.limit(n).with_for_update(skip_locked=True)
        taking = sa.update(matches).where(matches.c.id.in_(chosen))
        taking = taking.values(began(holder, lease_s, self._clock_ms()))
        return sorted(row["id"] for row in await self._database.changed_rows(taking.returning(matches.c.id)))

    async def renew(self, holder: str, lease_s: float) -> set[str]:
        """Extend the lease of every match that *holder* plays, and return their ids: others are no longer its own."""
        extending = sa.update(matches).where(matches.c.holder == holder, _HOLDING)
        extending = extending.values(_lease(holder, lease_s, self._clock_ms()))

        def renewed(connection: sa.Connection) -> set[str]:
            found = locked(connection, matches.c.holder == holder, _HOLDING)
            connection.execute(extending)
            return set(found)

        return await self._database.write(renewed)

    async def release(self, match_ids: Collection[str], holder: str) -> int:
        """Let others go on at once with matches that *holder* plays; return how many matches that were."""
        if not match_ids:  # as most times that leases are renewed
            return 0
        return await self._free(matches.c.id.in_(match_ids), matches.c.holder == holder, _HOLDING)

    async def free_all(self) -> int:
        """Let every match that is played be taken over: for the one server of a SQLite file, when it starts."""
        return await self._free(_HOLDING)

    async def request_abort(self, match_id: str, reason: str) -> bool:
        """End a match that waits, or have its holder end one that is played; return False where it is over already."""
        at_ms = self._clock_ms()
        return await self._database.write(lambda it: abort_matches(it, {match_id: reason}, at_ms)) > 0

    async def abort_requests(self, holder: str) -> dict[str, str]:
        """Return the matches that *holder* plays and whose end was requested, each with the reason."""
        query = sa.select(matches.c.id, matches.c.abort_reason)
        query = query.where(matches.c.holder == holder, _HOLDING, matches.c.abort_reason.is_not(None))
        return await self._pairs(query)

    async def name_person(self, match_id: str, role: str, name: str) -> None:
        """Keep *name* as that of the person who plays *role*, unless there is one already."""

        def named(connection: sa.Connection) -> None:
            query = sa.select(matches.c.order).where(matches.c.id == match_id).with_for_update()
            order = connection.scalar(query)
            if order is not None and role not in order.get("people", {}):
                changed = order | {"people": order.get("people", {}) | {role: name}}
                connection.execute(sa.update(matches).where(matches.c.id == match_id).values(order=changed))

        await self._database.write(named)

    async def delete(self, match_id: str) -> bool:
        """Forget a match and all that is kept of it; return whether there was one."""
        return await self._database.change(sa.delete(matches).where(matches.c.id == match_id)) > 0

    async def _free(self, *conditions: sa.ColumnElement[bool]) -> int:
        def freed(connection: sa.Connection) -> int:
            locked(connection, *conditions)
            return connection.execute(sa.update(matches).where(*conditions).values(_FREE)).rowcount

        return await self._database.write(freed)

    async def _pairs(self, query: sa.Select[Any]) -> dict[str, Any]:
        """Return the two columns of a query, the second by the first."""
        return dict(await self._database.read(lambda connection: connection.execute(query).all()))


def _is_current(connection: sa.Connection, match: MatchRow) -> bool:
    rules = {"of_game": match.game, "of_rules": match.sha256}
    return connection.scalar(_IS_CURRENT, rules) is not None


def add_match(connection: sa.Connection, match: MatchRow, seat_rows: Sequence[SeatRow]) -> None:
    """Keep a new match and its seats within the transaction of *connection*."""
    also = {"game": match.game, "created_ms": match.created_ms}
    connection.execute(_ADD_MATCH, match.columns())
    if seat_rows:
        connection.execute(
            _ADD_SEAT, [{name: getattr(seat, name) for name in seat.__slots__} | also for seat in seat_rows]
        )


def abort_matches(connection: sa.Connection, reasons: Mapping[str, str], at_ms: int) -> int:
    """End those of the matches that wait, have those that are played ended; return how many were not over.

    *reasons* say why, by the id of each match.
    """
    locked(connection, matches.c.id.in_(reasons))
    by_reason: dict[str, list[str]] = defaultdict(list)
    for match_id, reason in reasons.items():
        by_reason[reason].append(match_id)
    return sum(_abort(connection, match_ids, reason, at_ms) for reason, match_ids in by_reason.items())


def _abort(connection: sa.Connection, match_ids: Collection[str], reason: str, at_ms: int) -> int:
    ended = {"status": MatchStatus.ABORTED, "ended_ms": at_ms, "abort_reason": reason}
    waiting = (
        sa.update(matches).where(matches.c.id.in_(match_ids), matches.c.status.in_(WAITING_STATUSES)).values(ended)
    )
    n_waiting = connection.execute(waiting).rowcount
    playing = sa.update(matches).where(matches.c.id.in_(match_ids), _HOLDING).values(abort_reason=reason)
    return n_waiting + connection.execute(playing).rowcount


def locked(connection: sa.Connection, *conditions: sa.ColumnElement[bool]) -> Sequence[str]:
    """Return the ids of the matches of which *conditions* are true, and keep them so until the transaction ends.

    Transactions that change several matches lock them first, in the order of their ids: where PostgreSQL finds them in
    another order, two that wait for each other would end by the failure of one.
    """
    found = sa.select(matches.c.id).where(*conditions).order_by(matches.c.id).with_for_update(key_share=True)
    return connection.scalars(found).all()


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
