"""Every row of one database into another, be they of the same kind or not."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from server.storage.database import Database
from server.storage.errors import TargetExistsError
from server.storage.schema import METADATA

_AT_ONCE: Final = 500


async def copy(source: Database, target: Database, *, may_replace: bool = False) -> dict[str, int]:
    """Copy all rows of *source*, as they are at one moment, and return how many there are in each table.

    Raises:
        TargetExistsError: *target* holds something, and nobody *may_replace* it.
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
