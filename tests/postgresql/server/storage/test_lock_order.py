"""Transactions that change the same rows lock them in one order, so that none of two fails by a deadlock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, TypeAlias

import pytest
import sqlalchemy as sa

from server.storage.accounts import PlayerStore
from server.storage.database import Database
from server.storage.matches import MatchStore, abort_matches
from server.storage.queue import MatchQueue
from server.storage.rows import PlayerRow, SeatKind
from server.storage.schema import matches, players
from tests.kit.polling import until
from tests.kit.server.storage.samples import add, begun, match

Change: TypeAlias = Callable[[Database], Awaitable[object]]
N_WAITING: Final = sa.text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
)
QUEUED, PLAYED = ("c", "d"), ("a", "b")
CHANGES: Final[dict[str, tuple[tuple[str, str], Change]]] = {
    "end those that wait": (
        QUEUED,
        lambda it: it.write(lambda at: abort_matches(at, {"d": "a storm", "c": "rain"}, 1)),
    ),
    "end those that are played": (
        PLAYED,
        lambda it: it.write(lambda at: abort_matches(at, {"b": "a storm", "a": "rain"}, 1)),
    ),
    "begin": (QUEUED, lambda it: MatchQueue(it).claim(QUEUED, "here", 1)),
    "release": (PLAYED, lambda it: MatchStore(it).release(PLAYED, "here")),
    "renew": (PLAYED, lambda it: MatchStore(it).renew("here", 1)),
}


@pytest.fixture
async def database(postgresql_address: str) -> AsyncIterator[Database]:
    opened = await Database.open(postgresql_address)
    yield opened
    await opened.close()


async def beside_another(database: Database, column: sa.Column[str], keys: tuple[str, str], change: Change) -> None:
    """Make *change* while another transaction locks the rows with these *keys*, one after the other."""
    in_order = sa.select(column).where(column.in_(keys)).order_by(column).with_for_update()
    async with database.begin() as connection:
        await connection.execute(in_order.limit(1))
        other = asyncio.create_task(database.write(lambda it: it.execute(in_order).all()))
        await until(lambda: _has(database, 1))
        changing = asyncio.ensure_future(change(database))
        await until(lambda: _has(database, 2))
    await asyncio.gather(other, changing)


async def _has(database: Database, n_waiting: int) -> bool:
    return bool(await database.scalar(N_WAITING) == n_waiting)


@pytest.mark.parametrize("what", CHANGES)
async def test_matches_are_locked_in_the_order_of_their_ids(database: Database, what: str) -> None:
    store = await begun(database, "b", "a")
    for match_id in ("d", "c"):
        await add(store, match(match_id))
    await database.change(sa.text("ANALYZE matches"))  # of so few rows PostgreSQL reads all, as they lie
    await beside_another(database, matches.c.id, *CHANGES[what])


async def test_players_are_locked_in_the_order_of_their_names(database: Database) -> None:
    store = PlayerStore(database)
    for name in ("b", "a"):
        assert await store.add(PlayerRow(name, SeatKind.DIAL_IN, "ann", 1), 9)

    async def counted(_: Database) -> None:
        await store.count_match(9, {"a": True, "b": True}, lambda *_: "")

    await beside_another(database, players.c.name, ("a", "b"), counted)
