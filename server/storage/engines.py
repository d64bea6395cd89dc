"""How connections to a database are made, pooled and limited: engines of SQLAlchemy, and threads for SQLite."""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ResourceClosedError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from server.storage.address import DatabaseAddress

Result = TypeVar("Result")
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


def make_engines(address: DatabaseAddress, wait_s: float) -> tuple[AsyncEngine, AsyncEngine]:
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


def make_step_engine(address: DatabaseAddress, wait_s: float) -> AsyncEngine | None:
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


def make_listening_engine(address: DatabaseAddress) -> AsyncEngine:
    """Return an engine of PostgreSQL whose connections are made for the one who asks, to stay with notifications."""
    # A notification that a crash of the database loses is sent again as any other: nothing waits for the disk.
    settings = {"application_name": "ggp notifications", "synchronous_commit": "off"}
    return create_async_engine(
        address.url,
        poolclass=sa.pool.NullPool,
        connect_args={"timeout": WAIT_S, "command_timeout": WAIT_S, "server_settings": settings},
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
    sa.event.listen(engine.sync_engine.pool, "invalidate", _roll_back)
    return engine


def _roll_back(connection: DBAPIConnection, *_: object) -> None:
    """End the transaction of a *connection* that is given up, as when its task is cancelled within a statement.

    Closing it does not: where the cursor of that statement is still referred to, SQLite keeps connection and lock.
    """
    with suppress(sqlite3.Error):  # it is closed next, whatever became of it
        connection.rollback()


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


def make_thread_engines(address: DatabaseAddress, wait_s: float) -> tuple[ThreadEngine, ThreadEngine] | None:
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
