"""`EventWriter.flush` returns when what was put is written, and never before: with transactions that end when told."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from server.match.exchange import Message
from server.records.entries import SentEntry
from server.storage import batch
from server.storage.database import Database
from server.storage.errors import StorageError
from server.storage.match_changes import MatchChanges
from server.storage.writer import EventWriter

ENTRY = SentEntry(1, 0, "left", Message.PLAY, "(PLAY m NIL)")


class Transactions:
    """Stands for the database: each transaction ends when the test ends it."""

    def __init__(self) -> None:
        self.running: list[tuple[list[tuple[str, int]], asyncio.Future[dict[str, StorageError]]]] = []
        self.begun = asyncio.Event()

    async def write(
        self, _database: Database, parts: Sequence[MatchChanges], _holder: str, *, is_repeated: bool
    ) -> dict[str, StorageError]:
        assert not is_repeated
        end: asyncio.Future[dict[str, StorageError]] = asyncio.get_running_loop().create_future()
        self.running.append(([(part.match_id, len(part.rows)) for part in parts], end))
        self.begun.set()
        return await end

    async def next(self) -> list[tuple[str, int]]:
        """Wait for the next transaction to begin, and return of which matches it writes how many events."""
        await self.begun.wait()
        self.begun.clear()
        return self.running[-1][0]

    def end(self, **refused: StorageError) -> None:
        self.running.pop()[1].set_result(refused)


async def is_waiting(task: asyncio.Task[Any]) -> bool:
    """Return whether *task* still waits when all that could go on has gone on."""
    for _ in range(20):
        await asyncio.sleep(0)
    return not task.done()


@pytest.fixture
def transactions(monkeypatch: pytest.MonkeyPatch) -> Transactions:
    made = Transactions()
    monkeypatch.setattr(batch, "write", made.write)
    return made


@pytest.fixture
def writer() -> EventWriter:
    return EventWriter(cast(Database, SimpleNamespace(name="memory", is_sqlite=True)), "here", retries_s=())


async def test_a_flush_waits_until_the_transaction_has_ended(writer: EventWriter, transactions: Transactions) -> None:
    writer.put("m", 0, ENTRY)
    flush = asyncio.create_task(writer.flush("m"))
    assert await transactions.next() == [("m", 1)]
    assert await is_waiting(flush)
    transactions.end()
    await flush


async def test_a_flush_waits_for_what_is_being_written(writer: EventWriter, transactions: Transactions) -> None:
    writer.put("m", 0, ENTRY)
    await transactions.next()
    flush = asyncio.create_task(writer.flush("m"))
    assert await is_waiting(flush)
    transactions.end()
    await flush


async def test_a_flush_waits_for_what_came_while_a_transaction_ran(
    writer: EventWriter, transactions: Transactions
) -> None:
    writer.put("m", 0, ENTRY)
    await transactions.next()
    writer.put("m", 1, ENTRY)
    writer.put("m", 2, ENTRY)
    flush = asyncio.create_task(writer.flush("m"))
    transactions.end()
    assert await transactions.next() == [("m", 2)]
    assert await is_waiting(flush)
    transactions.end()
    await flush


async def test_a_flush_of_another_match_waits_for_nothing(writer: EventWriter, transactions: Transactions) -> None:
    writer.put("m", 0, ENTRY)
    await transactions.next()
    await writer.flush("other")
    transactions.end()


async def test_a_flush_raises_why_its_match_was_not_written(writer: EventWriter, transactions: Transactions) -> None:
    writer.put("bad", 0, ENTRY)
    writer.put("good", 0, ENTRY)
    flushes = [asyncio.create_task(writer.flush(match_id)) for match_id in ("bad", "good")]
    assert await transactions.next() == [("bad", 1), ("good", 1)]
    refusal = StorageError("memory", "refused")
    transactions.end(bad=refusal)
    assert await asyncio.gather(*flushes, return_exceptions=True) == [refusal, None]
    with pytest.raises(StorageError, match="refused"):
        await writer.flush("bad")


async def test_closing_writes_what_waits(writer: EventWriter, transactions: Transactions) -> None:
    writer.put("m", 0, ENTRY)
    closing = asyncio.create_task(writer.close())
    assert await transactions.next() == [("m", 1)]
    assert await is_waiting(closing)
    transactions.end()
    await closing
