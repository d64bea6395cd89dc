"""A backup holds everything that there was at one moment, and makes a database of either kind again."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import URL

from server.match.exchange import Message
from server.records.entries import SentEntry
from server.storage.accounts import PlayerStore
from server.storage.backup import back_up, restore
from server.storage.database import Database
from server.storage.errors import (
    DatabaseLockedError,
    DatabaseOpenError,
    DatabaseVersionError,
    OwnFileError,
    TargetExistsError,
)
from server.storage.match_changes import summary_of
from server.storage.rows import PlayerRow, SeatKind
from server.storage.schema import METADATA
from server.storage.writer import EventWriter
from tests.kit.disks import no_file_beyond
from tests.kit.server.postgresql import passing_database
from tests.kit.server.storage.samples import begun, journal

Rows = dict[str, list[Any]]


async def rows_of(database: Database) -> Rows:
    found = {}
    async with database.reading() as connection:
        for table in METADATA.sorted_tables:
            rows = (await connection.execute(sa.select(table).order_by(*table.primary_key))).all()
            found[table.name] = [tuple(row) for row in rows]
    return found


async def rows_at(address: str) -> Rows:
    database = await Database.open(address, migrate=False)
    found = await rows_of(database)
    await database.close()
    return found


async def fill(database: Database) -> None:
    """Keep a match that is over, one that is played, and a player."""
    await begun(database, "over", "played")
    writer = EventWriter(database, "here")
    for match_id in ("over", "played"):
        for number, entry in enumerate(journal(match_id)):
            writer.put(match_id, number, entry)
    await writer.finish("over", summary_of(journal("over")), {"matchHostPK": "0key"})
    await writer.flush("played")
    await writer.close()
    await PlayerStore(database).put(PlayerRow("ann", SeatKind.HTTP, "me", 1, info={"name": "Ann\0"}))


@pytest.fixture(params=["sqlite", "postgresql"])
def other_address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the address of a second database, of each kind in turn."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/other.sqlite"
        return
    server: URL = request.getfixturevalue("postgresql")
    with passing_database(server) as address:
        yield address


@pytest.mark.sampled(3)
async def test_what_is_backed_up_from_any_database_is_restored_to_any(
    database: Database, database_address: str, other_address: str, tmp_path: Path
) -> None:
    await fill(database)
    before = await rows_of(database)
    await back_up(database_address, tmp_path / "backup")
    await restore(tmp_path / "backup", other_address)
    assert {name: len(rows) for name, rows in before.items() if rows} == {
        "games": 1, "versions": 1, "players": 1, "matches": 2, "seats": 4, "events": 8, "records": 1,
    }  # fmt: skip
    assert await rows_at(other_address) == before


async def test_a_backup_leaves_one_file(database: Database, database_address: str, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    await fill(database)
    await back_up(database_address, folder / "backup")
    assert [(path.name, oct(path.stat().st_mode)[-3:]) for path in folder.iterdir()] == [("backup", "600")]


@pytest.mark.sampled(2)
async def test_a_backup_of_a_database_that_is_written_is_one_moment_of_it(
    database: Database, database_address: str, tmp_path: Path
) -> None:
    store = await begun(database, "m")
    writer = EventWriter(database, "here")
    is_done = asyncio.Event()

    async def write() -> None:
        number = 0
        while not is_done.is_set():
            for _ in range(2):
                writer.put("m", number, SentEntry(number, number, "x", Message.PLAY, "(PLAY)"))
                number += 1
            await writer.flush("m")

    writing = asyncio.create_task(write())
    for number in range(3):
        await back_up(database_address, tmp_path / f"backup{number}")
    is_done.set()
    await writing
    await writer.close()
    assert await store.has("m")
    for number in range(3):
        found = [row[1] for row in (await rows_at(str(tmp_path / f"backup{number}")))["events"]]
        assert (found, len(found) % 2) == (list(range(len(found))), 0)


async def test_a_backup_replaces_nothing_unasked(database_address: str, tmp_path: Path) -> None:
    await (await Database.open(database_address)).close()
    (tmp_path / "backup").write_text("precious")
    with pytest.raises(TargetExistsError):
        await back_up(database_address, tmp_path / "backup")
    assert (tmp_path / "backup").read_text() == "precious"
    await back_up(database_address, tmp_path / "backup", may_replace=True)
    assert (await rows_at(str(tmp_path / "backup")))["matches"] == []


def inodes_in(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_ino for path in folder.iterdir()}


async def test_where_the_disk_is_full_the_file_is_named_that_was_wanted(database_address: str, tmp_path: Path) -> None:
    await (await Database.open(database_address)).close()
    with no_file_beyond(2**16), pytest.raises(DatabaseOpenError) as caught:
        await back_up(database_address, tmp_path / "backup")
    left = [name for name in inodes_in(tmp_path) if "backup" in name]
    assert (caught.value.database, left) == (str(tmp_path / "backup"), [])


async def test_where_the_disk_is_full_the_database_is_named_that_was_to_be_restored(
    backup: Path, tmp_path: Path
) -> None:
    with no_file_beyond(2**16), pytest.raises(DatabaseOpenError) as caught:
        await restore(backup, str(tmp_path / "new.sqlite"))
    left = [name for name in inodes_in(tmp_path) if name.startswith(".")]
    assert (caught.value.database, left) == (str(tmp_path / "new.sqlite"), [])


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "name", ["live.sqlite", "link.sqlite", "live.sqlite-wal", "live.sqlite-shm", "live.sqlite.lock"]
)
async def test_a_backup_never_takes_the_place_of_what_belongs_to_its_database(tmp_path: Path, name: str) -> None:
    database = await Database.open(str(tmp_path / "live.sqlite"))
    await fill(database)
    (tmp_path / "link.sqlite").symlink_to("live.sqlite")
    before = inodes_in(tmp_path)
    with pytest.raises(OwnFileError, match="name another file for the backup"):
        await back_up(str(tmp_path / "live.sqlite"), tmp_path / name, may_replace=True)
    assert inodes_in(tmp_path) == before
    await database.close()


async def test_a_backup_never_takes_the_place_of_a_database_that_a_server_uses(backup: Path, tmp_path: Path) -> None:
    used = await Database.open(str(tmp_path / "used.sqlite"))
    with pytest.raises(DatabaseLockedError):
        await back_up(str(tmp_path / "first.sqlite"), tmp_path / "used.sqlite", may_replace=True)
    assert (await rows_of(used))["players"] == []
    await used.close()
    await back_up(str(tmp_path / "first.sqlite"), tmp_path / "used.sqlite", may_replace=True)
    assert await rows_at(str(tmp_path / "used.sqlite")) == await rows_at(str(backup))


async def test_a_backup_in_place_of_a_database_has_nothing_of_its_log(backup: Path, tmp_path: Path) -> None:
    live = await Database.open(str(tmp_path / "live.sqlite"))
    await PlayerStore(live).put(PlayerRow("bob", SeatKind.HTTP, "me", 1))
    shutil.copyfile(tmp_path / "live.sqlite-wal", tmp_path / "old.sqlite-wal")
    shutil.copyfile(tmp_path / "live.sqlite", tmp_path / "old.sqlite")
    await live.close()
    await back_up(str(tmp_path / "first.sqlite"), tmp_path / "old.sqlite", may_replace=True)
    assert await rows_at(str(tmp_path / "old.sqlite")) == await rows_at(str(backup))


@pytest.fixture
async def backup(tmp_path: Path) -> Path:
    """Return a backup in which there is something."""
    database = await Database.open(str(tmp_path / "first.sqlite"))
    await fill(database)
    await database.close()
    await back_up(str(tmp_path / "first.sqlite"), tmp_path / "backup")
    return tmp_path / "backup"


async def test_a_database_is_not_replaced_unasked(database_address: str, backup: Path) -> None:
    database = await Database.open(database_address)
    await PlayerStore(database).put(PlayerRow("bob", SeatKind.HTTP, "me", 1))
    await database.close()
    with pytest.raises(TargetExistsError):
        await restore(backup, database_address)
    assert [row[0] for row in (await rows_at(database_address))["players"]] == ["bob"]
    await restore(backup, database_address, may_replace=True)
    assert await rows_at(database_address) == await rows_at(str(backup))


async def test_what_was_not_yet_in_the_file_itself_does_not_come_back(tmp_path: Path, backup: Path) -> None:
    """A server that was killed leaves commits in the write-ahead log beside its file."""
    database = await Database.open(str(tmp_path / "live.sqlite"))
    await PlayerStore(database).put(PlayerRow("bob", SeatKind.HTTP, "me", 1))
    killed = tmp_path / "killed.sqlite"
    for ending in ("", "-wal"):
        shutil.copyfile(tmp_path / f"live.sqlite{ending}", tmp_path / f"killed.sqlite{ending}")
    await database.close()
    await restore(backup, str(killed), may_replace=True)
    assert await rows_at(str(killed)) == await rows_at(str(backup))


async def test_a_damaged_file_is_replaced_and_belongs_to_whom_it_belonged(tmp_path: Path, backup: Path) -> None:
    broken = tmp_path / "broken.sqlite"
    broken.write_bytes(b"garbage" * 1000)
    broken.chmod(0o640)
    await restore(backup, str(broken), may_replace=True)
    assert await rows_at(str(broken)) == await rows_at(str(backup))
    assert stat.S_IMODE(broken.stat().st_mode) == 0o640


async def test_nothing_is_restored_under_a_server(tmp_path: Path, backup: Path) -> None:
    database = await Database.open(str(tmp_path / "used.sqlite"))
    with pytest.raises(DatabaseLockedError):
        await restore(backup, str(tmp_path / "used.sqlite"), may_replace=True)
    await database.close()


async def test_a_backup_of_a_newer_version_is_refused(database_address: str, backup: Path) -> None:
    with closing(sqlite3.connect(backup)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    with pytest.raises(DatabaseVersionError, match="newer version"):
        await restore(backup, database_address)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "there is no such file"),
        (b"", "it is no database of ours"),
        (b"garbage" * 1000, "it is no database of ours"),
    ],
)
async def test_what_is_no_backup_is_refused(
    database_address: str, tmp_path: Path, content: bytes | None, reason: str
) -> None:
    if content is not None:
        (tmp_path / "backup").write_bytes(content)
    with pytest.raises(DatabaseOpenError, match=reason):
        await restore(tmp_path / "backup", database_address)


def damage(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[8192:-4096] = bytes(len(content) - 8192 - 4096)
    file.write_bytes(content)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_a_damaged_backup_is_refused(database_address: str, backup: Path) -> None:
    damage(backup)
    with pytest.raises(DatabaseOpenError, match=r"damaged|no database of ours"):
        await restore(backup, database_address)


async def test_a_database_that_is_not_there_is_not_backed_up(tmp_path: Path) -> None:
    with pytest.raises(DatabaseOpenError, match="there is no such file"):
        await back_up(str(tmp_path / "missing.sqlite"), tmp_path / "backup")
    assert names_in(tmp_path) == []
