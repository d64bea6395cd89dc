"""The effect of hostile players on good matches and `/healthz`, measured while they flood the manager."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import aiohttp

from benchmarks.load.figures import Figure, quantile
from benchmarks.load.load_generator import LoadGenerator, MatchSettings, Run, record_of
from benchmarks.load.players import ROLES
from benchmarks.load.processes import Child, child, managing

N_GOOD: Final = 20
"""How many matches between good players are played meanwhile."""
SHARE_S: Final = 0.050
HEALTH_S: Final = 0.100
_CLOCK_S: Final = 1
_HEALTH_EVERY_S: Final = 0.05
_POLL_S: Final = 0.25


@dataclass(frozen=True, slots=True)
class Interference:
    """The results of good matches beside *n_hostile* hostile players, which played *n_steps*. *Units*: seconds."""

    n_hostile: int
    n_steps: int
    run: Run
    healths_s: Sequence[float]

    def figures(self) -> list[Figure]:
        """Return the figures of the measurement."""
        beside, shares_s = f"beside {self.n_hostile} hostile players", self.run.shares_s
        return [
            Figure(f"{beside}: good matches", self.run.n_matches, ""),
            Figure(f"{beside}: steps of hostile players meanwhile", self.n_steps, ""),
            Figure(f"{beside}: good matches not completed", self.run.n_matches - self.run.n_completed, "", 0),
            Figure(f"{beside}: errors of good players", self.run.n_errors, "", 0),
            Figure(f"{beside}: the manager's share of a good step, median", 1000 * quantile(shares_s, 0.5), "ms"),
            Figure(
                f"{beside}: the manager's share of a good step, 99 %",
                1000 * quantile(shares_s, 0.99),
                "ms",
                1000 * SHARE_S,
            ),
            Figure(f"{beside}: `/healthz`, median", 1000 * quantile(self.healths_s, 0.5), "ms"),
            Figure(f"{beside}: `/healthz`, 99 %", 1000 * quantile(self.healths_s, 0.99), "ms", 1000 * HEALTH_S),
            Figure(f"{beside}: a core busy with the manager", 100 * self.run.work_s / self.run.elapsed_s, "%"),
        ]


async def interfered(folder: Path, n_hostile: int, settings: MatchSettings) -> list[Figure]:
    """Play good matches with *settings* beside *n_hostile* hostile players, and return the figures."""
    thinking = ["--shortest", str(settings.shortest_s), "--longest", str(settings.longest_s)]
    async with (
        child(["benchmarks.load.players", *thinking], folder / "players.log") as players,
        child(["benchmarks.load.hostile_players"], folder / "hostile.log") as hostile,
        managing(folder, 2 * N_GOOD + n_hostile) as manager,
    ):
        generator = LoadGenerator(manager, players, settings)
        await generator.play(N_GOOD)
        async with _harassing(manager, hostile, n_hostile) as ids, _asking_health(manager) as healths_s:
            run = await generator.play(N_GOOD)
        n_steps = await _steps(manager, ids)
    return Interference(n_hostile, n_steps, run, healths_s).figures()


@asynccontextmanager
async def _harassing(manager: Child, hostile: Child, n_hostile: int) -> AsyncIterator[list[str]]:
    """Let *n_hostile* players play against each other for as long as the block runs, and yield the matches."""
    ids: list[str] = []
    task = asyncio.create_task(_keep_playing(manager, hostile, n_hostile, ids))
    try:
        yield ids
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _keep_playing(manager: Child, hostile: Child, n_hostile: int, ids: list[str]) -> None:
    """Order a match between each two hostile players whenever their last one is over."""
    last = {range(i, i + len(ROLES)): "" for i in range(0, n_hostile, len(ROLES))}
    async with aiohttp.ClientSession(manager.url, raise_for_status=True) as session:
        while True:
            # Two lists for all: the records of so many matches would cost the manager work that is not measured.
            not_over = await _listed(session, "queued") | await _listed(session, "running")
            for numbers in [numbers for numbers, match_id in last.items() if match_id not in not_over]:
                last[numbers] = await _order(session, hostile, numbers)
                ids.append(last[numbers])
            await asyncio.sleep(_POLL_S)


async def _listed(session: aiohttp.ClientSession, status: str) -> set[str]:
    async with session.get("/api/v1/matches", params={"status": status, "limit": 200}) as response:
        return {match["id"] for match in (await response.json())["matches"]}


async def _order(session: aiohttp.ClientSession, hostile: Child, numbers: Sequence[int]) -> str:
    players = {role: f"{hostile.url}/{number}/" for role, number in zip(ROLES, numbers, strict=True)}
    order = {"game": "tictactoe", "players": players, "startClock": _CLOCK_S, "playClock": _CLOCK_S}
    async with session.post("/api/v1/matches", json=order) as response:
        return str((await response.json())["id"])


@asynccontextmanager
async def _asking_health(manager: Child) -> AsyncIterator[list[float]]:
    """Ask `/healthz` again and again while the block runs, and yield how long each answer took."""
    times_s: list[float] = []

    async def ask() -> None:
        async with aiohttp.ClientSession(manager.url, raise_for_status=True) as session:
            while True:
                started_s = time.perf_counter()
                async with session.get("/healthz") as response:
                    await response.read()
                times_s.append(time.perf_counter() - started_s)
                await asyncio.sleep(_HEALTH_EVERY_S)

    task = asyncio.create_task(ask())
    try:
        yield times_s
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _steps(manager: Child, ids: Sequence[str]) -> int:
    async with aiohttp.ClientSession(manager.url, raise_for_status=True) as session:
        return sum([len((await record_of(session, match_id))["moves"]) for match_id in ids])
