"""Databases for tests: a test that takes `database` or `database_address` runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy.engine import URL

from server.storage.database import Database
from tests.server.postgresql import passing_database, postgresql_server


@pytest.fixture(scope="session")
def postgresql() -> Iterator[URL]:
    """Return the address of a PostgreSQL server."""
    with postgresql_server() as address:
        yield address


@pytest.fixture
def postgresql_address(postgresql: URL) -> Iterator[str]:
    """Return the address of an empty PostgreSQL database."""
    with passing_database(postgresql) as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def database_address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of an empty database, of each kind in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/ggp.sqlite"
    found: str = request.getfixturevalue("postgresql_address")
    return found


@pytest.fixture
async def database(database_address: str) -> AsyncIterator[Database]:
    """Return an open database with all tables, of each kind in turn."""
    opened = await Database.open(database_address)
    yield opened
    await opened.close()
