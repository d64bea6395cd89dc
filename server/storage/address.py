"""Where a database is: a file of SQLite, or a PostgreSQL server."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from server.storage.errors import DatabaseOpenError

_POSTGRESQL: Final = frozenset({"postgresql", "postgres", "postgresql+asyncpg"})
_SQLITE: Final = frozenset({"sqlite", "sqlite+aiosqlite"})


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


def check_file(address: DatabaseAddress, *, may_make: bool) -> None:
    """Make the file of SQLite where there is none, readable by its owner alone: it says by what tokens are recognised.

    Raises:
        DatabaseOpenError: there is no folder for it, it cannot be made, or it is not there and nobody *may_make* it.
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
