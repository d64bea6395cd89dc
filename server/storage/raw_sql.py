"""The raw SQL of what is written at every step of every match: few statements, always the same, for the drivers.

The driver of SQLite lets go of the interpreter's lock for each row that a statement takes or gives, and then waits for
it among all that the event loop does. So its statements are few, however many matches there are: several rows are
inserted by one, and matches are looked up, updated and ended by one, which gets them all as JSON. PostgreSQL gets all
that happened at once in one statement, which is a transaction by itself: each answer of the server is waited for.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import sqlalchemy as sa

from server.storage.database import Database
from server.storage.errors import JournalGapError, LostMatchError, StorageError
from server.storage.match_changes import MatchChanges, match_values, seat_values
from server.storage.rows import MatchStatus
from server.storage.schema import events, records, storable

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


class SqliteTransaction:
    """One transaction that writes *parts* that do not need the events in the database; *holder* plays the matches.

    *name* is that of the database, for errors.
    """

    def __init__(self, name: str, parts: Mapping[str, MatchChanges], holder: str) -> None:
        self._name, self._parts, self._holder = name, parts, holder

    def __call__(self, connection: sqlite3.Connection) -> dict[str, StorageError]:
        """Write the parts that may be written, and return why the others were left out.

        Raises:
            sqlite3.Error: the database failed, or refuses something of a part.
        """
        held, refused = self._held(connection), dict[str, StorageError]()
        written: list[MatchChanges] = []
        for match_id, part in self._parts.items():
            error = _refusal(self._name, part, held.get(match_id))
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


def _refusal(name: str, part: MatchChanges, held: tuple[str, int] | None) -> StorageError | None:
    """Return why *part* must not be written: its match is lost, or its first entry is not the next one."""
    if held is None or held[0] != MatchStatus.RUNNING:
        return LostMatchError(name, part.match_id)
    last = held[1]
    return None if part.follows(last) else JournalGapError(name, part.match_id, last, part.numbers[0])


def _with_all(connection: sqlite3.Connection, statement: str, values: Sequence[object]) -> None:
    """Carry out *statement* with all *values*, if there are any."""
    if values:
        connection.execute(statement, (json.dumps(values),))


def _end_by_texts(connection: sqlite3.Connection, parts: Sequence[MatchChanges]) -> None:
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


_STEPS_TEXT: Final = """
    WITH part AS (
        SELECT * FROM unnest($1::text[], $2::integer[], $3::integer[], $4::integer[], $5::bigint[])
        AS part (id, first, n, errors, started)
    ), held AS (
        SELECT id, status, (SELECT coalesce(max(number), -1) FROM events WHERE match_id = matches.id) AS last
        FROM matches WHERE id = ANY ($1) AND holder = $6 ORDER BY id FOR NO KEY UPDATE
    ), next AS (
        SELECT part.* FROM part JOIN held USING (id) WHERE status = 'running' AND first = last + 1
    ), added AS (
        INSERT INTO events (match_id, number, kind, at_ms, step, role, body)
        SELECT new.* FROM unnest(
            $7::text[], $8::integer[], $9::text[], $10::bigint[], $11::integer[], $12::text[], $13::text[]
        ) AS new (match_id, number, kind, at_ms, step, role, body) JOIN next ON match_id = id
    ), advanced AS (
        UPDATE matches SET
            n_steps = coalesce(n, n_steps), n_errors = n_errors + errors, started_ms = coalesce(started, started_ms)
        FROM next WHERE matches.id = next.id AND errors IS NOT NULL
    )
    SELECT id, status, last FROM held
"""
"""What `last` is was committed before the statement began, which may wait for a match; yet the journal stays whole.

Only its holder adds to it, so it has no more by then, or the match has another holder, or the number is there already.
"""
_EVENT_COLUMNS: Final = ("match_id", "number", "kind", "at_ms", "step", "role", "body")


def _first(part: MatchChanges) -> int | None:
    """Return the first number of *part*; None, which follows on no number, where there is a gap between them."""
    first = part.numbers[0]
    return first if part.follows(first - 1) else None


async def write_steps(database: Database, parts: Collection[MatchChanges], holder: str) -> dict[str, StorageError]:
    """Write *parts* of matches that go on to PostgreSQL, and return why some were left out; *holder* plays the matches.

    Raises:
        StorageError: the database failed, or refuses something of a part; nothing was written.
    """
    progress = [part.progress or {"n": None, "errors": None, "started": None} for part in parts]
    found = await database.fetch(
        _STEPS_TEXT,
        [part.match_id for part in parts],
        [_first(part) for part in parts],
        *([each[key] for each in progress] for key in ("n", "errors", "started")),
        holder,
        *([row[name] for part in parts for row in part.rows] for name in _EVENT_COLUMNS),
    )
    held = {match_id: (status, last) for match_id, status, last in found}
    refused = {part.match_id: _refusal(database.name, part, held.get(part.match_id)) for part in parts}
    return {match_id: error for match_id, error in refused.items() if error is not None}
