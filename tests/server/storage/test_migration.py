"""The tables are made by the migrations alone, and are then those of the schema."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.engine import URL

from server.errors import DatabaseOpenError, DatabaseVersionError
from server.storage.database import Database
from server.storage.migration import FOLDER
from server.storage.schema import METADATA, REVISION
from tests.server.postgresql import passing_database


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the address of a database that is there and holds nothing, of each kind in turn."""
    if request.param == "sqlite":
        (tmp_path / "ggp.sqlite").touch()
        yield f"sqlite:///{tmp_path}/ggp.sqlite"
        return
    server: URL = request.getfixturevalue("postgresql")
    with passing_database(server) as address:
        yield address


def test_the_newest_migration_is_the_revision_that_the_program_works_with() -> None:
    assert ScriptDirectory(str(FOLDER)).get_heads() == [REVISION]


async def test_an_empty_database_is_brought_to_the_tables_of_the_schema(empty_address: str) -> None:
    def differences(connection: sa.Connection) -> object:
        return compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), METADATA)

    database = await Database.open(empty_address)
    async with database.reading() as connection:
        found = await connection.run_sync(differences)
    await database.close()
    assert found == []


async def test_a_database_that_was_opened_before_is_opened_again(empty_address: str) -> None:
    await (await Database.open(empty_address)).close()
    await (await Database.open(empty_address, migrate=False)).close()


async def test_servers_that_start_at_once_make_the_tables_of_postgresql_once(postgresql: URL) -> None:
    with passing_database(postgresql) as address:
        for database in await asyncio.gather(*(Database.open(address) for _ in range(4))):
            await database.close()


async def test_tables_of_a_newer_version_are_left_alone(database_address: str) -> None:
    database = await Database.open(database_address)
    async with database.begin() as connection:
        await connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    await database.close()
    with pytest.raises(DatabaseVersionError, match=r"newer version of ggp.*revision 9999; this is 0001"):
        await Database.open(database_address)


async def test_a_database_without_tables_is_refused_where_it_may_not_be_changed(empty_address: str) -> None:
    with pytest.raises(DatabaseVersionError, match="older version"):
        await Database.open(empty_address, migrate=False)


async def test_a_file_with_tables_of_something_else_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.sqlite") as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    with pytest.raises(DatabaseOpenError, match="it holds something else"):
        await Database.open(str(tmp_path / "other.sqlite"))
