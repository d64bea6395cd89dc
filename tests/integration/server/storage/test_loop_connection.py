"""The event loop writes short transactions itself: where nothing else writes, and not soon after a slow one."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from server.storage.database import Database
from server.storage.engines import configure
from server.storage.loop_connection import CHECKPOINT_ROWS, PAUSE_FACTOR, QUICK_S, LoopConnection
from tests.kit.clocks import Stopwatch


@pytest.fixture
def clock() -> Stopwatch:
    return Stopwatch()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "matches.sqlite"
    with sqlite3.connect(made) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE numbers (number INTEGER)")
    connection.close()
    return made


@pytest.fixture
def loop_connection(path: Path, clock: Stopwatch) -> Iterator[LoopConnection]:
    found = LoopConnection(path, configure, clock)
    yield found
    found.close()


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await Database.open(str(tmp_path / "ggp.sqlite"))
    yield opened
    await opened.close()


def adding(*added: int, meanwhile: Callable[[], None] = lambda: None) -> Callable[[sqlite3.Connection], str]:
    def work(connection: sqlite3.Connection) -> str:
        connection.executemany("INSERT INTO numbers VALUES (?)", [(number,) for number in added])
        meanwhile()
        return "written"

    return work


def numbers(path: Path) -> list[int]:
    connection = sqlite3.connect(path)
    found = [number for (number,) in connection.execute("SELECT number FROM numbers ORDER BY number")]
    connection.close()
    return found


def test_what_was_written_is_there_for_others(loop_connection: LoopConnection, path: Path) -> None:
    assert (loop_connection.begin(), loop_connection.write(adding(1, 2)), numbers(path)) == (True, "written", [1, 2])


def test_of_what_fails_nothing_is_written(loop_connection: LoopConnection, path: Path) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    assert loop_connection.begin()
    with pytest.raises(ZeroDivisionError):
        loop_connection.write(adding(1, meanwhile=fail))
    assert (loop_connection.begin(), loop_connection.write(adding(2)), numbers(path)) == (True, "written", [2])


def test_nothing_is_begun_while_another_connection_writes(loop_connection: LoopConnection, path: Path) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    found = [loop_connection.begin()]
    other.execute("ROLLBACK")
    other.close()
    assert [*found, loop_connection.begin()] == [False, True]


def test_after_a_slow_transaction_the_loop_writes_none_for_a_multiple_of_its_time(
    loop_connection: LoopConnection, clock: Stopwatch
) -> None:
    def take(spent_s: float) -> None:
        clock.now_s += spent_s

    assert loop_connection.begin()
    loop_connection.write(adding(1, meanwhile=lambda: take(2 * QUICK_S)))
    take(2 * QUICK_S * PAUSE_FACTOR - 0.001)
    found = [loop_connection.begin()]
    take(0.002)
    assert [*found, loop_connection.begin()] == [False, True]


def test_a_checkpoint_is_due_after_so_many_rows(loop_connection: LoopConnection) -> None:
    due = []
    for n_rows in (CHECKPOINT_ROWS - 1, 1, 1):
        assert loop_connection.begin()
        loop_connection.write(adding(*range(n_rows)))
        due.append(loop_connection.needs_checkpoint())
    assert due == [False, True, False]


def test_a_failing_database_is_no_busy_one(tmp_path: Path) -> None:
    (tmp_path / "text.sqlite").write_text("no database" * 1_000)
    found = LoopConnection(tmp_path / "text.sqlite", configure)
    with pytest.raises(sqlite3.DatabaseError):
        found.begin()
    found.close()


async def test_the_event_loop_writes_where_nothing_else_does(database: Database) -> None:
    assert await database.write_driver(lambda _: threading.current_thread()) is threading.current_thread()


async def test_what_another_program_holds_up_is_written_by_a_thread(database: Database, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "ggp.sqlite", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    threading.Timer(0.05, lambda: other.execute("ROLLBACK")).start()
    assert await database.write_driver(lambda _: threading.current_thread()) is not threading.current_thread()
    other.close()


async def test_checkpoints_keep_the_log_short(database: Database, tmp_path: Path) -> None:
    def work(connection: sqlite3.Connection) -> None:
        rows = [(f"h{number}", number) for number in range(CHECKPOINT_ROWS // 10)]
        connection.executemany("INSERT OR REPLACE INTO heartbeats (holder, at_ms) VALUES (?, ?)", rows)

    log = tmp_path / "ggp.sqlite-wal"
    await database.write_driver(work)
    size_of_one = log.stat().st_size
    for n_written in range(1, 301):
        await database.write_driver(work)
        if n_written % 10 == 0:
            await database.write(lambda _: None)  # by when the checkpoint, which was first, has been made
    # A thread, which writes where the loop was slow, makes a checkpoint itself after a thousand pages.
    assert log.stat().st_size < 25 * size_of_one
