"""Where a database is, SQLite file or PostgreSQL server, and how connections to it are made, pooled and locked."""

import asyncio
import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, ResourceClosedError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from server.storage.errors import DatabaseLockedError, DatabaseOpenError

Result = TypeVar("Result")
DEFAULT_DATABASE: Final = "sqlite:///ggp.sqlite"
"""The address of the database where none is named."""
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


class FileLock:
    """A lock that the system lets go when its process ends, so that a restarted server may go on at once.

    Its file is beside the database itself, by whichever symbolic link that was named.
    """

    def __init__(self, database: Path) -> None:
        """Take the lock of *database*.

        Raises:
            DatabaseLockedError: another process has it.
            DatabaseOpenError: its file cannot be made.
        """
        path = beside(database)[".lock"]
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise DatabaseOpenError(str(database), f"{path}: {error.strerror}") from error
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._handle)
            raise DatabaseLockedError(str(database)) from error
        self._is_held = True

    def release(self) -> None:
        """Let others have it; the file stays, since removing it could let two have it."""
        if self._is_held:
            self._is_held = False
            with contextlib.suppress(OSError):
                os.close(self._handle)


STATEMENT_S: Final = 30
"""How long one statement may take."""
WAIT_S: Final = 10
"""How long to wait for a connection, a lock, or a server that does not answer."""
_READERS: Final = 4
_CONNECTIONS: Final = 10
_TEXT: Final = partial(str, encoding="utf-8", errors="replace")
_PRAGMAS: Final = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",  # what is committed outlives the process; only a power cut may take the last of it
    "PRAGMA foreign_keys = ON",
    "PRAGMA cache_size = -16000",
    "PRAGMA temp_store = MEMORY",
)


def make_engines(address: DatabaseAddress, wait_s: float = WAIT_S) -> tuple[AsyncEngine, AsyncEngine]:
    """Return the engines for reading and for writing, which are the same on PostgreSQL; nothing is opened yet.

    SQLite writes on a single connection, so that those who write queue up fairly instead of polling for its lock.
    """
    if address.path is None:
        engine = _postgresql(address, wait_s)
        return engine, engine
    return _sqlite(address, _READERS, "BEGIN", wait_s), _sqlite(address, 1, "BEGIN IMMEDIATE", wait_s)


def _postgresql(address: DatabaseAddress, wait_s: float) -> AsyncEngine:
    """Return an engine with a pool of connections, each with limits of time, which are there whenever they are used."""
    how = _limits(wait_s)
    return create_async_engine(
        address.url, pool_size=_CONNECTIONS, max_overflow=0, pool_timeout=wait_s, pool_pre_ping=True, connect_args=how
    )


def make_step_engine(address: DatabaseAddress, wait_s: float = WAIT_S) -> AsyncEngine | None:
    """Return the engine of PostgreSQL with the one connection of what is tried again when it fails; None on SQLite.

    To ask whether a connection is there takes as long as three statements.
    """
    if address.path is not None:
        return None
    how = _limits(wait_s)
    return create_async_engine(address.url, pool_size=1, max_overflow=0, pool_timeout=wait_s, connect_args=how)


def _limits(wait_s: float) -> dict[str, Any]:
    settings = {
        "application_name": "ggp",
        "statement_timeout": f"{STATEMENT_S}s",
        "lock_timeout": f"{round(wait_s * 1000)}ms",
        "idle_in_transaction_session_timeout": f"{STATEMENT_S}s",  # a stopped process must not keep its locks
    }
    return {"timeout": wait_s, "command_timeout": STATEMENT_S + 5, "server_settings": settings}


def make_listening_engine(address: DatabaseAddress, wait_s: float = WAIT_S) -> AsyncEngine:
    """Return an engine of PostgreSQL whose connections are made for the one who asks, to stay with notifications."""
    # A notification that a crash of the database loses is sent again as any other: nothing waits for the disk.
    settings = {"application_name": "ggp notifications", "synchronous_commit": "off"}
    return create_async_engine(
        address.url,
        poolclass=sa.pool.NullPool,
        connect_args={"timeout": wait_s, "command_timeout": wait_s, "server_settings": settings},
    )


def _sqlite(address: DatabaseAddress, n_connections: int, begin: str, wait_s: float) -> AsyncEngine:
    """Return an engine of *n_connections* whose transactions begin with *begin*."""
    engine = create_async_engine(
        address.url,
        pool_size=n_connections,
        max_overflow=0,
        pool_timeout=STATEMENT_S,
        # Transactions are ours to begin: the driver would begin some too late, and others not at all.
        connect_args={"timeout": wait_s, "isolation_level": None},
    )
    sa.event.listen(engine.sync_engine, "connect", configure)
    sa.event.listen(engine.sync_engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    return engine


@dataclass(frozen=True, slots=True)
class ThreadEngine:
    """An engine of SQLite and the threads in which its transactions are carried out, each as a whole.

    Through the asynchronous engines every statement, cursor and commit is an errand to a thread and back.
    """

    engine: sa.Engine
    threads: ThreadPoolExecutor
    begin: str

    async def run(self, work: Callable[[sa.Connection], Result]) -> Result:
        """Return what *work* returns, in a transaction of its own in one of the threads.

        Raises:
            SQLAlchemyError: the database failed, or is closed.
        """
        try:
            carried_out = asyncio.get_running_loop().run_in_executor(self.threads, self._transacted, work)
        except RuntimeError as error:
            raise ResourceClosedError("the database is closed") from error
        return await carried_out

    async def run_driver(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Return what *work* returns, as `run`, with the driver's own connection, on which statements cost a tenth.

        Raises:
            SQLAlchemyError: the database cannot be opened, or is closed.
            sqlite3.Error: the database failed.
        """

        def transacted(connection: sqlite3.Connection) -> Result:
            connection.execute(self.begin)
            result = work(connection)
            connection.execute("COMMIT")
            return result

        return await self._driven(transacted)

    async def checkpoint(self) -> None:
        """Bring what the log holds into the database, and to the disk; raises as `run_driver`."""
        await self._driven(lambda connection: connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall())

    async def _driven(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        try:
            carried_out = asyncio.get_running_loop().run_in_executor(self.threads, self._with_driver, work)
        except RuntimeError as error:
            raise ResourceClosedError("the database is closed") from error
        return await carried_out

    def _with_driver(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        pooled = self.engine.raw_connection()
        try:
            driver = pooled.driver_connection
            assert isinstance(driver, sqlite3.Connection)
            return work(driver)
        finally:
            pooled.close()  # which rolls back what was not committed

    def _transacted(self, work: Callable[[sa.Connection], Result]) -> Result:
        with self.engine.begin() as connection:
            return work(connection)

    async def close(self) -> None:
        """Close every connection, when what is carried out has come to its end."""
        await asyncio.to_thread(self.threads.shutdown)
        self.engine.dispose()


def make_thread_engines(address: DatabaseAddress, wait_s: float = WAIT_S) -> tuple[ThreadEngine, ThreadEngine] | None:
    """Return the engines whose transactions threads carry out, for reading and for writing; None on PostgreSQL."""
    if address.path is None:
        return None
    reading = _thread_engine(address, _READERS, "BEGIN", wait_s)
    return reading, _thread_engine(address, 1, "BEGIN IMMEDIATE", wait_s)


def _thread_engine(address: DatabaseAddress, n_threads: int, begin: str, wait_s: float) -> ThreadEngine:
    url = address.url.set(drivername="sqlite+pysqlite")
    how = {"timeout": wait_s, "isolation_level": None, "check_same_thread": False}
    engine = sa.create_engine(url, pool_size=n_threads, max_overflow=0, connect_args=how)
    sa.event.listen(engine, "connect", configure)
    sa.event.listen(engine, "begin", partial(_begin, begin))
    return ThreadEngine(engine, ThreadPoolExecutor(n_threads, "database"), begin)


def _begin(begin: str, connection: sa.Connection) -> None:
    # By the driver itself: through SQLAlchemy it takes as long as a query.
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    driver.execute(begin)


def configure(connection: Any, _: Any = None) -> None:
    """Set up a new *connection* to SQLite, by the driver itself or as SQLAlchemy hands it over."""
    # Text that is no UTF-8 is a damage of one row, and must not fail the whole query.
    getattr(connection, "driver_connection", connection).text_factory = _TEXT
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(pragma)
    cursor.close()
