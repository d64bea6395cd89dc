"""What a tournament costs beside its players: many matches of tictactoe between two players that answer at once.

Run as `python -m benchmarks.tournament`; `docs/tournaments.md` keeps the figures.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from benchmarks.load.processes import child

INSTANT: Final = ("benchmarks.load.players", "--shortest", "0", "--longest", "0")
"""Players in one other process, which answer over HTTP as soon as they are asked."""
CLOCKS: Final = ("--start-clock", "10", "--play-clock", "5")


@dataclass(frozen=True, slots=True)
class TournamentRun:
    """What a tournament came to. *Units*: seconds; `work_s` is processor time of its process and of its children."""

    n_matches: int
    n_errors: int
    elapsed_s: float
    work_s: float

    def line(self) -> str:
        """Return the figures as text."""
        return (
            f"{self.n_matches} matches in {self.elapsed_s:.1f} s: {self.n_matches / self.elapsed_s:.1f} a second, "
            f"{1000 * self.work_s / self.n_matches:.1f} ms of processor time each, {self.n_errors} errors"
        )


def measured(players_url: str, n_matches: int, folder: Path) -> TournamentRun:
    """Return what *n_matches*, an even number, cost in a process of `ggp tournament run`, startup and reports included.

    Raises:
        ChildProcessError: the tournament failed.
    """
    words = ("--game", "tictactoe", "-p", f"one={players_url}/one", "-p", f"two={players_url}/two", "--seed", "1")
    command = [sys.executable, "-P", "-m", "server", "tournament", "run", *words, *CLOCKS]
    output = folder / "standings"
    began_s = time.monotonic()
    with output.open("wb") as file:
        rounds = ("--rounds", str(n_matches // 2), "--json", "--out", str(folder / "cup"))
        process = subprocess.Popen([*command, *rounds], stdout=file)
    _, status, usage = os.wait4(process.pid, 0)
    elapsed_s, process.returncode = time.monotonic() - began_s, os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise ChildProcessError(f"ggp tournament ended with exit code {process.returncode}")
    standings = json.loads(output.read_bytes())
    n_errors = sum(row["errors"] for row in standings["standings"])
    return TournamentRun(standings["matches"], n_errors, elapsed_s, usage.ru_utime + usage.ru_stime)


async def play(n_matches: int) -> TournamentRun:
    """Start the players, and measure a tournament of *n_matches*."""
    with tempfile.TemporaryDirectory() as folder:
        async with child(INSTANT, Path(folder, "players.log")) as players:
            return await asyncio.to_thread(measured, players.url, n_matches, Path(folder))


@click.command()
@click.option("--matches", "n_matches", type=click.IntRange(2), default=1000, show_default=True, help="An even number.")
def main(n_matches: int) -> None:
    """Measure a tournament of tictactoe between two players that answer at once, over real sockets."""
    run = asyncio.run(play(n_matches))
    click.echo(run.line())
    sys.exit(1 if run.n_errors else 0)


if __name__ == "__main__":
    main()
