"""Where a database is, a file of SQLite or a server of PostgreSQL, and which files belong to it."""

import contextlib
import os
import sqlite3
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import quote

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from gdl.files import PRIVATE, open_locked
from server.storage.errors import DatabaseLockedError, DatabaseOpenError

DEFAULT_DATABASE: Final = "sqlite:///ggp.sqlite"
"""The address of the database where none is named."""
_POSTGRESQL: Final = frozenset({"postgresql", "postgres", "postgresql+asyncpg"})
_SQLITE: Final = frozenset({"sqlite", "sqlite+aiosqlite"})
_OLDEST_SQLITE: Final = (3, 35)
"""The first version that returns the rows that it has changed."""


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """An address that was understood: `path` is the file of SQLite, None for PostgreSQL."""

    url: URL
    path: Path | None

    def __str__(self) -> str:
        if self.path is not None:
            return str(self.path)
        return self.url.set(drivername="postgresql").render_as_string(hide_password=True)


def read_address(text: str) -> DatabaseAddress:
    """Return what *text* says: `sqlite:///FILE`, `postgresql://USER:PASSWORD@HOST/NAME`, or the path of a file.

    Raises:
        DatabaseOpenError: it is none of these.
    """
    if "://" not in text:
        return _file(text)
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise DatabaseOpenError(_without_password(text), "no address of a database") from error
    if url.drivername in _SQLITE:
        return _file(url.database or "")
    if url.drivername in _POSTGRESQL and url.database:
        return DatabaseAddress(_for_asyncpg(url), None)
    raise DatabaseOpenError(
        url.render_as_string(hide_password=True),
        "an address is sqlite:///FILE, postgresql://USER:PASSWORD@HOST/NAME, or the path of a file",
    )


def _file(path: str) -> DatabaseAddress:
    if not path or path == ":memory:":
        raise DatabaseOpenError(path or "sqlite://", "a database is kept in a file; name one")
    return DatabaseAddress(URL.create("sqlite+aiosqlite", database=path), Path(path))


def check_sqlite(address: DatabaseAddress) -> None:
    """Check that the SQLite of this Python can do what is asked of it, where *address* is one of its files.

    Raises:
        DatabaseOpenError: it is too old.
    """
    if address.path is not None and sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        oldest = ".".join(map(str, _OLDEST_SQLITE))
        reason = f"SQLite {sqlite3.sqlite_version} is too old; {oldest} or newer is needed, or PostgreSQL"
        raise DatabaseOpenError(str(address), reason)


def check_file(address: DatabaseAddress, *, may_make: bool) -> None:
    """Make the file of SQLite where there is none, readable by its owner alone: it says by what tokens are recognised.

    Raises:
        DatabaseOpenError: there is no folder for it, it cannot be made, or it is not there and *may_make* is false.
    """
    path = address.path
    if path is None or path.is_file():
        return
    if not path.absolute().parent.is_dir():
        raise DatabaseOpenError(str(address), f"there is no folder {path.parent}")
    if not may_make:
        raise DatabaseOpenError(str(address), "there is no such file")
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    except OSError as error:
        raise DatabaseOpenError(str(address), error.strerror or str(error)) from error


def _for_asyncpg(url: URL) -> URL:
    """Return *url* with what libpq calls `sslmode` as asyncpg calls it."""
    query = {("ssl" if name == "sslmode" else name): value for name, value in url.query.items()}
    return url.set(drivername="postgresql+asyncpg", query=query)


def _without_password(text: str) -> str:
    before, _, after = text.partition("://")
    return f"{before}://{after.rpartition('@')[2]}"


def beside(database: Path) -> dict[str, Path]:
    """Return the files that are beside *database* while it is used and belong to it, by the endings of their names."""
    file = database.resolve()
    return {ending: file.with_name(file.name + ending) for ending in ("-wal", "-shm", ".lock")}


def is_immutable(database: Path) -> bool:
    """Return whether *database*, a file of SQLite, lies where nothing can be written and no process has it open.

    SQLite cannot make there the files that it shares with other processes, and reads only what is said to be immutable.

    Raises:
        DatabaseOpenError: its log holds changes, which SQLite cannot read there.
    """
    log, index = (beside(database)[ending] for ending in ("-wal", "-shm"))
    if os.access(log.parent, os.W_OK) or (log.exists() and index.exists()):
        return False
    if has_content(log):
        reason = f"{log.name} holds changes, which cannot be read where nothing can be written"
        raise DatabaseOpenError(str(database), f"{reason}; copy both files to another folder, and name the copy")
    return True


def has_content(log: Path) -> bool:
    """Return whether there is a file *log*, and not an empty one."""
    return log.is_file() and log.stat().st_size > 0


def readable(address: DatabaseAddress) -> DatabaseAddress:
    """Return *address* so that SQLite can read it also where nothing can be written; raises as `is_immutable`."""
    if address.path is None or not is_immutable(address.path):
        return address
    file = quote(str(address.path.absolute()))
    query = {"immutable": "1", "uri": "true"}
    return replace(address, url=address.url.set(database=f"file:{file}", query=query))


class FileLock:
    """A lock that the system lets go when its process ends, so that a restarted server may go on at once.

    Its file is beside the database itself, by whichever symbolic link that was named.
    """

    def __init__(self, database: Path) -> None:
        """Take the lock of *database*.

        Raises:
            DatabaseLockedError: another process has it.
            DatabaseOpenError: its file cannot be made, or its file system has no locks.
        """
        path = beside(database)[".lock"]
        try:
            self._handle = open_locked(path, PRIVATE)
        except BlockingIOError as error:
            raise DatabaseLockedError(str(database)) from error
        except OSError as error:
            raise DatabaseOpenError(str(database), f"{path}: {error.strerror}") from error
        self._is_held = True

    def release(self) -> None:
        """Let others have it; the file stays, since removing it could let two have it."""
        if self._is_held:
            self._is_held = False
            with contextlib.suppress(OSError):
                os.close(self._handle)
