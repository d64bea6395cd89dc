"""Journals in the database: entries as lines, what is read of them, and what is left of a damaged one."""

import asyncio
import json
import logging
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

import sqlalchemy as sa
from cachetools import LRUCache

from server.records.codec import entry_json, read_entry
from server.records.entries import Entry, StartedEntry, StateEntry, StepEntry
from server.records.errors import MatchRecordError
from server.storage.database import Database
from server.storage.errors import DamagedRowError, LostMatchError
from server.storage.integrity import sound
from server.storage.rows import MatchStatus
from server.storage.schema import events, matches, records, versions

Value = TypeVar("Value")
Found = TypeVar("Found")
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))
_N_RULES: Final = 64
"""The texts of how many rules are kept for the next journal."""
_LOG: Final = logging.getLogger(__name__)
_LONG: Final = 100_000
"""From so many characters on, lines are read and compressed beside the event loop."""


@dataclass(frozen=True, slots=True)
class StoredJournal:
    """The entries of a match behind some number; `damage` says why there are no more where it breaks off."""

    entries: list[Entry]
    damage: str = ""


@dataclass(frozen=True, slots=True)
class WholeJournal:
    """The entries of a match that is to be closed, and them as `records.body` keeps them, None where one is damaged."""

    entries: list[Entry]
    body: bytes | None


def line_of(entry: Entry) -> str:
    """Return *entry* as a line; lone surrogates and zero characters, which players may send, are escaped."""
    kept = replace(entry, rules=None) if isinstance(entry, StartedEntry) else entry
    return _ENCODER.encode(entry_json(kept))


def packed(lines: Sequence[str]) -> bytes:
    """Return what `records.body` holds; a line that was damaged since it was read is kept as it is."""
    return zlib.compress("\n".join(lines).encode("utf-8", "surrogatepass"))


def unpacked(body: bytes) -> list[str]:
    """Return the lines of what `records.body` holds.

    Raises:
        MatchRecordError: it holds something else.
    """
    try:
        return zlib.decompress(body).decode("ascii").splitlines()
    except (zlib.error, ValueError, TypeError) as error:
        raise MatchRecordError(f"the record is damaged ({error})") from error


def read_line(line: object) -> Entry:
    """Return the entry that a line of a journal is.

    Raises:
        MatchRecordError: it is none.
    """
    try:
        # `line_of` writes ASCII alone: in other lines a disk has changed a byte.
        return read_entry(json.loads(line) if isinstance(line, str) and line.isascii() else None)
    except (ValueError, RecursionError) as error:
        raise MatchRecordError("a line of the journal is damaged") from error


@dataclass(frozen=True, slots=True)
class StoredText:
    """What is kept of a match behind entry `after`: numbers and lines of events; once it is over, its record's body."""

    rows: Sequence[tuple[int, str]]
    after: int
    body: bytes | None = None


def stored_text(connection: sa.Connection, match_id: str, after: int = -1) -> StoredText:
    """Read what is kept of a match behind number *after*, be it over or not."""
    rows = event_rows(connection, match_id, after)
    if rows:
        return StoredText(rows, after)
    return StoredText((), after, connection.scalar(sa.select(records.c.body).where(records.c.match_id == match_id)))


def event_rows(connection: sa.Connection, match_id: str, after: int = -1) -> Sequence[tuple[int, str]]:
    """Read the numbers and lines of the events of a match that is played, behind number *after*."""
    query = sa.select(events.c.number, events.c.body).where(events.c.match_id == match_id, events.c.number > after)
    return connection.execute(query.order_by(events.c.number)).all()


async def journal(text: StoredText) -> StoredJournal:
    """Return the entries that *text* holds; what is long is read beside the event loop.

    Raises:
        MatchRecordError: the match is over, and its record damaged.
    """
    if text.rows:
        return await _beside(_unbroken, text.rows, text.after, size=_size(text.rows))
    if text.body is None:
        return StoredJournal([])
    size = len(text.body) if isinstance(text.body, bytes) else 0
    return StoredJournal(await _beside(_entries, text.body, text.after, size=size))


async def whole_journal(rows: Sequence[tuple[int, str]]) -> WholeJournal:
    """Return all of the journal of a match that is played, up to the first event of *rows* that is damaged."""
    return await _beside(_whole, rows, -1, size=_size(rows))


def _size(rows: Sequence[Any]) -> int:
    return sum(len(body) for _, body in rows if isinstance(body, str))


def _whole(rows: Sequence[Any], after: int) -> WholeJournal:
    found = _unbroken(rows, after)
    return WholeJournal(found.entries, None if found.damage else packed([body for _, body in rows]))


def _unbroken(rows: Sequence[Any], after: int) -> StoredJournal:
    """Return the entries up to the first that is missing or damaged."""
    found: list[Entry] = []
    for expected, (number, body) in enumerate(rows, after + 1):
        if number != expected:
            return StoredJournal(found, f"event {expected} is missing")
        try:
            found.append(read_line(body))
        except MatchRecordError:
            return StoredJournal(found, f"event {number} is damaged")
    return StoredJournal(found)


def _entries(body: bytes, after: int) -> list[Entry]:
    return list(map(read_line, unpacked(body)[after + 1 :]))


async def _beside(read: Callable[[Value, int], Found], value: Value, after: int, size: int) -> Found:
    """Return what *read* returns; what is long is read beside the event loop."""
    return await asyncio.to_thread(read, value, after) if size > _LONG else read(value, after)


def cut(connection: sa.Connection, match_id: str, n_kept: int) -> int:
    """Drop the events of a match behind the first *n_kept*; return how many that were."""
    behind = sa.delete(events).where(
        events.c.match_id == match_id, sa.or_(events.c.number >= n_kept, events.c.number < 0)
    )
    return connection.execute(behind).rowcount


def mend(connection: sa.Connection, match_id: str, entries: Sequence[Entry]) -> int:
    """Cut the journal of a match that is played behind *entries*; return how many events that drops."""
    n_dropped = cut(connection, match_id, len(entries))
    steps = [entry.step for entry in entries if isinstance(entry, StateEntry)]
    errors = [error != "" for entry in entries if isinstance(entry, StepEntry) for error in entry.errors]
    started = [entry.at_ms for entry in entries if isinstance(entry, StartedEntry)]
    values = {"n_steps": max(steps, default=0), "n_errors": sum(errors), "started_ms": min(started, default=None)}
    connection.execute(sa.update(matches).where(matches.c.id == match_id).values(values))
    return n_dropped


def held_match(match_id: str, holder: str) -> sa.Select[tuple[str]]:
    """Return the query of a match that *holder* plays, which it keeps for the transaction; it finds none of others."""
    is_held = sa.and_(matches.c.holder == holder, matches.c.status == MatchStatus.RUNNING)
    return sa.select(matches.c.id).where(matches.c.id == match_id, is_held).with_for_update(key_share=True)


class JournalStore:
    """The journals of a database, and the signatures of the records that come of them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rules: LRUCache[str, str] = LRUCache(_N_RULES)

    async def entries(self, match_id: str, after: int = -1) -> list[Entry]:
        """Return the journal's entries behind number *after*; they count from 0, while the match is played and later.

        There are none where the match has not begun, or is not there; and none behind the first that is damaged.

        Raises:
            DamagedRowError: the match is over, and its record damaged.
        """
        try:
            return (await self._journal(match_id, after)).entries
        except MatchRecordError as error:
            raise DamagedRowError(self._database.name, records.name, match_id, str(error)) from error

    async def steps_at(self, times_ms: Mapping[str, int]) -> dict[str, int]:
        """Return the step of the last state of each match that is played, by id, as it was at the time given for it.

        One that had no state then is left out.
        """
        is_early = (sa.and_(events.c.match_id == key, events.c.at_ms <= time_ms) for key, time_ms in times_ms.items())
        query = sa.select(events.c.match_id, sa.func.max(events.c.step)).group_by(events.c.match_id)
        query = query.where(events.c.kind == StateEntry.kind, sa.or_(sa.false(), *is_early))
        return dict(await self._database.read(lambda connection: connection.execute(query).all()))

    async def whole_journal(self, match_id: str) -> WholeJournal:
        """Return all of the journal of a match that is played, to close it.

        Raises:
            StorageError: the database failed.
        """
        rows = await self._database.read(partial(event_rows, match_id=match_id))
        found = await whole_journal(rows)
        return replace(found, entries=await self._with_rules(found.entries))

    async def mended(self, match_id: str, holder: str) -> list[Entry]:
        """Return the journal of a match that *holder* plays, from which it goes on; what is behind a gap is dropped.

        Raises:
            LostMatchError: the match is not *holder*'s.
            StorageError: the database failed.
        """
        found = await self._journal(match_id)
        if not found.damage:
            return found.entries
        async with self._database.begin() as connection:
            if await connection.scalar(held_match(match_id, holder)) is None:
                raise LostMatchError(self._database.name, match_id)
            found = await journal(await connection.run_sync(stored_text, match_id))
            n_dropped = await connection.run_sync(mend, match_id, found.entries)
        told = "match %s: %s; it goes on from before that, and %d events are dropped"
        _LOG.warning(told, match_id, found.damage, n_dropped)
        return await self._with_rules(found.entries)

    async def signature(self, match_id: str) -> dict[str, str] | None:
        """Return the keys that sign the record of a match that is over, if it was signed."""
        found: dict[str, str] | None
        found = await self._database.scalar(sa.select(records.c.signature).where(records.c.match_id == match_id))
        sound(self._database.name, records, {"match_id": match_id, "signature": found})
        return found

    async def _journal(self, match_id: str, after: int = -1) -> StoredJournal:
        found = await journal(await self._database.read(partial(stored_text, match_id=match_id, after=after)))
        return replace(found, entries=await self._with_rules(found.entries))

    async def _with_rules(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return *entries* with the rules, which the journal names by their hash."""
        return [
            replace(entry, rules=await self._rules_of(entry.rules_sha256))
            if isinstance(entry, StartedEntry) and entry.rules is None
            else entry
            for entry in entries
        ]

    async def _rules_of(self, sha256: str) -> str | None:
        if sha256 not in self._rules:
            query = sa.select(versions.c.rules).where(versions.c.sha256 == sha256).limit(1)
            found = await self._database.scalar(query)
            if found is None:
                return None
            self._rules[sha256] = found
        return self._rules[sha256]
