"""Group commit: what happens in all matches of this process is written by one task, many events a transaction.

A transaction begins as soon as a match waits for one, before its next message goes out, or some milliseconds after an
event that no match waits for. What comes while it runs is gathered for the next one, match by match: so a transaction
holds hundreds of events when there is much to do. A match of which something could not be written is written no
further: its journal ends there, and the match can go on from it.
"""

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DataError, IntegrityError

from server.clock import now_ms
from server.records.entries import Entry
from server.storage import batch, journals, rows, schema
from server.storage.database import FAILURES, Database, upsert
from server.storage.errors import DamagedRowError, LostMatchError, StorageError, UnwritableError
from server.storage.match_changes import MatchChanges, MatchEnding

MAX_EVENTS: Final = 2_000
"""How many events one transaction writes; the rest goes into the next."""
GATHER_S: Final = 0.02
"""How long at most what no task waits for is gathered before it is written."""
RETRIES_S: Final = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
"""How long to wait before writing once more after the database failed, each time."""
_DATA_STATES: Final = ("22", "23")
"""How PostgreSQL begins the codes of values and of rows that it refuses."""
_OLD_MS: Final = 86_400_000
"""How long the heartbeat of a process that is no more is kept."""

Result = TypeVar("Result")
OnCommit: TypeAlias = Callable[[Collection[str]], None]
OnFailure: TypeAlias = Callable[[str, StorageError], None]
OnBatch: TypeAlias = Callable[[int, float], None]


class _Waiting(MatchChanges):
    """A part that waits, and whether it was written or given up."""

    def __init__(self, match_id: str) -> None:
        super().__init__(match_id)
        self.is_over = asyncio.Event()
        self.is_dropped = False

    def drop(self) -> None:
        """Leave the part out, if it is not being written just now."""
        self.is_dropped = True
        self.is_over.set()


@dataclass(frozen=True, slots=True)
class WriterObservers:
    """What learns how it goes with an event writer.

    Attributes:
        on_commit: called after each transaction with the ids of the matches that it wrote something of.
        on_failure: called with each match that is written no further, and why; `forget` lets it be written again.
        on_batch: called after each transaction with how many events it wrote, and how many seconds it took.
    """

    on_commit: OnCommit = lambda _: None
    on_failure: OnFailure = lambda *_: None
    on_batch: OnBatch = lambda *_: None


NO_OBSERVERS: Final = WriterObservers()


class EventWriter:
    """Writes the journals of the matches that *holder* plays; `put` where an event loop runs.

    *retries_s* are the pauses after each of which a transaction that failed is tried once more.

    Attributes:
        holder: what this process is called in the database.
        trouble: why the last transaction failed, while it is being tried again; empty where all is well.
    """

    def __init__(
        self,
        database: Database,
        holder: str,
        observers: WriterObservers = NO_OBSERVERS,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        retries_s: Sequence[float] = RETRIES_S,
    ) -> None:
        self._database, self.holder, self._sleep, self._retries_s = database, holder, sleep, tuple(retries_s)
        self._observers = observers
        self.trouble = ""
        self._pending: dict[str, _Waiting] = {}
        self._in_flight: dict[str, _Waiting] = {}
        self._failed: dict[str, StorageError] = {}
        self._wake = asyncio.Event()
        self._is_closing = False
        self._task: asyncio.Task[None] | None = None

    def put(self, match_id: str, number: int, entry: Entry) -> str:
        """Have entry *number* of a match written, without waiting for it: `flush` reports how it went.

        Returns the line that is written, or would be.
        """
        line = journals.line_of(entry)
        if match_id not in self._failed:
            self._part(match_id).add(number, entry, line)
        return line

    async def flush(self, match_id: str) -> None:
        """Wait until everything that was put of a match is in the database, where it outlives this process.

        Raises:
            LostMatchError: the match has another holder by now, or was deleted.
            StorageError: the database failed, and failed again when it was tried once more.
        """
        part = self._pending.get(match_id) or self._in_flight.get(match_id)
        if part is not None:
            self._wake.set()
            await part.is_over.wait()
        if match_id in self._failed:
            raise self._failed[match_id]

    async def finish(
        self,
        match_id: str,
        summary: rows.MatchSummary,
        signature: dict[str, str] | None = None,
        body: bytes | None = None,
    ) -> None:
        """Close a match, when all that was put is written: its events become its record, its row tells how it ended.

        *body* is what `WholeJournal` has, read after the last `flush`; None has the events read.

        Raises:
            LostMatchError: as `flush`.
            StorageError: as `flush`.
        """
        if match_id not in self._failed:
            self._part(match_id).ending = MatchEnding(summary, signature, body)
        await self.flush(match_id)

    def forget(self, match_id: str) -> None:
        """Let a match that was lost or failed be written again, should it ever come back to this process.

        What still waits to be written of it is not, for by then the match may have gone on otherwise.
        """
        self._failed.pop(match_id, None)
        for part in (self._pending.pop(match_id, None), self._in_flight.get(match_id)):
            if part is not None:
                part.drop()

    async def patiently(self, read: Callable[[], Awaitable[Result]]) -> Result:
        """Return what *read* returns; a database that fails is tried again for as long as a transaction would be.

        Raises:
            StorageError: the database failed each time, or what it holds is damaged.
        """
        for pause_s in self._retries_s:
            try:
                return await read()
            except (DamagedRowError, LostMatchError):
                raise
            except StorageError:
                await self._sleep(pause_s)
        return await read()

    async def check(self) -> None:
        """Return when something was written to the database just now.

        Raises:
            StorageError: nothing can be written, or a transaction that failed is still being tried again.
        """
        if self.trouble:
            raise StorageError(self._database.name, self.trouble)
        at_ms = now_ms()
        forgetting = sa.delete(schema.heartbeats).where(schema.heartbeats.c.at_ms < at_ms - _OLD_MS)
        beating = upsert(self._database, schema.heartbeats).values(holder=self.holder, at_ms=at_ms)
        await self._database.change(forgetting, beating)

    async def close(self) -> None:
        """Write what waits, and end."""
        self._is_closing = True
        self._wake.set()
        if self._task is not None:
            await self._task

    def _part(self, match_id: str) -> MatchChanges:
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="journals")
        part = self._pending.get(match_id)
        if part is None:
            if not self._pending:
                asyncio.get_running_loop().call_later(GATHER_S, self._wake.set)
            part = self._pending[match_id] = _Waiting(match_id)
        return part

    async def _run(self) -> None:
        """Write what waits, transaction after transaction, until the writer is closed and nothing waits."""
        while self._pending or not self._is_closing:
            if not self._is_closing:
                await self._wake.wait()
                await asyncio.sleep(0)  # so that tasks about to put something are in time
            self._wake.clear()
            self._in_flight = self._next()
            if self._pending:
                self._wake.set()
            for parts in batch.transactions(self._database, self._in_flight.values()):
                await self._write(parts)
            self._in_flight = {}

    def _next(self) -> dict[str, _Waiting]:
        """Take what the next transaction writes: all that waits of some matches, those that wait longest."""
        taken: dict[str, _Waiting] = {}
        n_events = 0
        while self._pending and n_events < MAX_EVENTS:
            match_id = next(iter(self._pending))
            taken[match_id] = self._pending.pop(match_id)
            n_events += len(taken[match_id].rows)
        return taken

    async def _write(self, parts: Sequence[_Waiting], *, was_tried: bool = False) -> None:
        """Write *parts* or give them up; what is the fault of one of them fails that one alone."""
        for pause_s in (*self._retries_s, None):
            parts = [part for part in parts if not part.is_dropped]
            if not parts:
                return
            began_s = time.perf_counter()
            try:
                refused = await batch.write(self._database, parts, self.holder, is_repeated=was_tried)
            except Exception as error:  # the waiting tasks must learn of it, and the next ones be written
                if len(parts) > 1 and _may_be_one_s_fault(error):
                    await self._write(parts[: len(parts) // 2], was_tried=was_tried)
                    await self._write(parts[len(parts) // 2 :], was_tried=was_tried)
                    return
                if pause_s is None or _may_be_one_s_fault(error):
                    self._give_up({part.match_id: self._reason_for(error, part.match_id) for part in parts}, parts)
                    return
                was_tried, self.trouble = True, getattr(error, "reason", str(error))
                await self._sleep(pause_s)
            else:
                self._observers.on_batch(sum(len(part.rows) for part in parts), time.perf_counter() - began_s)
                self._take_written(parts, refused)
                return

    def _take_written(self, parts: Sequence[_Waiting], refused: dict[str, StorageError]) -> None:
        self.trouble = ""
        self._give_up(refused, [part for part in parts if part.match_id in refused])
        written = [part for part in parts if part.match_id not in refused]
        for part in written:
            part.is_over.set()
        if written:
            self._observers.on_commit({part.match_id for part in written})

    def _give_up(self, errors: dict[str, StorageError], parts: Sequence[_Waiting]) -> None:
        """Write nothing more of some matches, neither *parts* nor what waits behind them."""
        self.trouble = ""
        for part in parts:
            if part.is_dropped:
                continue
            match_id = part.match_id
            self._failed[match_id] = errors[match_id]
            behind = self._pending.pop(match_id, None)
            for each in (part, behind):
                if each is not None:
                    each.is_over.set()
            self._observers.on_failure(match_id, errors[match_id])

    def _reason_for(self, error: Exception, match_id: str) -> StorageError:
        if _may_be_one_s_fault(error):
            reason = getattr(error, "reason", repr(error))
            return UnwritableError(self._database.name, reason, match_id=match_id)
        return error if isinstance(error, StorageError) else StorageError(self._database.name, repr(error))


def _may_be_one_s_fault(error: Exception) -> bool:
    """Return whether *error* came of what should be written, and not of a database that fails for all."""
    cause = error.__cause__ if isinstance(error, StorageError) else error
    if isinstance(cause, sqlite3.IntegrityError | sqlite3.DataError):
        return True
    state = str(getattr(getattr(cause, "orig", cause), "sqlstate", ""))
    is_foreseen = isinstance(error, (StorageError, *FAILURES))
    return not is_foreseen or isinstance(cause, IntegrityError | DataError) or state[:2] in _DATA_STATES
