"""What was reported settled is in the database; what is not this process's is not written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url

from server.storage.batch import Batch, Ending, write
from server.storage.database import Database
from server.storage.errors import LostMatchError, StorageError
from server.storage.rows import MatchSummary, SeatResult
from server.storage.summary import summary_of
from server.storage.writer import RETRIES_S, EventWriter
from tests.server.postgresql import execute
from tests.server.storage.samples import begun, journal


class Naps:
    """Sleeps that are only written down."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def __call__(self, time_s: float) -> None:
        self.slept.append(time_s)


@pytest.fixture
def naps() -> Naps:
    return Naps()


@pytest.fixture
def told() -> list[Collection[str]]:
    return []


@pytest.fixture
async def writer(database: Database, naps: Naps, told: list[Collection[str]]) -> AsyncIterator[EventWriter]:
    made = EventWriter(database, "here", told.append, naps)
    yield made
    await made.close()


def put_all(writer: EventWriter, match_id: str) -> None:
    for number, entry in enumerate(journal(match_id)):
        writer.put(match_id, number, entry)


async def test_what_settled_is_read_again(database: Database, writer: EventWriter) -> None:
    store = await begun(database, "m")
    put_all(writer, "m")
    await writer.settled("m")
    assert (await store.entries("m"), await store.entries("m", after=5)) == (journal(), journal()[6:])


async def test_the_row_follows_the_match(database: Database, writer: EventWriter) -> None:
    store = await begun(database, "m")
    put_all(writer, "m")
    await writer.settled("m")
    found = await store.get("m")
    assert found is not None
    assert (found.status, found.started_ms, found.n_steps, found.n_errors) == ("running", 100, 1, 1)


async def test_what_comes_together_is_written_together(
    database: Database, writer: EventWriter, told: list[Collection[str]]
) -> None:
    await begun(database, "a", "b")
    put_all(writer, "a")
    put_all(writer, "b")
    await asyncio.gather(writer.settled("a"), writer.settled("b"))
    assert [set(names) for names in told] == [{"a", "b"}]


async def test_nothing_to_wait_for_is_settled(writer: EventWriter) -> None:
    await writer.settled("m")


async def test_a_match_that_is_finished_has_a_record_and_no_events(database: Database, writer: EventWriter) -> None:
    store = await begun(database, "m")
    put_all(writer, "m")
    summary = summary_of(journal())
    await writer.finish("m", summary, {"matchHostPK": "0key"})
    async with database.reading() as connection:
        assert await connection.scalar(sa.text("SELECT count(*) FROM events")) == 0
    assert (await store.entries("m"), await store.entries("m", 6)) == (journal(), journal()[7:])
    assert await store.signature("m") == {"matchHostPK": "0key"}


async def test_a_match_that_is_finished_tells_how_it_went(database: Database, writer: EventWriter) -> None:
    store = await begun(database, "m")
    put_all(writer, "m")
    await writer.finish("m", summary_of(journal()))
    found, chairs = await store.get("m"), (await store.seats(["m"]))["m"]
    assert found is not None
    assert (found.status, found.ended_ms, found.n_steps, found.n_errors, found.goals) == (
        "completed", 122, 1, 1, (100, 0),
    )  # fmt: skip
    assert [(seat.goal, seat.n_errors, seat.thinking_ms, seat.n_moves) for seat in chairs] == [
        (100, 0, 9, 1),
        (0, 1, 20, 1),
    ]


async def test_a_match_that_ends_before_anything_happened_has_no_entries(
    database: Database, writer: EventWriter
) -> None:
    store = await begun(database, "m")
    await writer.finish("m", MatchSummary("failed", 7, 0, 0, None, {}))
    found = await store.get("m")
    assert found is not None
    assert (found.status, await store.entries("m")) == ("failed", [])


async def test_a_match_that_another_server_took_over_is_lost(database: Database, writer: EventWriter) -> None:
    store = await begun(database, "m", "mine")
    await store.release(["m"], "here")
    await store.take_over("there", 10, 1)
    put_all(writer, "m")
    put_all(writer, "mine")
    await writer.settled("mine")
    with pytest.raises(LostMatchError, match="match m is played by another server"):
        await writer.settled("m")
    with pytest.raises(LostMatchError):
        await writer.finish("m", summary_of(journal()))
    assert (await store.entries("m"), await store.entries("mine")) == ([], journal("mine"))


async def test_a_match_that_was_deleted_is_lost(database: Database, writer: EventWriter) -> None:
    store = await begun(database, "m")
    await store.delete("m")
    put_all(writer, "m")
    with pytest.raises(LostMatchError):
        await writer.settled("m")


async def test_a_match_that_comes_back_is_written_again(database: Database, writer: EventWriter) -> None:
    store = await begun(database, "m", holder="there")
    put_all(writer, "m")
    with pytest.raises(LostMatchError):
        await writer.settled("m")
    await store.release(["m"], "there")
    await store.take_over("here", 10, 1)
    writer.forget("m")
    put_all(writer, "m")
    await writer.settled("m")
    assert await store.entries("m") == journal()


async def test_an_entry_whose_number_is_taken_fails_alone(database: Database, writer: EventWriter) -> None:
    store = await begun(database, "bad", "good")
    put_all(writer, "bad")
    await writer.settled("bad")
    put_all(writer, "bad")
    put_all(writer, "good")
    await writer.settled("good")
    with pytest.raises(StorageError):
        await writer.settled("bad")
    assert await store.entries("good") == journal("good")


async def test_the_database_is_tried_again_when_it_fails(
    database: Database, naps: Naps, told: list[Collection[str]]
) -> None:
    store = await begun(database, "m")
    async with database.begin() as connection:
        await connection.execute(sa.text("ALTER TABLE events RENAME TO gone"))

    async def repair(time_s: float) -> None:
        await naps(time_s)
        if len(naps.slept) == 2:
            async with database.begin() as connection:
                await connection.execute(sa.text("ALTER TABLE gone RENAME TO events"))

    writer = EventWriter(database, "here", told.append, repair)
    put_all(writer, "m")
    await writer.settled("m")
    await writer.close()
    assert (naps.slept, await store.entries("m")) == (list(RETRIES_S[:2]), journal())


async def test_a_match_that_is_forgotten_is_not_written_later(
    database: Database, naps: Naps, told: list[Collection[str]]
) -> None:
    store = await begun(database, "given up", "kept")
    async with database.begin() as connection:
        await connection.execute(sa.text("ALTER TABLE events RENAME TO gone"))

    async def repair(time_s: float) -> None:
        put_all(failing, "given up")
        failing.forget("given up")
        async with database.begin() as connection:
            await connection.execute(sa.text("ALTER TABLE gone RENAME TO events"))

    failing = EventWriter(database, "here", told.append, repair)
    failing.put("given up", 0, journal()[0])
    put_all(failing, "kept")
    await failing.settled("kept")
    await failing.close()
    assert (await store.entries("given up"), await store.entries("kept")) == ([], journal("kept"))


async def test_who_waits_learns_that_the_database_fails_for_good(
    database: Database, writer: EventWriter, naps: Naps
) -> None:
    await begun(database, "m")
    async with database.begin() as connection:
        await connection.execute(sa.text("ALTER TABLE events RENAME TO gone"))
    put_all(writer, "m")
    with pytest.raises(StorageError, match="events"):
        await writer.settled("m")
    assert naps.slept == list(RETRIES_S)


async def test_writing_again_what_was_committed_changes_nothing(database: Database, writer: EventWriter) -> None:
    """As when the connection breaks after the commit and before its answer."""
    store = await begun(database, "m")
    batch = Batch()
    for number, entry in enumerate(journal()):
        batch.add("m", number, entry)
    batch.end("m", Ending(summary_of(journal()), None))
    assert await write(database, batch, "here", is_repeated=False) == frozenset()
    assert await write(database, batch, "here", is_repeated=True) == frozenset()
    assert await store.entries("m") == journal()


async def test_what_was_put_before_the_end_is_written(database: Database, told: list[Collection[str]]) -> None:
    store = await begun(database, "m")
    writer = EventWriter(database, "here", told.append)
    put_all(writer, "m")
    await writer.close()
    assert await store.entries("m") == journal()


def test_a_summary_tells_how_a_journal_went() -> None:
    seats = {"x": SeatResult(100, 0, 9, 1), "o": SeatResult(0, 1, 20, 1)}
    assert summary_of(journal()) == MatchSummary("completed", 122, 1, 1, (100, 0), seats)


def test_a_summary_of_a_journal_that_broke_off_is_that_of_an_aborted_match() -> None:
    seats = {"x": SeatResult(None, 0, 0, 0), "o": SeatResult(None, 0, 0, 0)}
    assert summary_of(journal()[:4]) == MatchSummary("aborted", 110, 0, 0, None, seats)


async def test_connections_that_break_are_made_anew(postgresql: URL, postgresql_address: str) -> None:
    database = await Database.open(postgresql_address)
    store, name = await begun(database, "m"), make_url(postgresql_address).database
    writer = EventWriter(database, "here")
    for number, entry in enumerate(journal()):
        writer.put("m", number, entry)
        ending = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        await asyncio.to_thread(execute, postgresql, ending)
        await writer.settled("m")
    await writer.close()
    found = await store.entries("m")
    await database.close()
    assert found == journal()
