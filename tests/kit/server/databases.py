"""Databases for tests: a test that takes `database` or `database_address` runs on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy.engine import URL, make_url

from server.storage.database import Database
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


@pytest.fixture(scope="session")
def sqlite_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of SQLite with all tables, to be copied."""
    path = tmp_path_factory.mktemp("model") / "model.sqlite"
    _make_tables(str(path))
    return path


def _make_tables(address: str) -> None:
    async def run() -> None:
        await (await Database.open(address)).close()

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
        shutil.copyfile(request.getfixturevalue("sqlite_model"), tmp_path / "ggp.sqlite")
        return f"sqlite:///{tmp_path}/ggp.sqlite"
    found: str = request.getfixturevalue("postgresql_address")
    return found


@pytest.fixture
async def database(database_address: str) -> AsyncIterator[Database]:
    """Return an open database with all tables, of each kind in turn."""
    opened = await Database.open(database_address)
    yield opened
    await opened.close()
