"""What one transaction writes of many matches: events, how far the matches are, and matches that are over."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import sqlalchemy as sa

from server.records.entries import Entry
from server.storage.database import Database
from server.storage.journals import line_of, packed
from server.storage.rows import RUNNING, MatchSummary
from server.storage.schema import events, matches, records, seats
from server.storage.upserts import Insert, insert

_HELD: Final = (
    sa.select(matches.c.id, matches.c.status)
    .where(matches.c.id.in_(sa.bindparam("ids", expanding=True)), matches.c.holder == sa.bindparam("of_holder"))
    .order_by(matches.c.id)
    .with_for_update(key_share=True)
)
_PROGRESS: Final = (
    sa.update(matches)
    .where(matches.c.id == sa.bindparam("key"))
    .values(
        n_steps=sa.func.coalesce(sa.bindparam("n", type_=sa.Integer), matches.c.n_steps),
        n_errors=matches.c.n_errors + sa.bindparam("errors", type_=sa.Integer),
        started_ms=sa.func.coalesce(sa.bindparam("started", type_=sa.BigInteger), matches.c.started_ms),
    )
)
_END: Final = sa.update(matches).where(matches.c.id == sa.bindparam("key"))
_SEAT_END: Final = sa.update(seats).where(
    seats.c.match_id == sa.bindparam("key"), seats.c.role == sa.bindparam("of_role")
)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a match ended, and the keys that sign its record if it is signed."""

    summary: MatchSummary
    signature: dict[str, str] | None


@dataclass(slots=True)
class Batch:
    """What waits to be written, by match."""

    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    progress: dict[str, dict[str, Any]] = field(default_factory=dict)
    endings: dict[str, Ending] = field(default_factory=dict)
    n_events: int = 0

    def add(self, match_id: str, number: int, entry: Entry) -> None:
        """Add an entry of a match's journal."""
        kind = entry["event"]
        row = {"match_id": match_id, "number": number, "kind": kind, "at_ms": entry["at"], "body": line_of(entry)}
        row |= {"step": entry.get("step"), "role": entry.get("role")}
        self.rows.setdefault(match_id, []).append(row)
        self.n_events += 1
        if kind in ("started", "state", "step"):
            made = {"key": match_id, "n": None, "errors": 0, "started": None}
            _count(self.progress.setdefault(match_id, made), entry)

    def end(self, match_id: str, ending: Ending) -> None:
        """Close a match when its entries are written."""
        self.rows.setdefault(match_id, [])
        self.endings[match_id] = ending

    def drop(self, match_id: str) -> None:
        """Leave out a match."""
        for table in (self.rows, self.progress, self.endings):
            table.pop(match_id, None)

    def parts(self) -> Iterator[Batch]:
        """Yield a batch for each match, so that the fault of one is not that of the others."""
        for match_id, rows in self.rows.items():
            part = Batch({match_id: rows}, n_events=len(rows))
            if match_id in self.progress:
                part.progress[match_id] = self.progress[match_id]
            if match_id in self.endings:
                part.endings[match_id] = self.endings[match_id]
            yield part


def _count(progress: dict[str, Any], entry: Entry) -> None:
    if entry["event"] == "state":
        progress["n"] = entry["step"]
    elif entry["event"] == "started":
        progress["started"] = entry["at"]
    else:
        progress["errors"] += sum(error != "" for error in entry["errors"])


async def write(database: Database, batch: Batch, holder: str, *, is_repeated: bool) -> frozenset[str]:
    """Write *batch* in one transaction and return the ids of the matches that are not *holder*'s, which are left out.

    Raises:
        StorageError: the database failed; nothing was written, or (as when the connection broke at the end) everything
            was, which *is_repeated* allows for.
    """
    return await database.write(partial(_write, insert(database, events), batch, holder, is_repeated))


def _write(
    inserting: Insert, batch: Batch, holder: str, is_repeated: bool, connection: sa.Connection
) -> frozenset[str]:
    held = _held(connection, batch.rows.keys(), holder)
    running = [match_id for match_id in batch.rows if held.get(match_id) == RUNNING]
    rows = [row for match_id in running for row in batch.rows[match_id]]
    if rows:
        connection.execute(inserting.on_conflict_do_nothing() if is_repeated else inserting, rows)
    progress = [batch.progress[match_id] for match_id in running if match_id in batch.progress]
    if progress:
        connection.execute(_PROGRESS, progress)
    _end(connection, {key: ending for key, ending in batch.endings.items() if key in running})
    return frozenset(batch.rows.keys() - (held.keys() if is_repeated else set(running)))


def _held(connection: sa.Connection, match_ids: Collection[str], holder: str) -> dict[str, str]:
    """Return the status of the matches that are *holder*'s; nobody else can take them before the transaction ends."""
    return dict(connection.execute(_HELD, {"ids": list(match_ids), "of_holder": holder}).all())


def _end(connection: sa.Connection, endings: dict[str, Ending]) -> None:
    if not endings:
        return
    lines: dict[str, list[str]] = {match_id: [] for match_id in endings}
    query = sa.select(events.c.match_id, events.c.body).where(events.c.match_id.in_(endings))
    for match_id, body in connection.execute(query.order_by(events.c.match_id, events.c.number)):
        lines[match_id].append(body)
    rows = [
        {"match_id": key, "body": packed(lines[key]), "signature": ending.signature} for key, ending in endings.items()
    ]
    connection.execute(sa.insert(records), rows)
    connection.execute(sa.delete(events).where(events.c.match_id.in_(endings)))
    connection.execute(_END, [_match_values(key, ending.summary) for key, ending in endings.items()])
    results = [row for key, ending in endings.items() for row in _seat_values(key, ending.summary)]
    if results:
        connection.execute(_SEAT_END, results)


def _match_values(match_id: str, summary: MatchSummary) -> dict[str, Any]:
    return {
        "key": match_id,
        "status": summary.status,
        "ended_ms": summary.ended_ms,
        "n_steps": summary.n_steps,
        "n_errors": summary.n_errors,
        "goals": None if summary.goals is None else list(summary.goals),
        "lease_until_ms": None,
    }


def _seat_values(match_id: str, summary: MatchSummary) -> Iterator[dict[str, Any]]:
    for role, result in summary.seats.items():
        yield {
            "key": match_id,
            "of_role": role,
            "goal": result.goal,
            "n_errors": result.n_errors,
            "thinking_ms": result.thinking_ms,
            "n_moves": result.n_moves,
        }
