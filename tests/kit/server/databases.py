"""Databases for tests: a test that takes `database` or `database_address` runs on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest
from sqlalchemy.engine import URL, make_url

from server.hosting.game_finder import new_in_library
from server.storage.database import Database
from server.storage.games import GameStore
from tests.kit.server.postgresql import passing_database, postgresql_server


@pytest.fixture(scope="session")
def postgresql() -> Iterator[URL]:
    """Return the address of a PostgreSQL server."""
    with postgresql_server() as address:
        yield address


@pytest.fixture(scope="session")
def postgresql_model(postgresql: URL) -> Iterator[URL]:
    """Return the address of a PostgreSQL database with all tables, to be copied: no client may be connected to it."""
    with passing_database(postgresql) as address:
        _make_tables(address)
        yield make_url(address)


async def new_sqlite(folder: Path, *, has_library: bool = False) -> Database:
    """Open the file of SQLite in *folder*, as `copy_sqlite` makes it where there is none."""
    return await Database.open(copy_sqlite(folder, has_library=has_library))


def copy_sqlite(folder: Path, *, has_library: bool = False) -> str:
    """Return the address of `ggp.sqlite` in *folder*; where there is no such file, a model with all tables is copied.

    The games of the library are in it, if it *has_library*; nothing else is.
    """
    path = folder / "ggp.sqlite"
    if not path.exists():
        path.write_bytes(_sqlite_model(has_library=has_library))
    return f"sqlite:///{path}"


@cache
def _sqlite_model(*, has_library: bool) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.sqlite"
        _make_tables(str(path), has_library=has_library)
        return path.read_bytes()


def _make_tables(address: str, *, has_library: bool = False) -> None:
    async def run() -> None:
        database = await Database.open(address)
        if has_library:
            await GameStore(database).put(*new_in_library({}))
        await database.close()

    with ThreadPoolExecutor(1) as thread:  # an event loop may be running in this one
        thread.submit(asyncio.run, run()).result()


@pytest.fixture
def postgresql_address(postgresql: URL, postgresql_model: URL) -> Iterator[str]:
    """Return the address of a PostgreSQL database with all tables and no rows."""
    with passing_database(postgresql, postgresql_model.database) as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def database_address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of a database with all tables and no rows, of each kind in turn."""
    if request.param == "sqlite":
        return copy_sqlite(tmp_path)
    found: str = request.getfixturevalue("postgresql_address")
    return found


@pytest.fixture
async def database(database_address: str) -> AsyncIterator[Database]:
    """Return an open database with all tables, of each kind in turn."""
    opened = await Database.open(database_address)
    yield opened
    await opened.close()
