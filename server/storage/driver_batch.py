"""What one transaction writes of many matches, with the driver of SQLite: what happens at every step of every match.

The driver lets go of the interpreter's lock for each row that a statement takes or gives, and then waits for it among
all that the event loop does. So the statements are few, however many matches there are: several rows are inserted by
one, and matches are looked up, updated and ended by one, which gets them all as JSON. The texts are the same each time.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import sqlalchemy as sa

from server.errors import JournalGapError, LostMatchError, StorageError
from server.storage.parts import MatchPart, match_values, seat_values
from server.storage.rows import MatchStatus
from server.storage.schema import events, records, storable

_N_ROWS: Final = tuple(1 << i for i in reversed(range(8)))
"""How many rows one statement inserts; the most keep to the 999 variables that any SQLite allows."""


class _Insert:
    """Inserts rows into *table*, many by each statement."""

    def __init__(self, table: sa.Table) -> None:
        self._names = tuple(column.name for column in table.columns)
        row = f"({', '.join('?' * len(self._names))})"
        begin = f"INSERT INTO {table.name} ({', '.join(self._names)}) VALUES "  # noqa: S608 -- names of the schema
        self._texts = {n_rows: begin + ", ".join([row] * n_rows) for n_rows in _N_ROWS}

    def __call__(self, connection: sqlite3.Connection, rows: Iterable[Mapping[str, Any]]) -> None:
        """Insert *rows*, which have a value for each column."""
        values = [row[name] for row in rows for name in self._names]
        begin = 0
        for n_rows, text in self._texts.items():
            n_values = n_rows * len(self._names)
            while len(values) - begin >= n_values:
                connection.execute(text, values[begin : begin + n_values])
                begin += n_values


_INSERT_EVENTS: Final = _Insert(events)
_INSERT_RECORDS: Final = _Insert(records)
_HELD: Final = """
    SELECT json_group_array(json_array(
        id, status, (SELECT coalesce(max(number), -1) FROM events WHERE match_id = matches.id)
    ))
    FROM matches WHERE id IN (SELECT value FROM json_each(?)) AND holder = ?
"""
_ADVANCE: Final = """
    UPDATE matches SET
        n_steps = coalesce(json_extract(part.value, '$.n'), n_steps),
        n_errors = n_errors + json_extract(part.value, '$.errors'),
        started_ms = coalesce(json_extract(part.value, '$.started'), started_ms)
    FROM json_each(?) AS part WHERE matches.id = json_extract(part.value, '$.key')
"""
_FORGET_EVENTS: Final = "DELETE FROM events WHERE match_id IN (SELECT value FROM json_each(?))"
_END_MATCHES: Final = """
    UPDATE matches SET
        status = json_extract(part.value, '$.status'),
        ended_ms = json_extract(part.value, '$.ended_ms'),
        n_steps = json_extract(part.value, '$.n_steps'),
        n_errors = json_extract(part.value, '$.n_errors'),
        goals = json_extract(part.value, '$.goals'),
        lease_until_ms = NULL
    FROM json_each(?) AS part WHERE matches.id = json_extract(part.value, '$.key')
"""
_END_SEATS: Final = """
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
        _with_all(connection, _ADVANCE, [part.progress for part in written if part.progress is not None])
        _end(connection, [part for part in written if part.ending is not None])
        return refused

    def _held(self, connection: sqlite3.Connection) -> dict[str, tuple[str, int]]:
        """Return the status of the matches that the holder plays, and the number of the last event of each."""
        (found,) = connection.execute(_HELD, (json.dumps(list(self._parts)), self._holder)).fetchone()
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


def _end(connection: sqlite3.Connection, parts: Sequence[MatchPart]) -> None:
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
    _with_all(connection, _FORGET_EVENTS, list(ended))
    _with_all(connection, _END_MATCHES, [match_values(key, ending.summary) for key, ending in ended.items()])
    seats = [row for key, ending in ended.items() for row in seat_values(key, ending.summary)]
    _with_all(connection, _END_SEATS, [row | {"of_role": storable(row["of_role"])} for row in seats])
