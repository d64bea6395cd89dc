"""Databases are opened by address, kept from others, and fail with errors of our own."""

from __future__ import annotations

import asyncio
import gc
import socket
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url

from server.storage.address import FileLock
from server.storage.database import Database
from server.storage.errors import DatabaseLockedError, DatabaseOpenError, StorageError
from server.storage.revisions import REVISION
from tests.kit.server.hosting.outages import stopped
from tests.kit.server.locks import without_locks
from tests.kit.server.postgresql import execute


async def test_what_is_written_in_a_transaction_is_read_after_it(database: Database) -> None:
    async with database.begin() as connection:
        await connection.execute(sa.text("INSERT INTO tokens VALUES ('a', 'b', 'c', 'd', 1, 2, 3, 4, 'e')"))
    async with database.reading() as connection:
        rows = (await connection.execute(sa.text("SELECT * FROM tokens"))).all()
    assert [tuple(row) for row in rows] == [("a", "b", "c", "d", 1, 2, 3, 4, "e")]


async def test_a_transaction_that_raises_leaves_nothing(database: Database) -> None:
    async def fail() -> None:
        async with database.begin() as connection:
            await connection.execute(sa.text("DELETE FROM alembic_version"))
            raise KeyError

    with pytest.raises(KeyError):
        await fail()
    async with database.reading() as connection:
        assert await connection.scalar(sa.text("SELECT count(*) FROM alembic_version")) == 1


async def test_a_transaction_that_is_cancelled_leaves_nothing_and_lets_others_write(database: Database) -> None:
    is_within = asyncio.Event()

    async def stay() -> None:
        async with database.begin() as connection:
            await connection.execute(sa.text("DELETE FROM alembic_version"))
            is_within.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(stay())
    await is_within.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    async with database.begin() as connection:
        assert await connection.scalar(sa.text("SELECT count(*) FROM alembic_version")) == 1


async def test_a_task_that_is_cancelled_within_a_query_does_not_keep_the_file_locked(tmp_path: Path) -> None:
    database = await Database.open(str(tmp_path / "a.sqlite"))

    async def query() -> None:
        async with database.begin() as connection:
            task = asyncio.current_task()
            assert task is not None
            sa.event.listen(connection.sync_connection, "before_cursor_execute", lambda *_: task.cancel())
            await connection.execute(sa.text("SELECT * FROM sqlite_master"))

    gc.disable()  # which would end the transaction some time later
    try:
        found = await asyncio.gather(query(), return_exceptions=True)
        with closing(sqlite3.connect(tmp_path / "a.sqlite", timeout=0, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
    finally:
        gc.enable()
        await database.close()
    assert [type(error) for error in found] == [asyncio.CancelledError]


async def test_a_statement_that_fails_is_an_error_of_the_database(database: Database) -> None:
    with pytest.raises(StorageError) as caught:
        async with database.begin() as connection:
            await connection.execute(sa.text("SELECT * FROM nowhere"))
    assert (caught.value.database, "nowhere" in caught.value.reason) == (database.name, True)


async def test_those_who_write_wait_for_each_other(database: Database) -> None:
    async def count() -> None:
        async with database.begin() as connection:
            await connection.execute(sa.text("UPDATE tokens SET used_ms = used_ms + 1"))

    async with database.begin() as connection:
        await connection.execute(sa.text("INSERT INTO tokens VALUES ('a', 'b', 'c', 'd', 1, 2, 3, 0, 'e')"))
    await asyncio.gather(*(count() for _ in range(30)))
    async with database.reading() as connection:
        assert await connection.scalar(sa.text("SELECT used_ms FROM tokens")) == 30


async def test_a_file_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    database = await Database.open(str(tmp_path / "a.sqlite"))
    async with database.begin() as connection:
        await connection.execute(sa.text("UPDATE tokens SET used_ms = 1"))
    modes = modes_in(tmp_path)
    await database.close()
    assert modes == dict.fromkeys(["a.sqlite", "a.sqlite-shm", "a.sqlite-wal", "a.sqlite.lock"], "600")


def modes_in(folder: Path) -> dict[str, str]:
    return {path.name: oct(path.stat().st_mode)[-3:] for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("name", ["missing/a.sqlite", "."])
async def test_a_file_that_cannot_be_made_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DatabaseOpenError):
        await Database.open(str(tmp_path / name))


async def test_a_version_of_sqlite_that_is_too_old_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlite3.sqlite_version_info", (3, 34, 1))
    monkeypatch.setattr("sqlite3.sqlite_version", "3.34.1")
    with pytest.raises(DatabaseOpenError, match=r"SQLite 3\.34\.1 is too old; 3\.35 or newer is needed, or PostgreSQL"):
        await Database.open(str(tmp_path / "a.sqlite"))
    assert modes_in(tmp_path) == {}


async def test_a_second_server_is_kept_from_a_file(tmp_path: Path) -> None:
    first = await Database.open(str(tmp_path / "a.sqlite"))
    with pytest.raises(DatabaseLockedError, match="another server uses it"):
        await Database.open(f"sqlite:///{tmp_path}/a.sqlite")
    await first.close()
    await (await Database.open(str(tmp_path / "a.sqlite"))).close()


async def test_a_file_system_without_locks_is_no_second_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fcntl.flock", without_locks)
    with pytest.raises(DatabaseOpenError, match=r"a\.sqlite\.lock: No locks available") as caught:
        await Database.open(str(tmp_path / "a.sqlite"))
    assert type(caught.value) is DatabaseOpenError


async def test_a_second_server_is_kept_from_a_file_by_a_symbolic_link_too(tmp_path: Path) -> None:
    first = await Database.open(str(tmp_path / "a.sqlite"))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link.sqlite").symlink_to("../a.sqlite")
    with pytest.raises(DatabaseLockedError, match="another server uses it"):
        await Database.open(str(tmp_path / "folder" / "link.sqlite"))
    await first.close()


async def test_a_command_looks_at_a_file_that_a_server_uses(tmp_path: Path) -> None:
    server = await Database.open(str(tmp_path / "a.sqlite"))
    command = await Database.open(str(tmp_path / "a.sqlite"), exclusive=False)
    await command.close()
    await server.close()


async def test_commands_that_make_the_tables_of_one_file_at_once_wait_for_each_other(tmp_path: Path) -> None:
    opened = await asyncio.gather(
        *(Database.open(str(tmp_path / "a.sqlite"), exclusive=False, wait_s=60) for _ in range(4))
    )
    found = [await database.scalars(sa.text("SELECT version_num FROM alembic_version")) for database in opened]
    for database in opened:
        await database.close()
    assert found == [[REVISION]] * 4


async def test_a_command_waits_no_longer_than_it_may_for_a_server_that_makes_no_tables(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "a.sqlite")
    with pytest.raises(DatabaseLockedError):
        await Database.open(str(tmp_path / "a.sqlite"), exclusive=False, wait_s=0)
    lock.release()


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("mysql://me:secret@host/name", "mysql://me:***@host/name: an address is sqlite:///FILE, postgresql://"),
        ("postgresql://me:secret@host", "postgresql://me:***@host: an address is sqlite:///FILE, postgresql://"),
        ("postgresql://me:secret@host:port/name", "postgresql://host:port/name: no address of a database"),
        ("sqlite://", "sqlite://: a database is kept in a file; name one"),
        (":memory:", ":memory:: a database is kept in a file; name one"),
        ("nowhere/a.sqlite", "nowhere/a.sqlite: there is no folder nowhere"),
    ],
)
async def test_an_address_that_names_no_database_is_refused(address: str, message: str) -> None:
    with pytest.raises(DatabaseOpenError) as caught:
        await Database.open(address)
    assert str(caught.value).startswith(f"the database {message}")


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.sqlite").write_text("( role x )\n" * 100)
    with pytest.raises(DatabaseOpenError, match="file is not a database"):
        await Database.open(str(tmp_path / "a.sqlite"))


async def test_a_server_that_is_not_there_is_refused_without_the_password() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(DatabaseOpenError) as caught:
            await Database.open(f"postgresql://me:secret@127.0.0.1:{port}/ggp")
    assert (caught.value.database, "secret" in str(caught.value)) == (
        f"postgresql://me:***@127.0.0.1:{port}/ggp",
        False,
    )


async def test_a_database_that_is_not_on_the_server_is_refused(postgresql_address: str) -> None:
    missing = make_url(postgresql_address).set(database="missing").render_as_string(hide_password=False)
    with pytest.raises(DatabaseOpenError, match='database "missing" does not exist'):
        await Database.open(missing)


async def test_postgresql_ends_what_takes_too_long(postgresql_address: str) -> None:
    database = await Database.open(postgresql_address)
    names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "application_name")
    async with database.reading() as connection:
        found = [await connection.scalar(sa.text(f"SHOW {name}")) for name in names]
    await database.close()
    assert found == ["30s", "10s", "30s", "ggp"]


async def test_a_statement_that_takes_too_long_is_an_error_of_the_database(postgresql_address: str) -> None:
    database = await Database.open(postgresql_address)

    async def sleep() -> None:
        async with database.reading() as connection:
            await connection.execute(sa.text("SET LOCAL statement_timeout = 1"))
            await connection.execute(sa.text("SELECT pg_sleep(60)"))

    with pytest.raises(StorageError, match="canceling statement due to statement timeout"):
        await sleep()
    await database.close()


async def test_a_connection_that_broke_is_another_one_at_the_next_attempt(
    postgresql: URL, postgresql_address: str
) -> None:
    database = await Database.open(postgresql_address)
    assert [tuple(row) for row in await database.fetch("SELECT $1::integer", 1)] == [(1,)]
    ending = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database.address.url.database}'"
    await asyncio.to_thread(execute, postgresql, ending)
    with pytest.raises(StorageError):
        await database.fetch("SELECT $1::integer", 2)
    assert [tuple(row) for row in await database.fetch("SELECT $1::integer", 3)] == [(3,)]
    assert await database.scalar(sa.text("SELECT 4")) == 4
    await database.close()


async def test_a_task_that_is_cancelled_ends_although_its_connection_broke(
    postgresql: URL, postgresql_address: str
) -> None:
    database = await Database.open(postgresql_address)
    has_begun = asyncio.Event()

    async def work() -> None:
        async with database.begin() as connection:
            await connection.execute(sa.text("SELECT 1"))
            has_begun.set()
            await asyncio.Event().wait()

    working = asyncio.create_task(work())
    await has_begun.wait()
    async with stopped(postgresql, postgresql_address):
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
    await database.close()
