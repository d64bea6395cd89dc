"""Steps a second of processor time of arrays of plays, beside pgx and OpenSpiel: what `make bench-vector` prints.

Run as `python -m benchmarks.vector GAME... --pgx-python P --openspiel-python P`. Each measures random legal play with
masks of legal actions, rewards and ends at every step, ended plays beginning anew; theirs run in a Python of their own.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean
from typing import Final

import click

from gdl.games.library import game_names
from players.environments import VectorGame

GAMES: Final = ("tictactoe", "connectfour", "breakthrough", "othello", "hex", "chess")
COPIES: Final = (1, 64, 1024, 16384)
COMPARED: Final = 1024
"""The number of copies at which we are compared with others."""
_YARDSTICKS: Final = Path(__file__).parent / "yardsticks"


@dataclass(frozen=True, slots=True)
class Row:
    """Steps a second of processor time in a game with so many copies; None where one does not have the game."""

    game: str
    copies: int
    ours: float
    observing: float
    pgx: float | None
    openspiel: float | None


def steps_per_s(game: str, copies: int, seconds: float, observes: bool) -> float:
    """Return our steps a second of processor time, with the bits of all states at each step where *observes*."""
    games = VectorGame(game, copies, seed=1)
    n_steps = -20
    while True:
        for _ in range(20):
            games.step(games.sample_actions())
            _ = games.legal
            if observes:
                games.observe()
        if n_steps < 0:
            began_s = time.process_time()
        n_steps += 20
        if (spent_s := time.process_time() - began_s) > seconds:
            return n_steps * copies / spent_s


def theirs(python: str | None, script: str, game: str, copies: int, seconds: float) -> float | None:
    """Return the steps a second that *script* prints, run by *python*; None where it prints none."""
    if python is None:
        return None
    found = subprocess.run(
        [python, str(_YARDSTICKS / script), game, str(copies), str(seconds)], capture_output=True, text=True, check=True
    )
    return float(found.stdout) if found.stdout.strip() else None


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of the table in Markdown, and below it the means."""
    yield "| game | copies | steps/s | with bits of states | pgx | times | OpenSpiel | times |"
    yield "| --- | --: | --: | --: | --: | --: | --: | --: |"
    for row in rows:
        cells = [row.game, f"{row.copies:,}", _shown(row.ours), _shown(row.observing)]
        for other in (row.pgx, row.openspiel):
            cells += ["-", "-"] if other is None else [_shown(other), f"{row.ours / other:.1f}"]
        yield f"| {' | '.join(cells)} |"
    yield ""
    for name in ("pgx", "openspiel"):
        times = [row.ours / other for row in rows if row.copies == COMPARED and (other := getattr(row, name))]
        if times:
            mean, least, where = geometric_mean(times), min(times), f"at {COMPARED:,} copies"
            yield f"- {name}: {mean:.1f} times in the geometric mean {where}, at least {least:.1f} times."


def _shown(number: float) -> str:
    return f"{number / 1e6:.2f} M" if number >= 1e6 else f"{number / 1e3:.1f} k"


@click.command()
@click.argument("games", nargs=-1)
@click.option("--copies", type=int, multiple=True, default=COPIES, help="numbers of copies")
@click.option("--seconds", default=2.0, help="processor time of each measurement")
@click.option("--pgx-python", help="a Python that has pgx and jax")
@click.option("--openspiel-python", help="a Python that has pyspiel")
def main(
    games: tuple[str, ...],
    copies: tuple[int, ...],
    seconds: float,
    pgx_python: str | None,
    openspiel_python: str | None,
) -> None:
    """Measure steps a second of arrays of plays; games that the library does not have are left out."""
    rows = []
    for game in games or GAMES:
        if game not in game_names():
            click.echo(f"{game} is not in the library", err=True)
            continue
        for n in copies:
            ours, observing = (steps_per_s(game, n, seconds, observes) for observes in (False, True))
            pgx = theirs(pgx_python, "pgx_steps.py", game, n, seconds)
            openspiel = theirs(openspiel_python, "openspiel_steps.py", game, n, seconds)
            rows.append(Row(game, n, ours, observing, pgx, openspiel))
            click.echo(f"{rows[-1]}", err=True)
    for line in table(rows):
        click.echo(line)


if __name__ == "__main__":
    main()
