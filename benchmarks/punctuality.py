"""The punctuality benchmark: a player that uses its whole clock, over HTTP, on a machine that other programs keep busy.

Run as `python -m benchmarks.punctuality`; `docs/strength.md` keeps the figures. It counts the moves that came too late,
without any grace, and how long replies took.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import cycle
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

import click
from rich.console import Console
from rich.progress import Progress

from gdl.engines import make_game
from gdl.game import played_roles
from gdl.games.library import find_game

GAMES: Final = ("connectfour", "breakthrough", "amazons", "tictactoe")
_GGP: Final = (sys.executable, "-m", "server")
_LISTENING: Final = "listening on "


@dataclass(slots=True)
class Replies:
    """How long the replies of a player took, and what was wrong with them. *Units*: milliseconds."""

    thinking_ms: list[int] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def add(self, record: dict[str, Any]) -> None:
        """Add the replies of a match's record, its first, to START, left out."""
        self.thinking_ms += [each for step in record["x-thinking-ms"][1:] for each in step]
        self.errors += [error for step in record["errors"] for error in step if error]

    def summary(self) -> dict[str, Any]:
        """Return the figures by name."""
        hundredths = quantiles(self.thinking_ms, n=100)
        return {
            "moves": len(self.thinking_ms),
            "errors": len(self.errors),
            "median_ms": round(median(self.thinking_ms)),
            "p99_ms": round(hundredths[98]),
            "longest_ms": max(self.thinking_ms),
        }


@dataclass(frozen=True, slots=True)
class Setting:
    """How matches are played. *Units*: seconds."""

    start_clock_s: int
    play_clock_s: int


def spin() -> None:
    """Keep a core busy until the process is ended."""
    while True:
        pass


@contextmanager
def busy(n_processes: int) -> Iterator[None]:
    """Keep so many processes busy meanwhile."""
    spinners = [multiprocessing.Process(target=spin, daemon=True) for _ in range(n_processes)]
    for each in spinners:
        each.start()
    try:
        yield
    finally:
        for each in spinners:
            each.kill()
            each.join()


@contextmanager
def player(spec: str) -> Iterator[str]:
    """Run the player *spec* meanwhile; yield its address."""
    command = [*_GGP, "player", spec, "--port", "0", "--until-eof"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        yield next(line for line in running.stdout if line.startswith(_LISTENING)).removeprefix(_LISTENING).split()[0]
        running.stdin.close()


def play(game: str, urls: Sequence[str], setting: Setting, seed: int) -> dict[str, Any]:
    """Return the record of a match of *game* between the players at *urls*; none can have two roles of a match."""
    roles = played_roles(make_game(find_game(game).read(), "interpreter"))
    seats = [word for role, url in zip(roles, urls, strict=True) for word in ("-p", f"{role}={url}")]
    clocks = ["--start-clock", str(setting.start_clock_s), "--play-clock", str(setting.play_clock_s), "--grace", "0"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "record.json"
        words = [game, *seats, *clocks, "--seed", str(seed), "--record", str(path), "--json"]
        subprocess.run([*_GGP, "match", *words], check=True, stdout=subprocess.DEVNULL)
        found: dict[str, Any] = json.loads(path.read_text())
    return found


def measure(spec: str, games: Sequence[str], n_moves: int, setting: Setting, n_busy: int) -> Replies:
    """Return the replies of matches until there are *n_moves*, the games, of two roles, in turn."""
    found = Replies()
    with player(spec) as first, player(spec) as second, busy(n_busy), Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task("moves", total=n_moves)
        for seed, game in enumerate(cycle(games)):
            found.add(play(game, (first, second), setting, seed))
            bar.update(task, completed=len(found.thinking_ms))
            if len(found.thinking_ms) >= n_moves:
                return found
    raise AssertionError("unreachable: the games come round for ever")


@click.command()
@click.argument("games", nargs=-1)
@click.option("--player", "spec", default="mcts", show_default=True, help="As for `ggp player`.")
@click.option("--moves", "n_moves", type=click.IntRange(min=2), default=1_000, show_default=True)
@click.option("--busy", "n_per_core", type=click.IntRange(min=0), default=4, show_default=True, help="Per core.")
@click.option("--start-clock", "start_clock_s", type=click.IntRange(min=1), default=10, show_default=True)
@click.option("--play-clock", "play_clock_s", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def main(  # noqa: PLR0913, PLR0917 -- its options
    games: tuple[str, ...],
    spec: str,
    n_moves: int,
    n_per_core: int,
    start_clock_s: int,
    play_clock_s: int,
    as_json: bool,
) -> None:
    """Count the late moves of a player that answers HTTP while other programs keep every core busy."""
    setting = Setting(start_clock_s, play_clock_s)
    n_busy = n_per_core * len(os.sched_getaffinity(0))
    found = measure(spec, games or GAMES, n_moves, setting, n_busy)
    summary = {"player": spec, "busy_processes": n_busy, **asdict(setting), **found.summary()}
    if as_json:
        click.echo(json.dumps(summary))
        return
    for name, value in summary.items():
        click.echo(f"{name:16} {value}")
    for error in found.errors[:10]:
        click.echo(error)


if __name__ == "__main__":
    main()
