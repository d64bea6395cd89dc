"""A match whose journal or row is damaged goes on from what is sound, or has failed and says why; others go on.

A sample of the damages always, all with GGP_EXHAUSTIVE=all (`make exhaustive`).
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from unittest.mock import AsyncMock

import pytest
import sqlalchemy as sa

from server.app import Watch, managing
from server.hosting.game_manager import GameManager
from server.hosting.settings import GameManagerSettings
from server.hosting.supervisor import MAX_ATTEMPTS
from server.match.exchange import MoveOrigin
from server.records.codec import entry_json
from server.records.entries import ClosedEntry, FailedEntry, SentEntry, StepEntry
from server.records.record import record_of
from server.storage.database import Database
from server.storage.errors import DamagedRowError, StorageError
from server.storage.exporting import ExportFilter, exported
from server.storage.journals import JournalStore
from server.storage.matches import MatchStore
from server.storage.rows import NO_ORDER
from server.storage.schema import events, matches, seats
from tests.kit import polling
from tests.kit.exhaustive import sampled
from tests.kit.server.hosting.managing import YES, order, until
from tests.kit.server.peers import OK, Behaviour, listening, request

NO_STEP = '{"event": "step", "at": 1, "step": 0, "moves": ["((", 5]}'
"""A line that has the form of an entry, and is none."""
LINES = ("", "garbage", "[1]", '{"event": "step", "at"', "null", NO_STEP)
QUICK = GameManagerSettings(lease_s=0.3, retries_s=())


def waiting(is_free: asyncio.Event) -> Behaviour:
    """Return a player that makes its second move when *is_free*."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head, body = await request(reader)
        if body.startswith("(PLAY") and "GGP-Match-Step: 1" in head:
            await is_free.wait()
        writer.write(OK + b"\r\n" + (b"(say Yes)" if body.startswith("(PLAY") else b"ready"))

    return behave


@asynccontextmanager
async def broken_off(database: Database) -> AsyncIterator[tuple[str, asyncio.Event]]:
    """Yield a match that is parked in its second step, and what frees its players."""
    is_free = asyncio.Event()
    async with listening(waiting(is_free)) as player:
        manager = GameManager(database, QUICK)
        await manager.start()
        match_id = (await manager.order(order(player, player, startClock=20, playClock=20))).row.id

        async def is_parked() -> bool:
            return sum(isinstance(entry, SentEntry) for entry in await manager.journals.entries(match_id)) == 6

        await polling.until(is_parked)
        await manager.close()
        try:
            yield match_id, is_free
        finally:
            is_free.set()


async def change(database: Database, *statements: sa.Executable) -> None:
    async with database.begin() as connection:
        for statement in statements:
            await connection.execute(statement)


async def ended(database: Database, match_id: str) -> tuple[str, str | None]:
    """Return how the match ended with the next game manager, and what its row says of that."""
    manager = GameManager(database, QUICK)
    await manager.start()
    try:
        row = await until(manager, match_id, "completed", "failed", "aborted")
    finally:
        await manager.close()
    return row.status, row.abort_reason


def event(match_id: str, number: int) -> sa.ColumnElement[bool]:
    return sa.and_(events.c.match_id == match_id, events.c.number == number)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", sampled([0, 1, 4, 9], 0, 4))
async def test_a_match_with_a_hole_in_its_journal_goes_on_from_before_it(
    database: Database, number: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with broken_off(database) as (match_id, is_free):
        await change(database, sa.delete(events).where(event(match_id, number)))
        idle = GameManager(database, QUICK)
        before = [entry.kind for entry in await idle.journals.entries(match_id)]
        is_free.set()
        with caplog.at_level(logging.WARNING, "server.storage.journals"):
            assert await ended(database, match_id) == ("completed", None)
        whole = record_of(await idle.journals.entries(match_id)).as_json()
    assert len(before) == number
    assert f"match {match_id}: event {number} is missing" in caplog.text
    assert (whole["moves"], whole["goalValues"]) == ([["( say Yes )", "( say Yes )"]] * 2, [100, 100])
    assert [len(whole[key]) for key in ("states", "stateTimes", "errors")] == [3, 3, 3]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("body", sampled(LINES, "garbage", NO_STEP))
async def test_a_match_with_a_line_that_is_none_goes_on_from_before_it(database: Database, body: str) -> None:
    async with broken_off(database) as (match_id, is_free):
        await change(database, sa.update(events).where(event(match_id, 6)).values(body=body))
        is_free.set()
        assert await ended(database, match_id) == ("completed", None)


@pytest.mark.sampled(2)
async def test_a_match_with_a_byte_that_is_no_ascii_goes_on_from_before_it(database: Database) -> None:
    async with broken_off(database) as (match_id, is_free):
        flipped = sa.func.replace(events.c.body, "ready", "\N{REPLACEMENT CHARACTER}eady")
        await change(database, sa.update(events).where(events.c.match_id == match_id).values(body=flipped))
        is_free.set()
        assert await ended(database, match_id) == ("completed", None)


@pytest.mark.sampled(2)
async def test_a_match_whose_journal_makes_no_sense_has_failed_and_can_be_read(database: Database) -> None:
    async with broken_off(database) as (match_id, _):
        step = StepEntry(1, 0, ("((", "noop"), ("", ""), ("", ""), (1, 1), (MoveOrigin.PLAYER,) * 2)
        body = json.dumps(entry_json(step))
        await change(database, sa.update(events).where(event(match_id, 6)).values(body=body))
        status, reason = await ended(database, match_id)
        entries = await JournalStore(database).entries(match_id)
        told = {each.match_id: each.error async for each in exported(database, ExportFilter())}
    assert (status, (reason or "")[:50]) == ("failed", "MatchRecordError: an entry that cannot be understo")
    failed, closed = entries[-2:]
    assert (failed, closed) == (FailedEntry(failed.at_ms, 1, reason or ""), ClosedEntry(failed.at_ms))
    assert told == {match_id: ""}
    assert record_of(entries).as_json()["x-end"] == {"how": "failed", "at": failed.at_ms, "reason": reason}


@pytest.mark.sampled(2)
async def test_a_match_whose_row_is_damaged_has_failed_and_others_go_on(database: Database) -> None:
    async with broken_off(database) as (match_id, is_free), broken_off(database) as (sound_id, is_other_free):
        order_column = sa.update(matches).where(matches.c.id == match_id).values(order=5)
        await change(database, order_column)
        is_free.set()
        is_other_free.set()
        assert await ended(database, sound_id) == ("completed", None)
        store = GameManager(database, QUICK).matches
        with pytest.raises(DamagedRowError, match="order holds 5"):
            await store.get(match_id)
        found = await store.find(match_id)
        record = record_of(await JournalStore(database).entries(match_id))
    assert found is not None
    assert (found.status, found.damage, record.status) == ("failed", "order holds 5", "failed")


@pytest.mark.sampled(2)
async def test_a_match_that_cannot_even_fail_keeps_no_other_from_its_end(
    sqlite: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with broken_off(sqlite) as (damaged_id, _), broken_off(sqlite) as (sound_id, is_free):
        await change(sqlite, sa.update(matches).where(matches.c.id == damaged_id).values(order=5))
        is_free.set()
        monkeypatch.setattr(MatchStore, "fail", AsyncMock(side_effect=RuntimeError("of a kind that was not foreseen")))
        assert await ended(sqlite, sound_id) == ("completed", None)


@pytest.mark.sampled(2)
async def test_a_match_that_cannot_go_on_is_aborted_all_the_same(database: Database) -> None:
    async with broken_off(database) as (match_id, _):
        await change(database, sa.update(matches).where(matches.c.id == match_id).values(order=NO_ORDER))
        idle = GameManager(database, QUICK)
        assert await idle.abort(match_id, "enough")
        status, _ = await ended(database, match_id)
        assert (status, await idle.abort(match_id, "again")) == ("failed", False)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("is_aborted", [False, True])
async def test_a_match_of_which_nothing_can_be_written_has_failed_and_others_go_on(
    database: Database, is_aborted: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async with broken_off(database) as (match_id, is_free), listening(YES) as player:
        await change(database, *refusals(database, match_id))
        is_free.set()
        manager = GameManager(database, QUICK)
        if is_aborted:
            await manager.abort(match_id, "enough")
        await manager.start()
        other = (await manager.order(order(player, player))).row.id
        assert (await until(manager, other, "completed")).n_errors == 0
        row = await until(manager, match_id, "failed")
        entries = await manager.journals.entries(match_id)
        await manager.close()
    n_attempts = sum("stands still" in line.message and match_id in line.message for line in caplog.records)
    assert "no more of this" in (row.abort_reason or "")
    assert n_attempts == (1 if is_aborted else MAX_ATTEMPTS)
    assert record_of(entries).as_json()["x-end"]["how"] == "failed"


def refusals(database: Database, match_id: str) -> list[sa.TextClause]:
    """Return what makes a database refuse any answer in one match."""
    condition = f"NEW.match_id = '{match_id}' AND NEW.kind IN ('answered', 'aborted')"
    if database.is_sqlite:
        raising = "SELECT RAISE(ABORT, 'no more of this')"
        return [sa.text(f"CREATE TRIGGER refusing BEFORE INSERT ON events WHEN {condition} BEGIN {raising}; END")]
    raising = "RAISE EXCEPTION 'no more of this' USING ERRCODE = 'check_violation'"
    function = f"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {raising}; END $$"
    trigger = (
        f"CREATE TRIGGER refusing BEFORE INSERT ON events FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION refuse()"
    )
    return [sa.text(function), sa.text(trigger)]


@pytest.mark.sampled(2)
async def test_a_queue_with_a_damaged_match_goes_on(database: Database) -> None:
    async with listening(YES) as player:
        idle = GameManager(database, QUICK)
        ids = [(await idle.order(order(player, player))).row.id for _ in range(3)]
        await change(
            database,
            sa.update(matches).where(matches.c.id == ids[0]).values(order=[1]),
            sa.update(seats).where(seats.c.match_id == ids[1], seats.c.role == "left").values(n_moves=-5),
        )
        manager = GameManager(database, QUICK)
        await manager.start()
        for match_id in ids[1:]:
            await until(manager, match_id, "completed")
        found = await manager.matches.find(ids[0])
        await manager.close()
    assert found is not None
    assert found.damage == "order holds [1]"


@pytest.mark.sampled(2)
async def test_a_start_that_fails_says_why(database: Database) -> None:
    await change(database, sa.text("ALTER TABLE games RENAME TO gone"))
    with pytest.raises(StorageError, match="games"):
        async with managing(database, QUICK, Watch()):
            pass
    await change(database, sa.text("ALTER TABLE gone RENAME TO games"))
