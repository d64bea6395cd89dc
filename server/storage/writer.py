"""Group commit: what happens in all matches of this process is written by one task, many events a transaction.

While a transaction runs, what comes is gathered for the next one: so an event waits for a few milliseconds when there
is little to do, and a transaction holds hundreds when there is much.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from sqlalchemy.exc import DataError, IntegrityError

from server.records.entries import Entry
from server.storage.batch import Batch, Ending, write
from server.storage.database import Database
from server.storage.errors import LostMatchError, StorageError
from server.storage.rows import MatchSummary

MAX_EVENTS: Final = 2_000
"""How many events one transaction writes; the rest goes into the next."""
RETRIES_S: Final = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
"""How long to wait before writing once more after the database failed, each time."""

OnCommit: TypeAlias = Callable[[Collection[str]], None]


@dataclass(slots=True)
class _Waiting:
    """What a transaction will write, and the promise that it was tried."""

    batch: Batch = field(default_factory=Batch)
    is_over: asyncio.Event = field(default_factory=asyncio.Event)


class EventWriter:
    """Writes the journals of the matches that *holder* plays; make it where an event loop runs.

    *on_commit* is called after each transaction with the ids of the matches that it wrote something of.

    Attributes:
        on_batch: called after each transaction with how many events it wrote, and how many seconds it took.
    """

    def __init__(
        self,
        database: Database,
        holder: str,
        on_commit: OnCommit = lambda _: None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._database, self._holder, self._on_commit, self._sleep = database, holder, on_commit, sleep
        self.on_batch: Callable[[int, float], None] = lambda _n_events, _elapsed_s: None
        self._queue: deque[_Waiting] = deque()
        self._last: dict[str, _Waiting] = {}
        self._failed: dict[str, StorageError] = {}
        self._forgotten: set[str] = set()
        self._wake = asyncio.Event()
        self._is_closing = False
        self._task = asyncio.create_task(self._run())

    def put(self, match_id: str, number: int, entry: Entry) -> None:
        """Have entry *number* of a match written, without waiting for it: `settled` tells how it went."""
        if match_id not in self._failed:
            self._batch(match_id).add(match_id, number, entry)

    async def settled(self, match_id: str) -> None:
        """Return when everything that was put of a match is in the database, where it outlives this process.

        Raises:
            LostMatchError: the match has another holder by now, or was deleted.
            StorageError: the database failed, and failed again when it was tried once more.
        """
        waiting = self._last.get(match_id)
        if waiting is not None:
            await waiting.is_over.wait()
            if self._last.get(match_id) is waiting:
                del self._last[match_id]
        if match_id in self._failed:
            raise self._failed[match_id]

    async def finish(self, match_id: str, summary: MatchSummary, signature: dict[str, str] | None = None) -> None:
        """Close a match, when all that was put is written: its events become its record, its row tells how it ended.

        Raises:
            LostMatchError: as `settled`.
            StorageError: as `settled`.
        """
        if match_id not in self._failed:
            self._batch(match_id).end(match_id, Ending(summary, signature))
        await self.settled(match_id)

    def forget(self, match_id: str) -> None:
        """Let a match that was lost or failed be written again, should it ever come back to this process.

        What still waits to be written of it is not, for by then the match may have gone on otherwise.
        """
        self._failed.pop(match_id, None)
        self._last.pop(match_id, None)
        self._forgotten.add(match_id)
        for waiting in self._queue:
            waiting.batch.drop(match_id)

    async def close(self) -> None:
        """Write what waits, and end."""
        self._is_closing = True
        self._wake.set()
        await self._task

    def _batch(self, match_id: str) -> Batch:
        if not self._queue or self._queue[-1].batch.n_events >= MAX_EVENTS:
            self._queue.append(_Waiting())
        self._last[match_id] = self._queue[-1]
        self._wake.set()
        return self._queue[-1].batch

    async def _run(self) -> None:
        while self._queue or not self._is_closing:
            if not self._queue:
                self._wake.clear()
                await self._wake.wait()
                await asyncio.sleep(0)  # so that whoever is about to put something is in time
                continue
            waiting = self._queue.popleft()
            self._forgotten.clear()
            try:
                await self._write(waiting.batch)
            except Exception as error:  # whoever waits must learn of it, and the next ones be written
                self._fail(waiting.batch, StorageError(self._database.name, repr(error)))
            finally:
                waiting.batch = Batch()
                waiting.is_over.set()

    async def _write(self, batch: Batch) -> None:
        for n_failures in range(len(RETRIES_S) + 1):
            for match_id in self._forgotten:
                batch.drop(match_id)
            began_s = time.perf_counter()
            try:
                lost = await write(self._database, batch, self._holder, is_repeated=n_failures > 0)
            except StorageError as error:
                is_last = n_failures == len(RETRIES_S)
                if is_last or isinstance(error.__cause__, IntegrityError | DataError):
                    await self._write_apart(batch, error)
                    return
                await self._sleep(RETRIES_S[n_failures])
            else:
                self._failed |= {match_id: LostMatchError(self._database.name, match_id) for match_id in lost}
                self.on_batch(batch.n_events, time.perf_counter() - began_s)
                if written := batch.rows.keys() - lost:
                    self._on_commit(written)
                return

    async def _write_apart(self, batch: Batch, error: StorageError) -> None:
        """Write each match by itself, so that only the one whose fault it was fails."""
        parts = list(batch.parts())
        if len(parts) == 1 or not isinstance(error.__cause__, IntegrityError | DataError):
            self._fail(batch, error)
            return
        for part in parts:
            await self._write(part)

    def _fail(self, batch: Batch, error: StorageError) -> None:
        self._failed |= dict.fromkeys(batch.rows, error)
