"""One database, opened: its tables migrated to the newest revision, its connections pooled, its errors made ours.

Inserts that know what to do where the row is there already have the words of either database.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from typing import Any, Final, TypeAlias, TypeVar

import asyncpg  # type: ignore[import-untyped]  # it ships no types
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from server.storage.address import DatabaseAddress, FileLock, check_file, check_sqlite, read_address, readable
from server.storage.engines import WAIT_S, ThreadEngine, configure, make_engines, make_step_engine, make_thread_engines
from server.storage.errors import DatabaseLockedError, DatabaseOpenError, DatabaseVersionError, StorageError
from server.storage.loop_connection import LoopConnection
from server.storage.revisions import REVISION, found_revision, migrate

Result = TypeVar("Result")
FAILURES: Final = (
    SQLAlchemyError, OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError,
)  # fmt: skip
"""What libraries raise where a database cannot be reached; within a transaction it is only the first."""
_SQLITE_FAILURES: Final = (SQLAlchemyError, sqlite3.Error)
_PAUSE_S: Final = 0.05
_LOG: Final = logging.getLogger(__name__)


class Database:
    """A database that is open; make it with `Database.open`.

    Attributes:
        engine: for reading; on PostgreSQL also for writing.
        is_sqlite: whether it is a file of SQLite.
        name: its address without a password, for people.
    """

    def __init__(self, address: DatabaseAddress, lock: FileLock | None, wait_s: float = WAIT_S) -> None:
        self.address, self.name, self.is_sqlite = address, str(address), address.path is not None
        self.engine: AsyncEngine
        self.engine, self._writing = make_engines(address, wait_s)
        self._steps = make_step_engine(address, wait_s)
        self._threads = make_thread_engines(address, wait_s)
        self._loop_connection = None if address.path is None else LoopConnection(address.path, configure)
        self._checkpoint: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock() if self.is_sqlite else nullcontext()
        self._lock, self._wait_s = lock, wait_s

    @classmethod
    async def open(  # noqa: PLR0913 -- all but the address by name
        cls,
        address: str,
        *,
        migrate: bool = True,
        may_make: bool = True,
        exclusive: bool = True,
        wait_s: float = WAIT_S,
        say: Callable[[str], object] = _LOG.info,
    ) -> Database:
        """Open the database at *address* (as `read_address`); bring its tables up to date, if *migrate*.

        Where there is no file of SQLite, it is made, if *migrate* and *may_make*.

        SQLite has one server at a time: *exclusive* keeps other servers away until `close`, or the process's end.
        Commands that look at, or add to, the database of a running server are not exclusive. What other programs have
        locked is waited for *wait_s* seconds. *say* takes the line that tells of tables that are brought up to date.

        Raises:
            DatabaseOpenError: it cannot be opened, or holds something else.
            DatabaseLockedError: another server has it (SQLite).
            DatabaseVersionError: its tables are of a newer version; or of an older one, and may not be changed.
        """
        read = read_address(address)
        check_sqlite(read)
        check_file(read, may_make=migrate and may_make)
        lock = FileLock(read.path) if exclusive and read.path is not None else None
        database = cls(readable(read), lock, wait_s)
        try:
            await database._prepare(may_migrate=migrate, say=say)
        except BaseException:
            await database.close()
            raise
        return database

    async def _prepare(self, *, may_migrate: bool, say: Callable[[str], object]) -> None:
        """Bring the tables to the current revision, if *may_migrate*; a command that does so too is waited for.

        Raises:
            DatabaseOpenError: the database cannot be read.
            DatabaseLockedError: a server uses it, and does not bring its tables to that revision.
            DatabaseVersionError: the revision is another one, and the tables may not be migrated.
        """
        loop = asyncio.get_running_loop()
        until_s = loop.time() + self._wait_s
        while (found := await self._found_revision()) != REVISION:
            if found > REVISION or not may_migrate:
                raise DatabaseVersionError(self.name, found, REVISION)
            try:
                with self._locked():
                    await self._migrate(found, say)
            except DatabaseLockedError:  # by a command that does the same, or a server that began meanwhile
                if loop.time() >= until_s:
                    raise
                await asyncio.sleep(_PAUSE_S)

    async def _found_revision(self) -> str:
        with self._opening():
            async with self.engine.connect() as connection:
                return await connection.run_sync(found_revision)

    async def _migrate(self, found: str, say: Callable[[str], object]) -> None:
        if found:  # of a large database it takes a while, and older versions refuse it from then on
            say(f"the tables of {self.name} are brought from revision {found} to {REVISION}")
        with self._opening():
            async with self._writing.begin() as connection:
                await connection.run_sync(migrate)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep servers away while the tables change, also where the database is not ours alone."""
        lock = FileLock(self.address.path) if self._lock is None and self.address.path is not None else None
        try:
            yield
        finally:
            if lock is not None:
                lock.release()

    @contextmanager
    def _opening(self) -> Iterator[None]:
        try:
            yield
        except FAILURES as error:
            raise DatabaseOpenError(self.name, _reason(error)) from error

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[AsyncConnection]:
        """Enter one transaction that may write; it is committed at the end, rolled back where something is raised.

        On SQLite there is one at a time; do not wait for another one within it.

        Raises:
            StorageError: the database failed.
        """
        async with self._turn, self._transaction(self._writing) as connection:
            yield connection

    async def write(self, work: Callable[[sa.Connection], Result]) -> Result:
        """Return what *work* returns, which is one transaction like that of `begin`, but never waits for anything else.

        On SQLite *work* runs in a thread, which is much faster than many statements through `begin`.

        Raises:
            StorageError: the database failed.
        """
        if self._threads is None:
            async with self.begin() as connection:
                return await connection.run_sync(work)
        with self._failing(*_SQLITE_FAILURES):
            async with self._turn:
                return await self._threads[1].run(work)

    async def write_driver(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Return what *work* returns, as `write`, on SQLite alone: with its driver, for what is written all the time.

        It is written before this returns to the event loop, unless something else writes or that was slow lately.

        Raises:
            StorageError: the database failed.
        """
        assert self._threads is not None
        assert self._loop_connection is not None
        assert isinstance(self._turn, asyncio.Lock)
        with self._failing(*_SQLITE_FAILURES):
            if not self._turn.locked() and self._loop_connection.begin():
                result = self._loop_connection.write(work)
                if self._loop_connection.needs_checkpoint():
                    self._checkpoint = asyncio.create_task(self._make_checkpoint(self._threads[1]), name="checkpoint")
                return result
            async with self._turn:
                return await self._threads[1].run_driver(work)

    async def _make_checkpoint(self, threads: ThreadEngine) -> None:
        """Make a checkpoint while nothing is written: beside transactions the log would never begin anew."""
        async with self._turn:
            # If the database fails, the next transaction will tell.
            with suppress(SQLAlchemyError, sqlite3.Error):
                await threads.checkpoint()

    async def fetch(self, statement: str, *values: object) -> Sequence[Sequence[Any]]:
        """Return the rows of *statement*, on PostgreSQL alone: with its driver, in a transaction of its own.

        Raises:
            StorageError: the database failed; also where the connection broke earlier, and another one is opened next.
        """
        assert self._steps is not None
        with self._failing(*FAILURES):
            async with self._steps.connect() as connection:
                driver = (await connection.get_raw_connection()).driver_connection
                assert isinstance(driver, asyncpg.Connection)
                try:
                    rows: Sequence[Sequence[Any]] = await driver.fetch(statement, *values)
                except BaseException:
                    await connection.invalidate()  # of a connection that breaks not every error says so
                    raise
                return rows

    async def read(self, work: Callable[[sa.Connection], Result]) -> Result:
        """Return what *work* returns, which is one transaction like that of `reading`, in a thread as that of `write`.

        Raises:
            StorageError: the database failed.
        """
        if self._threads is None:
            async with self.reading() as connection:
                return await connection.run_sync(work)
        with self._failing(*_SQLITE_FAILURES):
            return await self._threads[0].run(work)

    @contextmanager
    def _failing(self, *failures: type[Exception]) -> Iterator[None]:
        """Make *failures* of libraries in the block a StorageError, or what ends a task that was cancelled meanwhile.

        What a connection that broke says when a transaction is given up takes the place of the cancellation.
        """
        task = asyncio.current_task()
        n_before = 0 if task is None else task.cancelling()
        try:
            yield
        except failures as error:
            if task is not None and task.cancelling() > n_before:
                raise asyncio.CancelledError from error
            raise StorageError(self.name, _reason(error)) from error

    async def rows(self, query: sa.Executable) -> Sequence[sa.RowMapping]:
        """Return the rows of a query by the names of their columns; raises as `read`."""
        return await self.read(lambda connection: connection.execute(query).mappings().all())

    async def scalars(self, query: sa.Executable) -> Sequence[Any]:
        """Return the first column of the rows of a query; raises as `read`."""
        return await self.read(lambda connection: connection.execute(query).scalars().all())

    async def scalar(self, query: sa.Executable) -> Any:
        """Return the first column of the first row of a query, None without a row; raises as `read`."""
        return await self.read(lambda connection: connection.scalar(query))

    async def changed_rows(self, statement: sa.Executable) -> Sequence[sa.RowMapping]:
        """Return the rows that a statement which changes rows returns; raises as `write`."""
        return await self.write(lambda connection: connection.execute(statement).mappings().all())

    async def change(self, *statements: sa.Executable) -> int:
        """Carry out *statements* as one transaction; return how many rows the last one changed; raises as `write`."""

        def changed(connection: sa.Connection) -> int:
            return [connection.execute(statement).rowcount for statement in statements][-1]

        return await self.write(changed)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """Enter one transaction that only reads, beside those that write.

        Raises:
            StorageError: the database failed.
        """
        async with self._transaction(self.engine) as connection:
            yield connection

    @asynccontextmanager
    async def _transaction(self, engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
        """Yield a connection in a transaction that ends with the block; database errors become StorageError."""
        with self._failing(*FAILURES):
            connection = await engine.connect().start()
        try:
            with self._failing(SQLAlchemyError):
                async with connection.begin():
                    yield connection
        finally:
            with suppress(SQLAlchemyError):  # of a connection that is gone
                await asyncio.shield(connection.close())

    async def close(self) -> None:
        """Close every connection, and let another server have the database."""
        await self.engine.dispose()
        if self._writing is not self.engine:
            await self._writing.dispose()
        if self._steps is not None:
            await self._steps.dispose()
        if self._checkpoint is not None:
            await self._checkpoint
        for threads in self._threads or ():
            await threads.close()
        if self._loop_connection is not None:
            self._loop_connection.close()
        if self._lock is not None:
            self._lock.release()


def _reason(error: BaseException) -> str:
    """Return the driver's own sentence, without the statement and the address of SQLAlchemy's explanation."""
    original = getattr(error, "orig", None) or error
    words = str(original).strip().splitlines() or [type(original).__name__]
    return words[0].removeprefix("<class ").partition("'>: ")[2] or words[0]


Insert: TypeAlias = sqlite.Insert | postgresql.Insert


def insert(database: Database, table: sa.Table) -> Insert:
    """Return an insert into *table* that has `on_conflict_do_update` and `on_conflict_do_nothing`."""
    return sqlite.insert(table) if database.is_sqlite else postgresql.insert(table)


def upsert(database: Database, table: sa.Table, kept: Collection[str] = ()) -> Insert:
    """Return an insert into *table* that replaces the row with the same primary key, but for the columns *kept*."""
    made = insert(database, table)
    keys = [column.name for column in table.primary_key]
    changed = [column.name for column in table.columns if column.name not in (*keys, *kept)]
    return made.on_conflict_do_update(index_elements=keys, set_={name: made.excluded[name] for name in changed})
