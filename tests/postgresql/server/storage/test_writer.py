"""What was reported flushed is in the database; what is not this process's is not written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url

from server.match.exchange import Message
from server.records.entries import Entry, SentEntry
from server.storage.batch import write
from server.storage.database import Database
from server.storage.errors import DamagedRowError, JournalGapError, LostMatchError, StorageError, UnwritableError
from server.storage.journals import JournalStore, packed, unpacked
from server.storage.match_changes import MatchChanges, MatchEnding, summary_of
from server.storage.rows import MatchStatus, MatchSummary
from server.storage.schema import events, records
from server.storage.writer import RETRIES_S, EventWriter, WriterObservers
from tests.kit.server.postgresql import execute
from tests.kit.server.storage.samples import begun, journal


class Naps:
    """Sleeps that are only written down."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def __call__(self, time_s: float) -> None:
        self.slept.append(time_s)


async def kept(database: Database, match_id: str, after: int = -1) -> list[Entry]:
    """Return what *database* has of a journal behind number *after*."""
    return await JournalStore(database).entries(match_id, after)


@pytest.fixture
def naps() -> Naps:
    return Naps()


@pytest.fixture
def told() -> list[Collection[str]]:
    return []


@pytest.fixture
async def writer(database: Database, naps: Naps, told: list[Collection[str]]) -> AsyncIterator[EventWriter]:
    made = EventWriter(database, "here", WriterObservers(told.append), naps)
    yield made
    await made.close()


def put_all(writer: EventWriter, match_id: str) -> None:
    for number, entry in enumerate(journal(match_id)):
        writer.put(match_id, number, entry)


async def test_what_was_flushed_is_read_again(database: Database, writer: EventWriter) -> None:
    await begun(database, "m")
    put_all(writer, "m")
    await writer.flush("m")
    assert (await kept(database, "m"), await kept(database, "m", after=5)) == (
        journal(),
        journal()[6:],
    )


async def test_the_row_follows_the_match(database: Database, writer: EventWriter) -> None:
    store = await begun(database, "m")
    put_all(writer, "m")
    await writer.flush("m")
    found = await store.get("m")
    assert found is not None
    assert (found.status, found.started_ms, found.n_steps, found.n_errors) == ("running", 100, 1, 1)


async def test_what_comes_together_is_written_together(
    database: Database, writer: EventWriter, told: list[Collection[str]]
) -> None:
    await begun(database, "a", "b")
    put_all(writer, "a")
    put_all(writer, "b")
    await asyncio.gather(writer.flush("a"), writer.flush("b"))
    assert [set(names) for names in told] == [{"a", "b"}]


async def test_many_entries_at_once_are_written_at_the_first_try(
    database: Database, writer: EventWriter, naps: Naps
) -> None:
    await begun(database, "m")
    put_all(writer, "m")
    more = [SentEntry(200 + i, 1, "x", Message.STOP, "é\ud800") for i in range(300)]
    for number, entry in enumerate(more, len(journal())):
        writer.put("m", number, entry)
    await writer.flush("m")
    assert (await kept(database, "m"), naps.slept) == ([*journal(), *more], [])


async def test_nothing_to_wait_for_is_flushed(writer: EventWriter) -> None:
    await writer.flush("m")


async def test_a_match_that_is_finished_has_a_record_and_no_events(database: Database, writer: EventWriter) -> None:
    await begun(database, "m")
    put_all(writer, "m")
    summary = summary_of(journal())
    await writer.finish("m", summary, {"matchHostPK": "0key"})
    async with database.reading() as connection:
        assert await connection.scalar(sa.text("SELECT count(*) FROM events")) == 0
    assert (await kept(database, "m"), await kept(database, "m", 6)) == (
        journal(),
        journal()[7:],
    )
    assert await JournalStore(database).signature("m") == {"matchHostPK": "0key"}


async def test_a_match_is_finished_with_its_journal_as_it_was_read_before(
    database: Database, writer: EventWriter, naps: Naps
) -> None:
    await begun(database, "m", "other")
    for name in ("m", "other"):
        put_all(writer, name)
        await writer.flush(name)
    whole = await JournalStore(database).whole_journal("m")
    assert whole.entries == journal()
    assert whole.body is not None
    async with database.begin() as connection:
        await connection.execute(sa.update(events).where(events.c.match_id == "m").values(body="not read again"))
    await asyncio.gather(
        writer.finish("m", summary_of(journal()), None, whole.body),
        writer.finish("other", summary_of(journal("other"))),
    )
    assert (await kept(database, "m"), await kept(database, "other")) == (
        journal(),
        journal("other"),
    )
    assert naps.slept == []


async def test_a_damaged_journal_is_read_as_far_as_it_is_sound_and_closed_as_it_is(
    database: Database, writer: EventWriter
) -> None:
    await begun(database, "m")
    put_all(writer, "m")
    await writer.flush("m")
    async with database.begin() as connection:
        await connection.execute(sa.update(events).where(events.c.number == 5).values(body="garbage"))
    whole = await JournalStore(database).whole_journal("m")
    assert (whole.entries, whole.body) == (journal()[:5], None)
    await writer.finish("m", summary_of(whole.entries), None, whole.body)
    async with database.reading() as connection:
        body = await connection.scalar(sa.select(records.c.body))
    assert unpacked(body or b"")[5] == "garbage"


async def test_a_match_that_is_finished_tells_how_it_went(database: Database, writer: EventWriter) -> None:
    store = await begun(database, "m")
    put_all(writer, "m")
    await writer.finish("m", summary_of(journal()))
    found, seat_rows = await store.get("m"), (await store.seats(["m"]))["m"]
    assert found is not None
    assert (found.status, found.ended_ms, found.n_steps, found.n_errors, found.goals) == (
        "completed", 122, 1, 1, (100, 0),
    )  # fmt: skip
    assert [(seat.goal, seat.n_errors, seat.thinking_ms, seat.n_moves) for seat in seat_rows] == [
        (100, 0, 9, 1),
        (0, 1, 20, 1),
    ]


async def test_a_match_that_ends_before_anything_happened_has_no_entries(
    database: Database, writer: EventWriter
) -> None:
    store = await begun(database, "m")
    await writer.finish("m", MatchSummary(MatchStatus.FAILED, 7, 0, 0, None, {}))
    found = await store.get("m")
    assert found is not None
    assert (found.status, await kept(database, "m")) == ("failed", [])


async def test_a_match_that_another_server_took_over_is_lost(database: Database, writer: EventWriter) -> None:
    store = await begun(database, "m", "mine")
    await store.release(["m"], "here")
    await store.take_over("there", 10, 1)
    put_all(writer, "m")
    put_all(writer, "mine")
    await writer.flush("mine")
    with pytest.raises(LostMatchError, match="match m is played by another server"):
        await writer.flush("m")
    with pytest.raises(LostMatchError):
        await writer.finish("m", summary_of(journal()))
    assert (await kept(database, "m"), await kept(database, "mine")) == (
        [],
        journal("mine"),
    )


async def test_a_match_that_was_deleted_is_lost(database: Database, writer: EventWriter) -> None:
    store = await begun(database, "m")
    await store.delete("m")
    put_all(writer, "m")
    with pytest.raises(LostMatchError):
        await writer.flush("m")


async def test_a_match_that_comes_back_is_written_again(database: Database, writer: EventWriter) -> None:
    store = await begun(database, "m", holder="there")
    put_all(writer, "m")
    with pytest.raises(LostMatchError):
        await writer.flush("m")
    await store.release(["m"], "there")
    await store.take_over("here", 10, 1)
    writer.forget("m")
    put_all(writer, "m")
    await writer.flush("m")
    assert await kept(database, "m") == journal()


async def test_an_entry_whose_number_is_taken_fails_alone(database: Database, writer: EventWriter) -> None:
    await begun(database, "bad", "good")
    put_all(writer, "bad")
    await writer.flush("bad")
    put_all(writer, "bad")
    put_all(writer, "good")
    await writer.flush("good")
    with pytest.raises(StorageError):
        await writer.flush("bad")
    assert await kept(database, "good") == journal("good")


async def test_the_database_is_tried_again_when_it_fails(
    database: Database, naps: Naps, told: list[Collection[str]]
) -> None:
    await begun(database, "m")
    async with database.begin() as connection:
        await connection.execute(sa.text("ALTER TABLE events RENAME TO gone"))

    async def repair(time_s: float) -> None:
        await naps(time_s)
        if len(naps.slept) == 2:
            async with database.begin() as connection:
                await connection.execute(sa.text("ALTER TABLE gone RENAME TO events"))

    writer = EventWriter(database, "here", WriterObservers(told.append), repair)
    put_all(writer, "m")
    await writer.flush("m")
    await writer.close()
    assert (naps.slept, await kept(database, "m")) == (list(RETRIES_S[:2]), journal())


async def test_a_match_that_is_forgotten_is_not_written_later(
    database: Database, naps: Naps, told: list[Collection[str]]
) -> None:
    await begun(database, "given up", "kept")
    async with database.begin() as connection:
        await connection.execute(sa.text("ALTER TABLE events RENAME TO gone"))

    async def repair(time_s: float) -> None:
        put_all(failing, "given up")
        failing.forget("given up")
        async with database.begin() as connection:
            await connection.execute(sa.text("ALTER TABLE gone RENAME TO events"))

    failing = EventWriter(database, "here", WriterObservers(told.append), repair)
    failing.put("given up", 0, journal()[0])
    put_all(failing, "kept")
    await failing.flush("kept")
    await failing.close()
    assert (await kept(database, "given up"), await kept(database, "kept")) == (
        [],
        journal("kept"),
    )


async def test_who_waits_learns_that_the_database_fails_for_good(
    database: Database, writer: EventWriter, naps: Naps
) -> None:
    await begun(database, "m")
    async with database.begin() as connection:
        await connection.execute(sa.text("ALTER TABLE events RENAME TO gone"))
    put_all(writer, "m")
    with pytest.raises(StorageError, match="events"):
        await writer.flush("m")
    assert naps.slept == list(RETRIES_S)


async def test_reading_is_tried_again_as_long_as_writing(writer: EventWriter, naps: Naps) -> None:
    errors = [StorageError("db", "stopped")] * 2

    async def read() -> str:
        if errors:
            raise errors.pop()
        return "found"

    assert (await writer.patiently(read), naps.slept) == ("found", list(RETRIES_S[:2]))


@pytest.mark.parametrize("error", [DamagedRowError("db", "matches", "m", "cut"), LostMatchError("db", "m")])
async def test_what_another_try_cannot_mend_is_read_once(error: StorageError, writer: EventWriter, naps: Naps) -> None:
    async def read() -> str:
        raise error

    with pytest.raises(type(error)):
        await writer.patiently(read)
    assert naps.slept == []


async def test_writing_again_what_was_committed_changes_nothing(database: Database, writer: EventWriter) -> None:
    """As when the connection breaks after the commit and before its answer."""
    await begun(database, "m")
    part = MatchChanges("m")
    for number, entry in enumerate(journal()):
        part.add(number, entry)
    part.ending = MatchEnding(summary_of(journal()), None)
    assert await write(database, [part], "here", is_repeated=False) == {}
    assert await write(database, [part], "here", is_repeated=True) == {}
    assert await kept(database, "m") == journal()


@asynccontextmanager
async def without_events(database: Database) -> AsyncIterator[None]:
    """Let nothing of the kind be written while the block runs."""
    async with database.begin() as connection:
        await connection.execute(sa.text("ALTER TABLE events RENAME TO gone"))
    yield
    async with database.begin() as connection:
        await connection.execute(sa.text("ALTER TABLE gone RENAME TO events"))


async def numbers(database: Database, match_id: str) -> list[int]:
    async with database.reading() as connection:
        query = sa.select(events.c.number).where(events.c.match_id == match_id).order_by(events.c.number)
        return list(await connection.scalars(query))


async def test_what_comes_behind_what_was_given_up_is_not_written(database: Database) -> None:
    """Events that came while a transaction was tried again waited in the next one, which went well."""
    await begun(database, "m", "other")
    failures: list[tuple[str, str]] = []

    async def nap(_time_s: float) -> None:
        writer.put("m", len(put), journal()[len(put)])
        put.append(0)

    def take_failure(match_id: str, error: StorageError) -> None:
        failures.append((match_id, type(error).__name__))

    writer = EventWriter(
        database, "here", sleep=nap, retries_s=(0.1, 0.2), observers=WriterObservers(on_failure=take_failure)
    )
    put = [0]
    writer.put("m", 0, journal()[0])
    async with without_events(database):
        with pytest.raises(StorageError):
            await writer.flush("m")
    writer.put("m", 3, journal()[3])
    put_all(writer, "other")
    await writer.flush("other")
    await writer.close()
    assert (await numbers(database, "m"), len(await numbers(database, "other"))) == ([], len(journal()))
    assert failures == [("m", "StorageError")]


async def test_a_match_that_was_given_up_goes_on_from_its_last_event(database: Database, naps: Naps) -> None:
    await begun(database, "m")
    writer = EventWriter(database, "here", sleep=naps)
    for number in range(3):
        writer.put("m", number, journal()[number])
    await writer.flush("m")
    async with without_events(database):
        writer.put("m", 3, journal()[3])
        with pytest.raises(StorageError):
            await writer.flush("m")
    writer.forget("m")
    for number in range(3, len(journal())):
        writer.put("m", number, journal()[number])
    await writer.flush("m")
    await writer.close()
    assert await kept(database, "m") == journal()


@pytest.mark.parametrize("first", [0, 2, 4, -1])
async def test_an_event_that_is_not_the_next_one_is_refused(
    database: Database, writer: EventWriter, first: int
) -> None:
    await begun(database, "m")
    for number in range(3):
        writer.put("m", number, journal()[number])
    await writer.flush("m")
    writer.put("m", first, journal()[3])
    with pytest.raises(JournalGapError, match=f"event {first} of match m does not follow event 2"):
        await writer.flush("m")
    assert await kept(database, "m") == journal()[:3]


async def test_numbers_with_a_gap_between_them_are_refused_as_a_whole(database: Database, writer: EventWriter) -> None:
    await begun(database, "m")
    for number in (0, 1, 3):
        writer.put("m", number, journal()[number])
    with pytest.raises(JournalGapError):
        await writer.flush("m")
    assert await numbers(database, "m") == []


@pytest.mark.parametrize("n_wrong", [1, 3])
async def test_what_no_database_can_keep_fails_its_own_matches_alone(
    database: Database, writer: EventWriter, naps: Naps, n_wrong: int
) -> None:
    names = [f"m{number}" for number in range(8)]
    await begun(database, *names)
    for place, name in enumerate(names):
        writer.put(name, 0, replace(journal()[0], at_ms=2**80) if place < n_wrong else journal()[0])
    found = await asyncio.gather(*map(writer.flush, names), return_exceptions=True)
    assert [type(error) for error in found] == [UnwritableError] * n_wrong + [type(None)] * (8 - n_wrong)
    assert naps.slept == []


async def test_writing_again_counts_once(database: Database) -> None:
    store = await begun(database, "m")
    part = MatchChanges("m")
    for number, entry in enumerate(journal()[:5]):
        part.add(number, entry)
    for is_repeated in (False, True):
        assert await write(database, [part], "here", is_repeated=is_repeated) == {}
    found = await store.get("m")
    assert found is not None
    assert (found.n_errors, await kept(database, "m")) == (1, journal()[:5])


async def test_other_events_under_the_same_numbers_are_not_taken_for_those_written(
    database: Database,
) -> None:
    await begun(database, "m")
    for role, refused in (("x", set()), ("o", {"m"})):
        part = MatchChanges("m")
        part.add(0, journal()[0])
        part.add(1, SentEntry(110, 0, role, Message.PLAY, "(PLAY)"))
        assert set(await write(database, [part], "here", is_repeated=True)) == refused


async def test_a_check_fails_while_nothing_can_be_written(database: Database) -> None:
    await begun(database, "m")
    told = []

    async def nap(_time_s: float) -> None:
        told.append(failing.trouble)
        with pytest.raises(StorageError, match="events"):
            await failing.check()

    failing = EventWriter(database, "here", sleep=nap, retries_s=(1,))
    async with without_events(database):
        put_all(failing, "m")
        with pytest.raises(StorageError):
            await failing.flush("m")
    await failing.check()
    await failing.check()
    await failing.close()
    assert (len(told), bool(told[0]), failing.trouble) == (1, True, "")


async def test_what_was_put_before_the_end_is_written(database: Database, told: list[Collection[str]]) -> None:
    await begun(database, "m")
    writer = EventWriter(database, "here", WriterObservers(told.append))
    put_all(writer, "m")
    await writer.close()
    assert await kept(database, "m") == journal()


async def test_connections_that_break_are_made_anew(postgresql: URL, postgresql_address: str) -> None:
    database = await Database.open(postgresql_address)
    await begun(database, "m")
    name = make_url(postgresql_address).database
    writer = EventWriter(database, "here")
    for number, entry in enumerate(journal()):
        writer.put("m", number, entry)
        ending = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        await asyncio.to_thread(execute, postgresql, ending)
        await writer.flush("m")
    await writer.close()
    found = await kept(database, "m")
    await database.close()
    assert found == journal()


async def test_an_end_that_is_refused_leaves_the_steps_of_others_written(postgresql_address: str) -> None:
    database = await Database.open(postgresql_address)
    await begun(database, "goes on", "ends")
    writer = EventWriter(database, "here")
    writer.put("goes on", 0, journal("goes on")[0])
    refused = replace(summary_of(journal("ends")), n_steps=2**40)
    with pytest.raises(UnwritableError):
        await writer.finish("ends", refused, None, packed(["{}"]))
    await writer.flush("goes on")
    await writer.close()
    found = await kept(database, "goes on")
    await database.close()
    assert len(found) == 1
