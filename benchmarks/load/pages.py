"""How long pages and lists take over a database with a week of matches in it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import aiohttp

from benchmarks.load.figures import Figure
from benchmarks.load.old_matches import PLAYERS
from benchmarks.load.processes import Child

N_TIMES: Final = 7
PROMISED_MS: Final = 50.0
_PAGES: Final = (
    "/", "/parts/live", "/matches", "/matches?game=tictactoe", "/matches?status=completed", "/matches?status=failed",
    "/matches?player={player}", "/matches?before={old}", "/matches/{match}", "/matches/{match}/parts", "/queue",
    "/games", "/games/tictactoe", "/players", "/players/{player}", "/start", "/validate", "/admin",
    "/players/{player}/against/{other}", "/leaderboards", "/leaderboards/tictactoe", "/tournaments",
)  # fmt: skip
_API: Final = (
    "/api/v1/matches?limit=200", "/api/v1/matches?game=tictactoe", "/api/v1/matches?status=completed",
    "/api/v1/matches?status=failed", "/api/v1/matches?player={player}", "/api/v1/matches?tournament=none",
    "/api/v1/matches?before={old}", "/api/v1/matches/{match}", "/api/v1/matches/{match}/states/3",
    "/api/v1/matches/{match}/journal", "/api/v1/games", "/api/v1/games/tictactoe", "/api/v1/players",
    "/api/v1/openapi.json", "/metrics", "/readyz",
)  # fmt: skip


def addresses(n_matches: int) -> tuple[str, ...]:
    """Return the addresses to request where *n_matches* were added."""
    named = {
        "player": PLAYERS[0],
        "other": PLAYERS[1],
        "old": f"week.{n_matches // 10:07d}",
        "match": f"week.{n_matches // 2:07d}",
    }
    return tuple(address.format(**named) for address in (*_PAGES, *_API))


@dataclass(frozen=True, slots=True)
class Answers:
    """How long each answer from an address took, and how long a core worked for the manager. *Units*: milliseconds."""

    times_ms: tuple[float, ...]
    works_ms: tuple[float, ...]


async def measured(manager: Child, n_matches: int) -> Mapping[str, Answers]:
    """Return how long every address took, each of several times, which are spread over the whole of the measurement.

    So no address has all of its answers while the manager does something else.

    Raises:
        aiohttp.ClientError: something is not answered as it should be.
    """
    found: dict[str, list[tuple[float, float]]] = {address: [] for address in addresses(n_matches)}
    async with aiohttp.ClientSession(manager.url, raise_for_status=True) as session:
        for _ in range(N_TIMES):
            for address, answers in found.items():
                answers.append(await _once(manager, session, address))
    return {address: Answers(*zip(*answers, strict=True)) for address, answers in found.items()}


async def _once(manager: Child, session: aiohttp.ClientSession, address: str) -> tuple[float, float]:
    """Return how long an answer takes, and how long a core works for it."""
    started_s, work_s = time.perf_counter(), manager.exact_work_s()
    async with session.get(address) as response:
        await response.read()
    return 1000 * (time.perf_counter() - started_s), 1000 * (manager.exact_work_s() - work_s)


def page_figures(n_matches: int, found: Mapping[str, Answers]) -> list[Figure]:
    """Return the figures of the addresses: the slowest in the median, and the slowest answer of all."""
    times_ms = {address: answers.times_ms for address, answers in found.items()}
    medians = {address: statistics.median(times) for address, times in times_ms.items()}
    slowest = max(medians, key=lambda address: medians[address])
    worst = max(times_ms, key=lambda address: max(times_ms[address]))
    works = {address: statistics.median(answers.works_ms) for address, answers in found.items()}
    dearest = max(works, key=lambda address: works[address])
    held = f"{n_matches:,} matches in the database"
    return [
        Figure(f"{held}: work of the manager for an answer, most in the median, `{dearest}`", works[dearest], "ms"),
        Figure(f"{held}: work of the manager for the first answer, `/`", found["/"].works_ms[0], "ms"),
        Figure(f"{held}: first answer, `/`", times_ms["/"][0], "ms"),
        Figure(f"{held}: pages and lists", len(times_ms), ""),
        Figure(f"{held}: median over all", statistics.median(medians.values()), "ms"),
        Figure(f"{held}: slowest in the median, `{slowest}`", medians[slowest], "ms", PROMISED_MS),
        Figure(f"{held}: slowest answer of all, `{worst}`", max(times_ms[worst]), "ms"),
    ]
