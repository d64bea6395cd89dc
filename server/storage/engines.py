"""The engines behind a database: how connections are made, pooled, and limited in time."""

from __future__ import annotations

from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from server.storage.address import DatabaseAddress

STATEMENT_S: Final = 30
"""How long one statement may take."""
WAIT_S: Final = 10
"""How long to wait for a connection, a lock, or a server that does not answer."""
_READERS: Final = 4
_CONNECTIONS: Final = 10
_PRAGMAS: Final = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",  # what is committed outlives the process; only a power cut may take the last of it
    "PRAGMA foreign_keys = ON",
    "PRAGMA cache_size = -16000",
    "PRAGMA temp_store = MEMORY",
)


def make_engines(address: DatabaseAddress) -> tuple[AsyncEngine, AsyncEngine]:
    """Return the engines for reading and for writing, which are the same on PostgreSQL; nothing is opened yet.

    SQLite writes on a single connection, so that those who write queue up fairly instead of polling for its lock.
    """
    if address.path is None:
        engine = _postgresql(address)
        return engine, engine
    return _sqlite(address, _READERS, "BEGIN"), _sqlite(address, 1, "BEGIN IMMEDIATE")


def _postgresql(address: DatabaseAddress) -> AsyncEngine:
    settings = {
        "application_name": "ggp",
        "statement_timeout": f"{STATEMENT_S}s",
        "lock_timeout": f"{WAIT_S}s",
        "idle_in_transaction_session_timeout": f"{STATEMENT_S}s",  # a stopped process must not keep its locks
    }
    return create_async_engine(
        address.url,
        pool_size=_CONNECTIONS,
        max_overflow=0,
        pool_timeout=WAIT_S,
        pool_pre_ping=True,
        connect_args={"timeout": WAIT_S, "command_timeout": STATEMENT_S + 5, "server_settings": settings},
    )


def _sqlite(address: DatabaseAddress, n_connections: int, begin: str) -> AsyncEngine:
    engine = create_async_engine(
        address.url,
        pool_size=n_connections,
        max_overflow=0,
        pool_timeout=STATEMENT_S,
        # Transactions are ours to begin: the driver would begin some too late, and others not at all.
        connect_args={"timeout": WAIT_S, "isolation_level": None},
    )
    sa.event.listen(engine.sync_engine, "connect", _configure)
    sa.event.listen(engine.sync_engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    return engine


def make_batch_engine(address: DatabaseAddress) -> sa.Engine | None:
    """Return the engine for transactions that a thread of their own carries out in one go; None on PostgreSQL.

    Through the other ones every statement, cursor and commit is an errand to a thread and back.
    """
    if address.path is None:
        return None
    url = address.url.set(drivername="sqlite+pysqlite")
    how = {"timeout": WAIT_S, "isolation_level": None, "check_same_thread": False}
    engine = sa.create_engine(url, pool_size=1, max_overflow=0, connect_args=how)
    sa.event.listen(engine, "connect", _configure)
    sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    return engine


def _configure(connection: Any, _: Any) -> None:
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(pragma)
    cursor.close()
