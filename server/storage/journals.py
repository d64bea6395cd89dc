"""Journals in the database, summaries of ended matches, and the notifier of what is new in them."""

import asyncio
import json
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import sqlalchemy as sa

from server.errors import MatchRecordError
from server.records.codec import entry_json, read_entry
from server.records.entries import CompletedEntry, EndEntry, Entry, StartedEntry, StateEntry, StepEntry
from server.storage.rows import MatchStatus, MatchSummary, SeatResult
from server.storage.schema import events, matches, records

Value = TypeVar("Value")
Found = TypeVar("Found")
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))
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
    """Return what `records.body` holds."""
    return zlib.compress("\n".join(lines).encode("ascii"))


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
        return read_entry(json.loads(line) if isinstance(line, str | bytes) else None)
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


def summary_of(entries: Iterable[Entry]) -> MatchSummary:
    """Return how the match of a whole journal went; a journal that broke off is one of an aborted match."""
    known = list(entries)
    steps = [entry for entry in known if isinstance(entry, StepEntry)]
    ends = [entry for entry in known if isinstance(entry, EndEntry)]
    roles = [role for entry in known if isinstance(entry, StartedEntry) for role in entry.roles]
    goals = next((entry.goals for entry in reversed(ends) if isinstance(entry, CompletedEntry)), None)
    return MatchSummary(
        status=MatchStatus(ends[-1].kind) if ends else MatchStatus.ABORTED,
        ended_ms=(ends or known)[-1].at_ms,
        n_steps=max((entry.step for entry in known if isinstance(entry, StateEntry)), default=0),
        n_errors=sum(error != "" for step in steps for error in step.errors),
        goals=goals,
        seats={role: _seat(place, steps, goals) for place, role in enumerate(roles)},
    )


def _seat(place: int, steps: list[StepEntry], goals: tuple[int | None, ...] | None) -> SeatResult:
    thought = [step.elapsed_ms[place] for step in steps if step.moves is not None]
    return SeatResult(
        goal=None if goals is None else goals[place],
        n_errors=sum(bool(step.errors[place] or (step.failures and step.failures[place])) for step in steps),
        thinking_ms=sum(elapsed for elapsed in thought if elapsed is not None),
        n_moves=sum(elapsed is not None for elapsed in thought),
    )


async def something_new(fresh: asyncio.Event, limit_s: float) -> None:
    """Wait until *fresh* is set, but no longer than *limit_s*."""
    with suppress(TimeoutError):
        async with asyncio.timeout(limit_s):
            await fresh.wait()


class Notifier:
    """Wakes the tasks that wait for something new in a match, or in any match."""

    def __init__(self) -> None:
        self._waiting: dict[str | None, set[asyncio.Event]] = {}

    def tell(self, match_ids: Collection[str]) -> None:
        """Say that something happened in the matches."""
        for match_id in (*match_ids, None):
            for event in self._waiting.get(match_id, ()):
                event.set()

    @contextmanager
    def subscribed(self, match_id: str | None = None) -> Iterator[asyncio.Event]:
        """Yield an event that is set when something happens in the match (None: in any); clear it before looking."""
        event = asyncio.Event()
        self._waiting.setdefault(match_id, set()).add(event)
        try:
            yield event
        finally:
            waiting = self._waiting[match_id]
            waiting.discard(event)
            if not waiting:
                del self._waiting[match_id]
