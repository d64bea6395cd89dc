"""What an address of a database says, and files of SQLite where nothing can be written."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from server.storage.address import DatabaseAddress, FileLock, beside, check_file, read_address, readable
from server.storage.errors import DatabaseLockedError, DatabaseOpenError


@pytest.mark.parametrize(
    ("text", "shown", "url"),
    [
        ("a.sqlite", "a.sqlite", "sqlite+aiosqlite:///a.sqlite"),
        ("sqlite:///a.sqlite", "a.sqlite", "sqlite+aiosqlite:///a.sqlite"),
        ("sqlite+aiosqlite:////srv/a.sqlite", "/srv/a.sqlite", "sqlite+aiosqlite:////srv/a.sqlite"),
        ("postgresql://me:secret@host/ggp", "postgresql://me:***@host/ggp", "postgresql+asyncpg://me:secret@host/ggp"),
        ("postgres://host/ggp", "postgresql://host/ggp", "postgresql+asyncpg://host/ggp"),
        ("postgresql+asyncpg://host/ggp", "postgresql://host/ggp", "postgresql+asyncpg://host/ggp"),
        (
            "postgresql://host/ggp?sslmode=require&port=5433",
            "postgresql://host/ggp?port=5433&ssl=require",
            "postgresql+asyncpg://host/ggp?port=5433&ssl=require",
        ),
    ],
)
def test_what_an_address_says(text: str, shown: str, url: str) -> None:
    found = read_address(text)
    assert (str(found), found.url.render_as_string(hide_password=False)) == (shown, url)
    assert found.path == (Path(shown) if url.startswith("sqlite") else None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "sqlite://: a database is kept in a file; name one"),
        ("sqlite://", "sqlite://: a database is kept in a file; name one"),
        ("sqlite:///:memory:", ":memory:: a database is kept in a file; name one"),
        (
            "mysql://me:secret@host/name",
            "mysql://me:***@host/name: an address is sqlite:///FILE, postgresql://USER:PASSWORD@HOST/NAME, "
            "or the path of a file",
        ),
        ("postgresql://me:secr@t@host:port/name", "postgresql://host:port/name: no address of a database"),
        ("postgresql://me:a://b@host:port/name", "postgresql://host:port/name: no address of a database"),
    ],
)
def test_what_is_no_address_is_refused_without_its_password(text: str, message: str) -> None:
    with pytest.raises(DatabaseOpenError) as caught:
        read_address(text)
    assert str(caught.value) == f"the database {message}"


def test_a_file_is_made_once_and_only_where_it_may_be(tmp_path: Path) -> None:
    address = read_address(str(tmp_path / "a.sqlite"))
    with pytest.raises(DatabaseOpenError, match=r"a\.sqlite: there is no such file$"):
        check_file(address, may_make=False)
    check_file(address, may_make=True)
    assert stat.S_IMODE((tmp_path / "a.sqlite").stat().st_mode) == 0o600
    (tmp_path / "a.sqlite").write_text("kept")
    check_file(address, may_make=True)
    assert (tmp_path / "a.sqlite").read_text() == "kept"


@pytest.mark.parametrize(
    ("name", "reason"), [("missing/a.sqlite", "there is no folder {}/missing"), ("", "Is a directory")]
)
def test_why_a_file_cannot_be_made(tmp_path: Path, name: str, reason: str) -> None:
    address = read_address(str(tmp_path / name))
    with pytest.raises(DatabaseOpenError) as caught:
        check_file(address, may_make=True)
    assert (caught.value.database, caught.value.reason) == (str(tmp_path / name), reason.format(tmp_path))


@pytest.fixture
def nothing_is_writable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the system say of everything that it cannot be written, which it never does to root."""
    monkeypatch.setattr("os.access", lambda _path, mode: mode != os.W_OK)


def in_folder(folder: Path, *endings: str) -> DatabaseAddress:
    """Return the address of a file of SQLite in *folder* that has others, not empty, with these *endings* beside it."""
    path = folder / "a b.sqlite"
    for ending in ("", *endings):
        path.with_name(path.name + ending).write_text("x")
    return read_address(str(path))


def test_where_files_can_be_written_they_are_opened_as_usual(tmp_path: Path) -> None:
    address = in_folder(tmp_path, "-wal")
    assert readable(address) is address


@pytest.mark.usefixtures("nothing_is_writable")
def test_a_file_that_no_process_can_write_is_opened_as_immutable(tmp_path: Path) -> None:
    address = in_folder(tmp_path)
    beside(tmp_path / "a b.sqlite")["-wal"].write_text("")
    found = readable(address)
    assert (found.path, found.url.database, dict(found.url.query)) == (
        tmp_path / "a b.sqlite",
        f"file:{tmp_path}/a%20b.sqlite",
        {"immutable": "1", "uri": "true"},
    )


@pytest.mark.usefixtures("nothing_is_writable")
def test_a_file_that_another_process_has_open_is_opened_as_usual(tmp_path: Path) -> None:
    address = in_folder(tmp_path, "-wal", "-shm")
    assert readable(address) is address


@pytest.mark.usefixtures("nothing_is_writable")
def test_changes_that_cannot_be_read_are_no_part_of_what_is_read(tmp_path: Path) -> None:
    address = in_folder(tmp_path, "-wal")
    with pytest.raises(DatabaseOpenError) as caught:
        readable(address)
    assert (caught.value.database, caught.value.reason) == (
        str(tmp_path / "a b.sqlite"),
        "a b.sqlite-wal holds changes, which cannot be read where nothing can be written; "
        "copy both files to another folder, and name the copy",
    )


def test_a_lock_that_was_released_twice_belongs_to_the_one_that_took_it_since(tmp_path: Path) -> None:
    database = tmp_path / "a.sqlite"
    first = FileLock(database)
    first.release()
    second = FileLock(database)
    first.release()
    with pytest.raises(DatabaseLockedError):
        FileLock(database)
    second.release()
    assert [path.name for path in tmp_path.iterdir()] == ["a.sqlite.lock"]


def test_postgresql_has_no_file_to_make() -> None:
    address = read_address("postgresql://host/ggp")
    check_file(address, may_make=False)
    assert readable(address) is address
