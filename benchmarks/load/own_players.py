"""Matches between players of ours, ordered at once: `python -m benchmarks.load.own_players`.

Nothing but the manager plays: what is measured is that all matches end, that no player of ours misses a clock, and how
many processes there are for it.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import aiohttp
import click

from benchmarks.load.figures import Figure, table
from benchmarks.load.processes import Child, managing

POLL_S: Final = 0.2
PATIENCE_S: Final = 500.0
N_ORDERING: Final = 8
"""How many orders are on their way at once."""
GAME: Final = "tictactoe"
ROLES: Final = ("x", "o")


@dataclass(frozen=True, slots=True)
class OwnRun:
    """The results of *n_matches* between *player* and `random`. *Units*: seconds; processes besides the manager."""

    player: str
    n_matches: int
    n_completed: int
    n_errors: int
    n_steps: int
    elapsed_s: float
    most_processes: int

    def figures(self) -> list[Figure]:
        """Return the figures of the run."""
        what = f"{self.n_matches:,} matches of {self.player} against random, ordered at once"
        return [
            Figure(f"{what}: not completed", self.n_matches - self.n_completed, "", 0),
            Figure(f"{what}: missed clocks and other errors", self.n_errors, "", 0),
            Figure(f"{what}: steps", self.n_steps, ""),
            Figure(f"{what}: from the first order to the last end", self.elapsed_s, "s"),
            Figure(f"{what}: most processes besides the manager's", self.most_processes, ""),
        ]


async def play(manager: Child, player: str, n_matches: int) -> OwnRun:
    """Order *n_matches* at *manager*, and return the results.

    Raises:
        TimeoutError: they were not over in time.
        aiohttp.ClientError: the manager refused an order, or is gone.
    """
    processes = _Processes(manager.process.pid)
    counting = asyncio.create_task(processes.count())
    try:
        async with aiohttp.ClientSession(manager.url, raise_for_status=True) as session, asyncio.timeout(PATIENCE_S):
            started_s = time.perf_counter()
            ids = await _ordered(session, player, n_matches)
            records = [await _over(session, match_id) for match_id in ids]
            elapsed_s = time.perf_counter() - started_s
    finally:
        counting.cancel()
    return OwnRun(
        player,
        n_matches,
        n_completed=sum(bool(record["isCompleted"]) for record in records),
        n_errors=sum(error != "" for record in records for step in record["errors"] for error in step),
        n_steps=sum(len(record["moves"]) for record in records),
        elapsed_s=elapsed_s,
        most_processes=processes.most,
    )


@dataclass(slots=True)
class _Processes:
    """The most processes that have descended at once from *process_id*."""

    process_id: int
    most: int = 0

    async def count(self) -> None:
        while True:
            self.most = max(self.most, await asyncio.to_thread(_n_descendants, self.process_id))
            await asyncio.sleep(POLL_S)


def _n_descendants(process_id: int) -> int:
    parents = dict(_parents(Path("/proc").glob("[0-9]*/stat")))
    found, todo = set[int](), [process_id]
    while todo:
        above = todo.pop()
        children = {child for child, parent in parents.items() if parent == above}
        todo += children
        found |= children
    return len(found)


def _parents(paths: Iterable[Path]) -> Iterable[tuple[int, int]]:
    for path in paths:
        with suppress(OSError):  # it has ended
            fields = path.read_text("utf-8", "replace").rpartition(")")[2].split()
            if fields[0] != "Z":
                yield int(path.parent.name), int(fields[1])


async def _ordered(session: aiohttp.ClientSession, player: str, n_matches: int) -> Sequence[str]:
    places = asyncio.Semaphore(N_ORDERING)
    order = {"game": GAME, "players": dict(zip(ROLES, (player, "random"), strict=True)), "playClock": 2}

    async def one() -> str:
        async with places, session.post("/api/v1/matches", json=order) as response:
            return str((await response.json())["id"])

    return await asyncio.gather(*(one() for _ in range(n_matches)))


async def _over(session: aiohttp.ClientSession, match_id: str) -> dict[str, Any]:
    while True:
        async with session.get(f"/api/v1/matches/{match_id}") as response:
            record: dict[str, Any] = await response.json()
        if record["isCompleted"] or record["isAborted"]:
            return record
        await asyncio.sleep(POLL_S)


async def _measured(player: str, n_matches: int) -> OwnRun:
    with tempfile.TemporaryDirectory(prefix="ggp-load-") as name:
        async with managing(Path(name), n_matches) as manager:
            return await play(manager, player, n_matches)


@click.command()
@click.option("--matches", "n_matches", type=click.IntRange(1), default=1_000, show_default=True)
@click.option("--player", default="random", show_default=True, help="The player of ours that meets random.")
@click.option("--json", "is_json", is_flag=True, help="Print the figures as JSON.")
def command(n_matches: int, player: str, is_json: bool) -> None:
    """Order many matches between players of ours at once, from a game manager in a process of its own.

    Exits with 1 when one is not completed, or a clock was missed.
    """
    figures = asyncio.run(_measured(player, n_matches)).figures()
    click.echo(json.dumps([figure.as_json() for figure in figures], indent=1) if is_json else table(figures))
    raise SystemExit(0 if all(figure.is_kept for figure in figures) else 1)


if __name__ == "__main__":
    command()
