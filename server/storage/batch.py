"""The transaction that writes what waits of matches: events, how far they are, how they ended.

The statements are those of SQLAlchemy, but for what happens at every step of every match: that is written with the
driver of the database (`raw_sql`).
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Final, TypeVar

import sqlalchemy as sa

from server.records import entries
from server.storage.database import Database
from server.storage.errors import JournalGapError, LostMatchError, StorageError
from server.storage.journals import packed
from server.storage.match_changes import MatchChanges, MatchEnding, match_values, seat_values, summary_of
from server.storage.raw_sql import SqliteTransaction, write_steps
from server.storage.rows import MatchStatus, MatchSummary
from server.storage.schema import events, matches, records, seats

Part = TypeVar("Part", bound=MatchChanges)
_HELD: Final = (
    sa.select(matches.c.id, matches.c.status)
    .where(matches.c.id.in_(sa.bindparam("ids", expanding=True)), matches.c.holder == sa.bindparam("of_holder"))
    .order_by(matches.c.id)
    .with_for_update(key_share=True)
)
_LAST: Final = sa.select(
    matches.c.id,
    sa.func.coalesce(
        # For each match by itself, which costs one look at the end of its part of the index.
        sa.select(sa.func.max(events.c.number)).where(events.c.match_id == matches.c.id).scalar_subquery(),
        -1,
    ),
).where(matches.c.id.in_(sa.bindparam("ids", expanding=True)))
_PROGRESS: Final = (
    sa.update(matches)
    .where(matches.c.id == sa.bindparam("key"))
    .values(
        n_steps=sa.func.coalesce(sa.bindparam("n", type_=sa.Integer), matches.c.n_steps),
        n_errors=matches.c.n_errors + sa.bindparam("errors", type_=sa.Integer),
        started_ms=sa.func.coalesce(sa.bindparam("started", type_=sa.BigInteger), matches.c.started_ms),
    )
)
_ADD_EVENTS: Final = sa.insert(events)
_ADD_RECORDS: Final = sa.insert(records)
_FORGET_EVENTS: Final = sa.delete(events).where(events.c.match_id.in_(sa.bindparam("ids", expanding=True)))
_END: Final = sa.update(matches).where(matches.c.id == sa.bindparam("key"))
_SEAT_END: Final = sa.update(seats).where(
    seats.c.match_id == sa.bindparam("key"), seats.c.role == sa.bindparam("of_role")
)


def transactions(database: Database, parts: Iterable[Part]) -> list[list[Part]]:
    """Return *parts* as those of one transaction each: what is written otherwise than at every step has its own."""
    by_way: tuple[list[Part], list[Part]] = ([], [])
    for part in parts:
        by_way[part.needs_events if database.is_sqlite else part.ending is not None].append(part)
    return [found for found in by_way if found]


async def write(
    database: Database, parts: Collection[MatchChanges], holder: str, *, is_repeated: bool
) -> dict[str, StorageError]:
    """Write *parts*, one of `transactions`, and return why some were left out: by match, the others are not affected.

    A part is left out where the match is not *holder*'s (`LostMatchError`), and where its first entry is not the next
    one of the journal (`JournalGapError`): whatever happened before, a journal has no gaps.

    Raises:
        StorageError: the database failed; nothing was written, or (as when the connection broke at the end) everything
            was, which *is_repeated* allows for.
    """
    by_match = {part.match_id: part for part in parts}
    if not is_repeated and database.is_sqlite and not any(part.needs_events for part in parts):
        return await database.write_driver(SqliteTransaction(database.name, by_match, holder))
    if not is_repeated and not database.is_sqlite and all(part.ending is None for part in parts):
        return await write_steps(database, parts, holder)
    return await database.write(_Transaction(database, by_match, holder, is_repeated))


class _Transaction:
    """One transaction that writes *parts*."""

    def __init__(self, database: Database, parts: dict[str, MatchChanges], holder: str, is_repeated: bool) -> None:
        self._name, self._parts, self._holder, self._is_repeated = database.name, parts, holder, is_repeated
        self._refused: dict[str, StorageError] = {}

    def __call__(self, connection: sa.Connection) -> dict[str, StorageError]:
        """Write the parts that may be written, and return why the others were left out."""
        in_hand = self._in_hand(connection)
        last = _last_numbers(connection, [part.match_id for part in in_hand])
        parts = [part for part in in_hand if self._is_next(connection, part, last[part.match_id])]
        rows = [row for part in parts for row in part.rows]
        if rows:
            connection.execute(_ADD_EVENTS, rows)
        progress = [part.progress for part in parts if part.progress is not None]
        if progress:
            connection.execute(_PROGRESS, progress)
        _end(connection, {part.match_id: part.ending for part in parts if part.ending is not None})
        return self._refused

    def _in_hand(self, connection: sa.Connection) -> list[MatchChanges]:
        """Return the parts of matches that the holder plays; they stay so until the transaction ends."""
        found = connection.execute(_HELD, {"ids": list(self._parts), "of_holder": self._holder})
        held: dict[str, str] = dict(found.all())
        for match_id in self._parts:
            # What was committed before, unnoticed, may have been the end of the match.
            if held.get(match_id) != MatchStatus.RUNNING and not (self._is_repeated and match_id in held):
                self._refused[match_id] = LostMatchError(self._name, match_id)
        return [part for part in self._parts.values() if held.get(part.match_id) == MatchStatus.RUNNING]

    def _is_next(self, connection: sa.Connection, part: MatchChanges, last: int) -> bool:
        """Return whether a part is to be written now: its entries follow event *last*, and are not there already."""
        if part.follows(last):
            return True
        if not (self._is_repeated and _has_rows(connection, part)):
            self._refused[part.match_id] = JournalGapError(self._name, part.match_id, last, part.numbers[0])
        return False


def _last_numbers(connection: sa.Connection, match_ids: Collection[str]) -> dict[str, int]:
    """Return the number of the last event of each match, -1 where there is none.

    Asked for when the matches are locked: on PostgreSQL a statement sees what was committed before it began.
    """
    return dict(connection.execute(_LAST, {"ids": list(match_ids)}).all()) if match_ids else {}


def _has_rows(connection: sa.Connection, part: MatchChanges) -> bool:
    """Return whether the journal has these very entries: a part was committed as a whole, or not at all."""
    numbers = part.numbers
    query = sa.select(events.c.number, events.c.body).where(events.c.match_id == part.match_id)
    query = query.where(events.c.number.between(min(numbers), max(numbers)))
    return dict(connection.execute(query).all()) == {row["number"]: row["body"] for row in part.rows}


def _end(connection: sa.Connection, endings: dict[str, MatchEnding]) -> None:
    """Move the events of ended matches into their records, and write the results of matches and seats."""
    if not endings:
        return
    bodies = {key: ending.body for key, ending in endings.items() if ending.body is not None}
    bodies |= _bodies(connection, endings.keys() - bodies.keys())
    rows = [{"match_id": key, "body": bodies[key], "signature": ending.signature} for key, ending in endings.items()]
    connection.execute(_ADD_RECORDS, rows)
    connection.execute(_FORGET_EVENTS, {"ids": list(endings)})
    connection.execute(_END, [match_values(key, ending.summary) for key, ending in endings.items()])
    results = [row for key, ending in endings.items() for row in seat_values(key, ending.summary)]
    if results:
        connection.execute(_SEAT_END, results)


def _bodies(connection: sa.Connection, match_ids: Collection[str]) -> dict[str, bytes]:
    """Return what the records of the matches keep, made of their events."""
    if not match_ids:
        return {}
    lines: dict[str, list[str]] = {match_id: [] for match_id in match_ids}
    query = sa.select(events.c.match_id, events.c.body).where(events.c.match_id.in_(match_ids))
    for match_id, body in connection.execute(query.order_by(events.c.match_id, events.c.number)):
        lines[match_id].append(body)
    return {match_id: packed(found) for match_id, found in lines.items()}


def fail(connection: sa.Connection, match_id: str, journal: Sequence[entries.Entry], reason: str, at_ms: int) -> None:
    """End a match as failed; its record is made of *journal*, which is all of it, and of that end."""
    step = max(
        (entry.step for entry in journal if not isinstance(entry, (entries.StartedEntry, entries.ClosedEntry))),
        default=0,
    )
    has_ended = any(isinstance(entry, entries.EndEntry) for entry in journal)
    end = entries.FailedEntry(at_ms, step, reason)
    part = MatchChanges(match_id)
    added: tuple[entries.Entry, ...] = (entries.ClosedEntry(at_ms),) if has_ended else (end, entries.ClosedEntry(at_ms))
    for number, entry in enumerate(added if journal else (), len(journal)):
        part.add(number, entry)
    if part.rows:
        connection.execute(sa.insert(events), part.rows)
    try:
        summary = summary_of([*journal, *([] if has_ended else [end])])
    except LookupError:  # entries that make no sense together, which may be why it failed
        summary = MatchSummary(MatchStatus.FAILED, at_ms, step, 0, None, {})
    connection.execute(sa.delete(records).where(records.c.match_id == match_id))
    _end(connection, {match_id: MatchEnding(summary, None)})
