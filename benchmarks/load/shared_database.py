"""Matches on PostgreSQL, at one game manager or several that share a database."""

from __future__ import annotations

import math
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import asyncpg  # type: ignore[import-untyped]  # it ships no types
from sqlalchemy.engine import make_url

from benchmarks.load.figures import Figure
from benchmarks.load.load_generator import LoadGenerator, MatchSettings
from benchmarks.load.processes import child, managing

N_MATCHES: Final = 200
N_WARMING: Final = 40
ANSWER_S: Final = 0.02
"""How long a player takes at most here, so that the managers, and not the players, are waited for."""


@asynccontextmanager
async def new_database(server: str) -> AsyncIterator[str]:
    """Yield the address of a new database on the PostgreSQL *server*, which is removed in the end."""
    name = f"ggp_load_{uuid.uuid4().hex[:12]}"
    await _execute(server, f"CREATE DATABASE {name}")
    try:
        yield make_url(server).set(database=name).render_as_string(hide_password=False)
    finally:
        await _execute(server, f"DROP DATABASE {name} WITH (FORCE)")


async def _execute(server: str, statement: str) -> None:
    connection: Any = await asyncpg.connect(server)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


async def play_on_shared_database(folder: Path, server: str, n_managers: int, settings: MatchSettings) -> list[Figure]:
    """Play matches at *n_managers* on one database, as fast as they come, and return the figures."""
    thinking = ["--shortest", "0", "--longest", str(ANSWER_S)]
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(new_database(server))
        players = await stack.enter_async_context(child(["benchmarks.load.players", *thinking], folder / "players.log"))
        n_of_each = math.ceil(max(N_MATCHES, N_WARMING) / n_managers)
        managers = [
            await stack.enter_async_context(managing(folder, n_of_each, database=database)) for _ in range(n_managers)
        ]
        generator = LoadGenerator(managers[0], players, settings, others=managers[1:])
        await generator.play(N_WARMING)
        run = await generator.play(N_MATCHES)
    what = f"{n_managers} {'manager' if n_managers == 1 else 'managers'} on one PostgreSQL"
    return [
        Figure(f"{what}: not completed", run.n_matches - run.n_completed, "", 0),
        Figure(f"{what}: missed deadlines and other errors", run.n_errors, "", 0),
        Figure(f"{what}: steps a second", run.n_steps / run.elapsed_s, ""),
        Figure(f"{what}: work of all managers for each step", 1000 * run.work_s / max(1, run.n_steps), "ms"),
        Figure(f"{what}: cores busy with managers", run.work_s / run.elapsed_s, ""),
    ]
