"""Whatever keeps a database from being written, for however long: matches end as if nothing had been."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import URL

from server.storage.database import Database
from tests.kit.server.hosting.hosts import (
    came_of,
    hosting,
    n_resumed,
    ordered,
    scripted,
    undisturbed,
    until_all_over,
    until_steps,
)
from tests.kit.server.hosting.outages import (
    Outage,
    database_on,
    full,
    full_tables,
    is_sound,
    locked_file,
    locked_table,
    small_disk,
    stopped,
)
from tests.kit.server.peers import listening
from tests.kit.server.postgresql import passing_database

N_MATCHES = 8
LEASE_S = 2.5
WAIT_S = 0.2
RETRIES_S = (0.1, 0.4, 0.8, 1.2)
SHORT_S = 0.3
LONG_S = 7.0
_EXPECTED: list[dict[str, Any]] = []
KINDS = ("full disk", "locked file", "locked table", "stopped server", "full disk of PostgreSQL")


@dataclass
class Case:
    """A database, what befalls it, and the file that it is, if it is one."""

    address: str
    outage: Callable[[], Outage]
    path: Path | None = None
    stack: ExitStack = field(default_factory=ExitStack)


def _on_small_disk(stack: ExitStack) -> Case:
    disk = stack.enter_context(small_disk())
    path = disk / "ggp.sqlite"
    return Case(f"sqlite:///{path}", lambda: full(disk), path, stack)


def _on_locked_file(folder: Path, stack: ExitStack) -> Case:
    path = folder / "ggp.sqlite"
    return Case(f"sqlite:///{path}", lambda: locked_file(path), path, stack)


def _on_postgresql(kind: str, server: URL, model: URL, stack: ExitStack) -> Case:
    if kind == "full disk of PostgreSQL":
        disk = stack.enter_context(small_disk())
        address = stack.enter_context(database_on(server, disk, model))
        return Case(address, lambda: full_tables(disk, address), None, stack)
    address = stack.enter_context(passing_database(server, model.database))
    outage = {"locked table": lambda: locked_table(address), "stopped server": lambda: stopped(server, address)}
    return Case(address, outage[kind], None, stack)


@pytest.fixture(params=KINDS)
async def case(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Case]:
    with ExitStack() as stack:
        if request.param == "full disk":
            yield _on_small_disk(stack)
        elif request.param == "locked file":
            yield _on_locked_file(tmp_path, stack)
        else:
            server, model = (request.getfixturevalue(name) for name in ("postgresql", "postgresql_model"))
            yield _on_postgresql(request.param, server, model, stack)


async def expected(folder: Path, players: str) -> list[dict[str, Any]]:
    """Return what comes of the matches where nothing fails: the players answer the same each time."""
    if not _EXPECTED:
        _EXPECTED.extend(await undisturbed(f"sqlite:///{folder}/undisturbed.sqlite", players, N_MATCHES))
    return _EXPECTED


async def n_events(address: str) -> int:
    database = await Database.open(address, exclusive=False)
    async with database.reading() as connection:
        found = await connection.scalar(sa.text("SELECT count(*) FROM events"))
    await database.close()
    return int(found or 0)


@pytest.mark.sampled(3)
async def test_matches_end_as_if_the_database_had_not_failed(case: Case, tmp_path: Path) -> None:
    """It fails for shorter than the writer tries again, which no match notices, and for longer."""
    async with listening(scripted) as players:
        as_if_nothing = await expected(tmp_path, players)
        match_ids = await ordered(case.address, players, N_MATCHES)
        async with hosting(case.address, LEASE_S, WAIT_S, RETRIES_S):
            await until_steps(case.address, match_ids, 2, any)
            async with case.outage():
                await asyncio.sleep(SHORT_S)
            await until_steps(case.address, match_ids, 5, any)  # of twelve: most of what is written is still to come
            resumed = [await n_resumed(case.address, match_ids)]
            async with case.outage():
                await asyncio.sleep(LONG_S)
            await until_all_over(case.address, match_ids)
        found: list[dict[str, Any]] = await came_of(case.address, match_ids)
        resumed.append(await n_resumed(case.address, match_ids))
    assert found == as_if_nothing
    assert await n_events(case.address) == 0
    assert case.path is None or is_sound(case.path)
    assert [n > 0 for n in resumed] == [False, True]
