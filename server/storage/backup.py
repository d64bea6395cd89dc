"""Backups: every row of a database in one SQLite file, whichever kind of database it comes from or goes to."""

import asyncio
import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from gdl.files import PRIVATE, replacing
from server.storage.address import FileLock, beside, check_file, has_content, is_immutable, read_address
from server.storage.database import Database
from server.storage.errors import DatabaseOpenError, DatabaseVersionError, OwnFileError, StorageError, TargetExistsError
from server.storage.revisions import REVISION
from server.storage.schema import METADATA

_AT_ONCE: Final = 500
_OF_OTHER_CONTENT: Final = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
"""What SQLite says of a file that holds something else; the rest is no fault of the file."""


async def copy(source: Database, target: Database, *, may_replace: bool = False) -> dict[str, int]:
    """Copy all rows of *source*, as they are at one moment, and return how many there are in each table.

    Raises:
        TargetExistsError: *target* holds something, and *may_replace* is false.
        StorageError: one of them failed; *target* is as it was.
    """
    async with source.reading() as reading, target.begin() as writing:
        await _take_time(source, reading)
        await _take_time(target, writing)
        await _empty(target, writing, may_replace=may_replace)
        return {table.name: await _copy(table, reading, writing) for table in METADATA.sorted_tables}


async def _take_time(database: Database, connection: AsyncConnection) -> None:
    """Let the transaction see one moment, however long it takes."""
    if not database.is_sqlite:
        await connection.execute(sa.text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        await connection.execute(sa.text("SET LOCAL statement_timeout = 0"))
        await connection.execute(sa.text("SET LOCAL idle_in_transaction_session_timeout = 0"))


async def _empty(database: Database, connection: AsyncConnection, *, may_replace: bool) -> None:
    for table in reversed(METADATA.sorted_tables):
        if may_replace:
            await connection.execute(sa.delete(table))
        elif await connection.scalar(sa.select(sa.literal(1)).select_from(table).limit(1)) is not None:
            raise TargetExistsError(database.name)


async def _copy(table: sa.Table, reading: AsyncConnection, writing: AsyncConnection) -> int:
    n_rows = 0
    rows = await reading.stream(sa.select(table))
    async for part in rows.mappings().partitions(_AT_ONCE):
        await writing.execute(sa.insert(table), [dict(row) for row in part])
        n_rows += len(part)
    return n_rows


async def back_up(address: str, file: Path, *, may_replace: bool = False) -> None:
    """Write what the database at *address* holds at one moment to *file*; servers may go on using it meanwhile.

    Raises:
        TargetExistsError: *file* is there, and *may_replace* is false.
        OwnFileError: *file* belongs to the database itself.
        DatabaseLockedError: *file* is a database that a server uses.
        DatabaseOpenError: the database cannot be opened.
        StorageError: it failed.
        OSError: *file* cannot be written.
    """
    path = read_address(address).path
    if path is not None:
        _refuse_own_file(file, path)
    _refuse_to_replace(file, may_replace=may_replace)
    with _unused(file), _temporary(file) as temporary:
        if path is not None:
            await asyncio.to_thread(_copy_file, path, temporary)
        else:
            await _copy_between(address, str(temporary), may_replace=False)
        await asyncio.to_thread(_merge_log, temporary)


async def restore(file: Path, address: str, *, may_replace: bool = False) -> None:
    """Make the database at *address* hold what *file*, a backup, holds; no server may be using a database of SQLite.

    Raises:
        TargetExistsError: it holds something, and *may_replace* is false.
        DatabaseLockedError: a server uses it.
        DatabaseOpenError: *file* is no backup, or the database cannot be opened.
        DatabaseVersionError: *file* is of a newer version, or (PostgreSQL) what the database holds.
        StorageError: the database failed; it is as it was.
        OSError: the file of the database cannot be written; it is as it was.
    """
    await asyncio.to_thread(_check, file)
    target = read_address(address)
    if target.path is None:
        await _restore_rows(file, address, may_replace=may_replace)
        return
    _refuse_to_replace(target.path, may_replace=may_replace)
    check_file(target, may_make=True)
    lock = FileLock(target.path)
    try:
        # What is there may be damaged: nothing of it is read.
        with _temporary(target.path.resolve()) as temporary:
            _give_as(target.path, temporary)
            await asyncio.to_thread(_copy_file, file, temporary, is_in_use=False)
            await (await Database.open(str(temporary))).close()  # the tables may be of an older version
            await asyncio.to_thread(_merge_log, temporary)
            _remove_log(target.path)
    finally:
        lock.release()


def _give_as(known: Path, file: Path) -> None:
    """Give *file* to the owner of *known*, as far as this process may, and let the same users read it."""
    found = known.stat()
    with suppress(PermissionError):
        os.chown(file, found.st_uid, found.st_gid)
    file.chmod(stat.S_IMODE(found.st_mode))


def _remove_log(database: Path) -> None:
    """Remove the log of the file that is replaced: it would be taken for that of the new one."""
    for ending in ("-wal", "-shm"):
        beside(database)[ending].unlink(missing_ok=True)


async def _restore_rows(file: Path, address: str, *, may_replace: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="ggp-restore-") as folder:
        newest = Path(folder) / "backup.sqlite"
        await asyncio.to_thread(_copy_file, file, newest, is_in_use=False)
        await (await Database.open(str(newest))).close()  # the tables may be of an older version
        await _copy_between(str(newest), address, may_replace=may_replace)


async def _copy_between(source: str, target: str, *, may_replace: bool) -> None:
    """Copy all rows of the database at *source* to the one at *target*."""
    reading = await Database.open(source, migrate=False, exclusive=False)
    try:
        writing = await Database.open(target)
        try:
            await copy(reading, writing, may_replace=may_replace)
        finally:
            await writing.close()
    finally:
        await reading.close()


def _refuse_to_replace(file: Path, *, may_replace: bool) -> None:
    if not may_replace and file.exists() and file.stat().st_size > 0:
        raise TargetExistsError(str(file))


def _refuse_own_file(file: Path, database: Path) -> None:
    """Refuse *file* where it belongs to *database*, also where a folder has two names without a symbolic link."""
    for own in (database.resolve(), *beside(database).values()):
        if file.resolve() == own or (file.exists() and own.exists() and file.samefile(own)):
            raise OwnFileError(str(file))


@contextmanager
def _unused(file: Path) -> Iterator[None]:
    """Keep servers away from *file* while it is replaced, where it is a database that a server has used."""
    lock = FileLock(file) if beside(file)[".lock"].exists() else None
    try:
        yield
        _remove_log(file)
    finally:
        if lock is not None:
            lock.release()


@contextmanager
def _temporary(file: Path) -> Iterator[Path]:
    """Yield a path beside *file*, whose place it takes when all went well: a reader never sees half of a backup."""
    with replacing(file, PRIVATE) as temporary:
        try:
            yield temporary
        except StorageError as error:
            if error.database == str(temporary):  # a name that no user has heard of
                error.database = str(file)
            raise
        finally:
            for each in beside(temporary).values():
                each.unlink(missing_ok=True)


def _copy_file(source: Path, target: Path, *, is_in_use: bool = True) -> None:
    """Copy a file of SQLite in one transaction of the target; *is_in_use* says whether others may write to it."""
    _check(source, is_whole=False, is_in_use=is_in_use)
    try:
        with closing(_opened(source, is_in_use=is_in_use)) as reading, closing(sqlite3.connect(target)) as writing:
            reading.backup(writing)
    except sqlite3.Error as error:
        raise DatabaseOpenError(str(target), str(error)) from error


def _merge_log(file: Path) -> None:
    """Let *file* need no other file beside it: a database in WAL mode cannot be read where nothing can be written."""
    try:
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        raise DatabaseOpenError(str(file), str(error)) from error


def _check(file: Path, *, is_whole: bool = True, is_in_use: bool = False) -> None:
    """Refuse what is no database of ours, is of a newer version, or (*is_whole*) is damaged."""
    try:
        with closing(_opened(file, is_in_use=is_in_use)) as connection:
            found = str(connection.execute("SELECT version_num FROM alembic_version").fetchone()[0])
            verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0] if is_whole else "ok"
    except (sqlite3.Error, TypeError) as error:
        is_other = isinstance(error, TypeError) or error.sqlite_errorcode in _OF_OTHER_CONTENT
        reason = f"it is no database of ours ({error})" if is_other else str(error)
        raise DatabaseOpenError(str(file), reason) from error
    if found > REVISION:
        raise DatabaseVersionError(str(file), found, REVISION)
    if verdict != "ok":
        raise DatabaseOpenError(str(file), f"it is damaged: {verdict}")


def _opened(file: Path, *, is_in_use: bool) -> sqlite3.Connection:
    """Return a connection that reads *file*; one that is not in use gets no files beside it, and may be read-only.

    Raises:
        DatabaseOpenError: there is no such file, or it cannot be read where it is.
    """
    if not file.is_file():
        raise DatabaseOpenError(str(file), "there is no such file")
    # The log may hold rows that the file, a backup by other means, lacks.
    is_alone = is_immutable(file) or not (is_in_use or has_content(beside(file)["-wal"]))
    mode = "immutable=1" if is_alone else "mode=ro"
    return sqlite3.connect(f"{file.absolute().as_uri()}?{mode}", uri=True)
