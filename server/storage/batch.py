"""What waits to be written of matches, and the transaction that writes it: events, how far they are, how they ended.

The statements are those of SQLAlchemy, but for what happens on SQLite at every step of every match: that is written
with its driver (`DriverWriting`). The driver lets go of the interpreter's lock for each row that a statement takes or
gives, and then waits for it among all that the event loop does. So its statements are few, however many matches there
are: several rows are inserted by one, and matches are looked up, updated and ended by one, which gets them all as JSON.
The texts are the same each time.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

import sqlalchemy as sa

from server.errors import JournalGapError, LostMatchError, StorageError
from server.records import entries
from server.storage.database import Database
from server.storage.journals import line_of, packed, summary_of
from server.storage.rows import MatchStatus, MatchSummary
from server.storage.schema import events, matches, records, seats, storable


@dataclass(frozen=True, slots=True)
class MatchEnding:
    """How a match ended, the keys that sign its record if it is signed, and what the record keeps of its journal.

    Where `body` is None it is made of the events.
    """

    summary: MatchSummary
    signature: dict[str, str] | None
    body: bytes | None = None


@dataclass(slots=True)
class MatchPart:
    """What waits to be written of one match: entries in the order of their numbers, and its end if it has come."""

    match_id: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    progress: dict[str, Any] | None = None
    ending: MatchEnding | None = None

    @property
    def needs_events(self) -> bool:
        """Whether the record has to be made of the events that are in the database."""
        return self.ending is not None and self.ending.body is None

    def add(self, number: int, entry: entries.Entry, line: str | None = None) -> None:
        """Add an entry of the match's journal; *line* is what `line_of` makes of it, if that was made already."""
        self.rows.append(
            {
                "match_id": self.match_id,
                "number": number,
                "kind": entry.kind,
                "at_ms": entry.at_ms,
                "body": line_of(entry) if line is None else line,
                "step": None if isinstance(entry, (entries.StartedEntry, entries.ClosedEntry)) else entry.step,
                "role": storable(entry.role) if isinstance(entry, (entries.SentEntry, entries.AnsweredEntry)) else None,
            }
        )
        if isinstance(entry, (entries.StartedEntry, entries.StateEntry, entries.StepEntry)):
            self.progress = self.progress or {"key": self.match_id, "n": None, "errors": 0, "started": None}
            _count(self.progress, entry)


def _count(progress: dict[str, Any], entry: entries.StartedEntry | entries.StateEntry | entries.StepEntry) -> None:
    match entry:
        case entries.StateEntry():
            progress["n"] = entry.step
        case entries.StartedEntry():
            progress["started"] = entry.at_ms
        case entries.StepEntry():
            progress["errors"] += sum(error != "" for error in entry.errors)


def match_values(match_id: str, summary: MatchSummary) -> dict[str, Any]:
    """Return the columns of a match that has ended."""
    return {
        "key": match_id,
        "status": summary.status,
        "ended_ms": summary.ended_ms,
        "n_steps": summary.n_steps,
        "n_errors": summary.n_errors,
        "goals": None if summary.goals is None else list(summary.goals),
        "lease_until_ms": None,
    }


def seat_values(match_id: str, summary: MatchSummary) -> Iterator[dict[str, Any]]:
    """Yield the columns of the seats of a match that has ended."""
    for role, result in summary.seats.items():
        yield {
            "key": match_id,
            "of_role": role,
            "goal": result.goal,
            "n_errors": result.n_errors,
            "thinking_ms": result.thinking_ms,
            "n_moves": result.n_moves,
        }


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


async def write(
    database: Database, parts: Collection[MatchPart], holder: str, *, is_repeated: bool
) -> dict[str, StorageError]:
    """Write *parts* in one transaction, and return why some were left out: by match, the others are not affected.

    A part is left out where the match is not *holder*'s (`LostMatchError`), and where its first entry is not the next
    one of the journal (`JournalGapError`): whatever happened before, a journal has no gaps.

    Raises:
        StorageError: the database failed; nothing was written, or (as when the connection broke at the end) everything
            was, which *is_repeated* allows for.
    """
    by_match = {part.match_id: part for part in parts}
    if database.is_sqlite and not is_repeated and not any(part.needs_events for part in parts):
        return await database.write_driver(DriverWriting(database.name, by_match, holder))
    return await database.write(_Writing(database, by_match, holder, is_repeated))


class _Writing:
    """One transaction that writes *parts*."""

    def __init__(self, database: Database, parts: dict[str, MatchPart], holder: str, is_repeated: bool) -> None:
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

    def _in_hand(self, connection: sa.Connection) -> list[MatchPart]:
        """Return the parts of matches that the holder plays; they stay so until the transaction ends."""
        found = connection.execute(_HELD, {"ids": list(self._parts), "of_holder": self._holder})
        held: dict[str, str] = dict(found.all())
        for match_id in self._parts:
            # What was committed before, unnoticed, may have been the end of the match.
            if held.get(match_id) != MatchStatus.RUNNING and not (self._is_repeated and match_id in held):
                self._refused[match_id] = LostMatchError(self._name, match_id)
        return [part for part in self._parts.values() if held.get(part.match_id) == MatchStatus.RUNNING]

    def _is_next(self, connection: sa.Connection, part: MatchPart, last: int) -> bool:
        """Return whether a part is to be written now: its entries follow event *last*, and are not there already."""
        numbers = [row["number"] for row in part.rows]
        if numbers == list(range(last + 1, last + 1 + len(numbers))):
            return True
        if not (self._is_repeated and _has_rows(connection, part)):
            self._refused[part.match_id] = JournalGapError(self._name, part.match_id, last, numbers[0])
        return False


def _last_numbers(connection: sa.Connection, match_ids: Collection[str]) -> dict[str, int]:
    """Return the number of the last event of each match, -1 where there is none.

    Asked for when the matches are locked: on PostgreSQL a statement sees what was committed before it began.
    """
    return dict(connection.execute(_LAST, {"ids": list(match_ids)}).all()) if match_ids else {}


def _has_rows(connection: sa.Connection, part: MatchPart) -> bool:
    """Return whether the journal has these very entries: a part was committed as a whole, or not at all."""
    numbers = [row["number"] for row in part.rows]
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
    part = MatchPart(match_id)
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


_MAX_ROWS: Final = 128
"""How many rows one statement inserts at most; they keep to the 999 variables that any SQLite allows."""


class _Insert:
    """Inserts rows into *table*, as many as can be by each statement."""

    def __init__(self, table: sa.Table) -> None:
        self._names = tuple(column.name for column in table.columns)
        self._begin = f"INSERT INTO {table.name} ({', '.join(self._names)}) VALUES "  # noqa: S608 -- names of the schema
        self._row = f"({', '.join('?' * len(self._names))})"
        self._texts: dict[int, str] = {}

    def __call__(self, connection: sqlite3.Connection, rows: Iterable[Mapping[str, Any]]) -> None:
        """Insert *rows*, which have a value for each column."""
        values = [row[name] for row in rows for name in self._names]
        n_most = _MAX_ROWS * len(self._names)
        for begin in range(0, len(values), n_most):
            part = values[begin : begin + n_most]
            connection.execute(self._text(len(part) // len(self._names)), part)

    def _text(self, n_rows: int) -> str:
        """Return the statement that inserts so many rows; the same text each time, which the driver has prepared."""
        if n_rows not in self._texts:
            self._texts[n_rows] = self._begin + ", ".join([self._row] * n_rows)
        return self._texts[n_rows]


_INSERT_EVENTS: Final = _Insert(events)
_INSERT_RECORDS: Final = _Insert(records)
_HELD_TEXT: Final = """
    SELECT json_group_array(json_array(
        id, status, (SELECT coalesce(max(number), -1) FROM events WHERE match_id = matches.id)
    ))
    FROM matches WHERE id IN (SELECT value FROM json_each(?)) AND +holder = ?
"""
"""The plus sign keeps SQLite from the index of holders, which would lead through all matches that are played."""
_ADVANCE_TEXT: Final = """
    UPDATE matches SET
        n_steps = coalesce(json_extract(part.value, '$.n'), n_steps),
        n_errors = n_errors + json_extract(part.value, '$.errors'),
        started_ms = coalesce(json_extract(part.value, '$.started'), started_ms)
    FROM json_each(?) AS part WHERE matches.id = json_extract(part.value, '$.key')
"""
_FORGET_EVENTS_TEXT: Final = "DELETE FROM events WHERE match_id IN (SELECT value FROM json_each(?))"
_END_MATCHES_TEXT: Final = """
    UPDATE matches SET
        status = json_extract(part.value, '$.status'),
        ended_ms = json_extract(part.value, '$.ended_ms'),
        n_steps = json_extract(part.value, '$.n_steps'),
        n_errors = json_extract(part.value, '$.n_errors'),
        goals = json_extract(part.value, '$.goals'),
        lease_until_ms = NULL
    FROM json_each(?) AS part WHERE matches.id = json_extract(part.value, '$.key')
"""
_END_SEATS_TEXT: Final = """
    UPDATE seats SET
        goal = json_extract(part.value, '$.goal'),
        n_errors = json_extract(part.value, '$.n_errors'),
        thinking_ms = json_extract(part.value, '$.thinking_ms'),
        n_moves = json_extract(part.value, '$.n_moves')
    FROM json_each(?) AS part
    WHERE match_id = json_extract(part.value, '$.key') AND role = json_extract(part.value, '$.of_role')
"""


class DriverWriting:
    """One transaction that writes *parts* that do not need the events in the database; *holder* plays the matches.

    *name* is that of the database, for errors.
    """

    def __init__(self, name: str, parts: Mapping[str, MatchPart], holder: str) -> None:
        self._name, self._parts, self._holder = name, parts, holder

    def __call__(self, connection: sqlite3.Connection) -> dict[str, StorageError]:
        """Write the parts that may be written, and return why the others were left out.

        Raises:
            sqlite3.Error: the database failed, or refuses something of a part.
        """
        held, refused = self._held(connection), dict[str, StorageError]()
        written: list[MatchPart] = []
        for match_id, part in self._parts.items():
            error = self._refusal(part, held.get(match_id))
            if error is None:
                written.append(part)
            else:
                refused[match_id] = error
        # The events of a match that has ended are in its record.
        _INSERT_EVENTS(connection, chain.from_iterable(part.rows for part in written if part.ending is None))
        _with_all(connection, _ADVANCE_TEXT, [part.progress for part in written if part.progress is not None])
        _end_by_texts(connection, [part for part in written if part.ending is not None])
        return refused

    def _held(self, connection: sqlite3.Connection) -> dict[str, tuple[str, int]]:
        """Return the status of the matches that the holder plays, and the number of the last event of each."""
        (found,) = connection.execute(_HELD_TEXT, (json.dumps(list(self._parts)), self._holder)).fetchone()
        return {match_id: (status, last) for match_id, status, last in json.loads(found)}

    def _refusal(self, part: MatchPart, held: tuple[str, int] | None) -> StorageError | None:
        """Return why *part* must not be written: its match is lost, or its first entry is not the next one."""
        if held is None or held[0] != MatchStatus.RUNNING:
            return LostMatchError(self._name, part.match_id)
        numbers, last = [row["number"] for row in part.rows], held[1]
        if numbers != list(range(last + 1, last + 1 + len(numbers))):
            return JournalGapError(self._name, part.match_id, last, numbers[0])
        return None


def _with_all(connection: sqlite3.Connection, statement: str, values: Sequence[object]) -> None:
    """Carry out *statement* with all *values*, if there are any."""
    if values:
        connection.execute(statement, (json.dumps(values),))


def _end_by_texts(connection: sqlite3.Connection, parts: Sequence[MatchPart]) -> None:
    """Put the records of ended matches in the place of their events, and write the results of matches and seats."""
    if not parts:
        return
    ended = {part.match_id: part.ending for part in parts if part.ending is not None}
    _INSERT_RECORDS(
        connection,
        (
            {
                "match_id": key,
                "body": ending.body,
                "signature": None if ending.signature is None else json.dumps(ending.signature),
            }
            for key, ending in ended.items()
        ),
    )
    _with_all(connection, _FORGET_EVENTS_TEXT, list(ended))
    _with_all(connection, _END_MATCHES_TEXT, [match_values(key, ending.summary) for key, ending in ended.items()])
    seats = [row for key, ending in ended.items() for row in seat_values(key, ending.summary)]
    _with_all(connection, _END_SEATS_TEXT, [row | {"of_role": storable(row["of_role"])} for row in seats])
