"""What keeps a database from being written for a while, made by other processes and by a disk that is full."""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeAlias

import asyncpg  # type: ignore[import-untyped]  # it ships no types
import pytest
from sqlalchemy.engine import URL, make_url

from tests.kit.server.postgresql import execute

Outage: TypeAlias = AbstractAsyncContextManager[None]
DISK: Final = "64m"
_LOCK: Final = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
connection.execute("ROLLBACK")
"""
_BALLAST: Final = """
INSERT INTO events (match_id, number, kind, at_ms, body) SELECT min(id), $1, 'ballast', 0, $2 FROM matches
"""


@contextmanager
def small_disk() -> Iterator[Path]:
    """Yield a folder that is a small file system of its own; skip where this process may not mount one."""
    with tempfile.TemporaryDirectory(prefix="ggp-disk-") as name:
        folder = Path(name) / "disk"
        folder.mkdir()
        Path(name).chmod(0o755)  # PostgreSQL runs as another user
        mounting = ("mount", "-t", "tmpfs", "-o", f"size={DISK},mode=0777", "ggp-test", str(folder))
        if os.geteuid() != 0 or subprocess.run(mounting, check=False, capture_output=True).returncode:
            pytest.skip("NOT TESTED: a full disk. It takes root, and the right to mount a file system")
        try:
            yield folder
        finally:
            subprocess.run(("umount", "-l", str(folder)), check=True)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let nothing be written in *folder* while the block runs; skip where root may not mount it so."""
    if os.geteuid() != 0:
        folder.chmod(0o500)
        try:
            yield
        finally:
            folder.chmod(0o700)
        return
    mounting = ("mount", "--bind", str(folder), str(folder))
    if subprocess.run(mounting, check=False, capture_output=True).returncode:
        pytest.skip("NOT TESTED: a read-only folder. As root it takes the right to mount a file system")
    try:
        subprocess.run(("mount", "-o", "remount,bind,ro", str(folder)), check=True)
        yield
    finally:
        subprocess.run(("umount", "-l", str(folder)), check=True)


@asynccontextmanager
async def full(disk: Path) -> AsyncIterator[None]:
    """Leave no byte on the file system at *disk* while the block runs."""
    filler = disk / "filler"

    def fill() -> None:
        for path in disk.glob("*.sqlite"):
            _empty_log(path)
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(4096))

    await asyncio.to_thread(fill)
    try:
        yield
    finally:
        filler.unlink()


@asynccontextmanager
async def full_tables(disk: Path, address: str) -> AsyncIterator[None]:
    """Leave no byte on the file system at *disk*, nor in the pages of the events that a PostgreSQL database has there.

    PostgreSQL makes tables longer by many pages at a time: without the rows that fill these, it could write for long.
    """
    connection = await asyncpg.connect(_plain(address))
    try:
        async with full(disk), _rolled_back(connection):
            for n_bytes in (1000, 1):
                await _fill_pages(connection, n_bytes)
            yield
    finally:
        await connection.close()


@asynccontextmanager
async def _rolled_back(connection: Any) -> AsyncIterator[None]:
    transaction = connection.transaction()
    await transaction.start()
    try:
        yield
    finally:
        await transaction.rollback()


async def _fill_pages(connection: Any, n_bytes: int) -> None:
    """Insert events of *n_bytes* until the disk has no room for another."""
    for number in itertools.count(1_000_000 * n_bytes):
        try:
            async with connection.transaction():
                await connection.execute(_BALLAST, number, "x" * n_bytes)
        except asyncpg.DiskFullError:
            return


@asynccontextmanager
async def locked_file(path: Path) -> AsyncIterator[None]:
    """Have another process hold the lock of a file of SQLite while the block runs."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _LOCK, str(path), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert await process.stdout.readline() == b"locked\n"
    try:
        yield
    finally:
        process.stdin.close()
        assert await process.wait() == 0


@asynccontextmanager
async def locked_table(address: str) -> AsyncIterator[None]:
    """Hold the lock of the events in a PostgreSQL database while the block runs."""
    connection = await asyncpg.connect(_plain(address))
    try:
        async with connection.transaction():
            await connection.execute("LOCK TABLE events IN ACCESS EXCLUSIVE MODE")
            yield
    finally:
        await connection.close()


@asynccontextmanager
async def stopped(server: URL, address: str) -> AsyncIterator[None]:
    """Break all connections to a PostgreSQL database, and allow no new ones while the block runs."""
    name = make_url(address).database
    await asyncio.to_thread(execute, server, f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    ending = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
    await asyncio.to_thread(execute, server, ending)
    try:
        yield
    finally:
        await asyncio.to_thread(execute, server, f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")


@contextmanager
def database_on(server: URL, disk: Path, model: URL) -> Iterator[str]:
    """Yield the address of a PostgreSQL database like *model* whose tables are on the file system at *disk*."""
    folder, name = disk / "tables", f"small_{os.getpid()}"
    folder.mkdir()
    shutil.chown(folder, "postgres", "postgres")
    execute(server, f"CREATE TABLESPACE {name} LOCATION '{folder}'")
    try:
        execute(server, f"CREATE DATABASE {name} TEMPLATE {model.database} TABLESPACE {name}")
        yield server.set(database=name).render_as_string(hide_password=False)
    finally:
        execute(server, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        execute(server, f"DROP TABLESPACE {name}")


def _empty_log(path: Path) -> None:
    """Leave no room in the file that SQLite writes to first, which it uses again and again."""
    connection = sqlite3.connect(path, timeout=30)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    connection.close()


def is_sound(path: Path) -> bool:
    """Return whether a file of SQLite is."""
    with closing(sqlite3.connect(path)) as connection:
        return bool(connection.execute("PRAGMA integrity_check").fetchone() == ("ok",))


def _plain(address: str) -> str:
    return make_url(address).set(drivername="postgresql").render_as_string(hide_password=False)
