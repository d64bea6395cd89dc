"""Our speed beside that of the field and of our last release, with plain C as the yardstick: what `make bench` prints.

Run as `python -m benchmarks.field`; `docs/engine.md` keeps the figures, and `benchmarks/released.json` those of the
last release, which are scaled and so can be compared with another machine's.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean
from typing import Final

import click

from gdl.games.library import find_game, game_names
from server.measuring.engine_speed import BenchOptions, EngineFigures, measure
from server.terminal.progress import progress

LIBRARY: Final = "rules/"
"""What stands before the name of a game of the library, which the field does not play."""
RELEASED: Final = Path(__file__).with_name("released.json")
"""Our scaled plays per second at the last release, by game."""
MEASURED_THERE: Final = {"tictactoe": 12.5e6, "connectfour": 2.6e6, "breakthrough": 0.83e6}
"""Its plays per second where others were measured: the head of `peers.tsv` has them."""

# Others were measured by processor time, too: what waits for a busy core is no slower for it.
_BY_PROCESSOR_TIME: Final = """\
#include <time.h>
#undef CLOCK_MONOTONIC
#define CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID
#include "limit.c"
"""


@contextmanager
def plain_c(source: Path) -> Iterator[Path]:
    """Yield the program that gcc makes of `limit.c`, which is gone afterwards.

    Raises:
        FileNotFoundError: there is no gcc.
        CalledProcessError: it refuses.
    """
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "limit"
        subprocess.run(
            ["gcc", "-O3", "-march=native", "-I", str(source.parent), "-x", "c", "-", "-o", str(program)],  # noqa: S607 -- the gcc that is there
            input=_BY_PROCESSOR_TIME, check=True, text=True,
        )  # fmt: skip
        yield program


def speeds_of_c(program: Path, core: int) -> dict[str, float]:
    """Return the plays per second of processor time that *program* makes on a core, by game."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        done = subprocess.run([program], check=True, text=True, capture_output=True)
    finally:
        os.sched_setaffinity(0, cores)
    return {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}


BY_HAND: Final = {"ticTacToe": "tictactoe", "connectFour": "connectfour", "breakthrough": "breakthrough"}
"""The games that plain C plays, by the name of the rule file."""
_SET_UP_SHARE: Final = 1 / 5
_SET_UP_S: Final = 0.4


@dataclass(frozen=True, slots=True)
class Peers:
    """The speed of the field in a game, 0 where no program plays it. *Units*: plays per second, seconds."""

    game: str
    best: float
    best_setup_s: float
    rbg: float
    rbg_monotonic: float

    @property
    def allowed_setup_s(self) -> float:
        """The bound of our set-up time; none for a game that the field cannot set up."""
        return max(_SET_UP_SHARE * self.best_setup_s, _SET_UP_S) if self.best else float("inf")


@dataclass(frozen=True, slots=True)
class Row:
    """A game, and what plain C reached at its own games around it."""

    peers: Peers
    figures: EngineFigures
    by_hand: Mapping[str, float]
    released: float | None = None
    """The scaled plays per second of the last release, None where it has none."""

    @property
    def of_release(self) -> str:
        """How many times the last release's plays ours are, as text."""
        return f"{self.scaled / self.released:.2f}" if self.released else "-"

    @property
    def scaled(self) -> float:
        """Our plays per second as they would be where the others were measured."""
        drift = geometric_mean(self.by_hand[game] / there for game, there in MEASURED_THERE.items())
        return self.figures.playouts_per_s / drift

    @property
    def of_c(self) -> float | None:
        """How many plays plain C makes of this very game in a second, here and now; None where it does not play it."""
        game = BY_HAND.get(self.peers.game)
        return None if game is None else self.by_hand[game]


def read_released(path: Path = RELEASED) -> dict[str, float]:
    """Return the scaled plays per second of the last release by game, empty where there was none yet."""
    return dict(json.loads(path.read_text())) if path.exists() else {}


def games_of(bench: Path) -> list[Peers]:
    """Return the games of the field, then those of the library."""
    return [*read_peers(bench / "peers.tsv"), *(Peers(f"{LIBRARY}{name}", 0, 0, 0, 0) for name in game_names())]


def read_peers(path: Path) -> list[Peers]:
    """Return the lines of `peers.tsv`."""
    lines = (line for line in path.read_text().splitlines() if not line.startswith("#"))
    return [_peers(row) for row in csv.DictReader(lines, delimiter="\t")]


def _peers(row: Mapping[str, str]) -> Peers:
    columns = ("best_playouts_s", "best_setup_s", "rbg_playouts_s", "rbg_monotonic_playouts_s")
    return Peers(row["game"], *(_number(row[column]) for column in columns))


def _number(text: str) -> float:
    return 0.0 if text in ("-", "None") else float(text)


def rows(bench: Path, games: Sequence[str], seconds: float, released: Mapping[str, float]) -> Iterator[Row]:
    """Yield the games as they are measured, all on one core, plain C before and after each; *games* empty means all.

    Games that fail are reported, and left out.

    Raises: as `plain_c`.
    """
    core = min(os.sched_getaffinity(0))
    options = BenchOptions(seconds=seconds, engine="compiled", core=core)
    with plain_c(bench / "limit.c") as program:
        before = speeds_of_c(program, core)
        for peers in games_of(bench):
            if games and peers.game not in games:
                continue
            figures = _figures(peers.game, bench, options)
            after = speeds_of_c(program, core)
            if figures is not None:
                by_hand = {game: geometric_mean([before[game], after[game]]) for game in MEASURED_THERE}
                yield Row(peers, figures, by_hand, released.get(peers.game))
            before = after


def _figures(game: str, bench: Path, options: BenchOptions) -> EngineFigures | None:
    name = game.removeprefix(LIBRARY)
    try:
        file = find_game(str(bench / "rules" / f"{name}.kif") if name == game else name)
        return measure(file, options, lambda note: click.echo(f"{game}: {note}", err=True))
    except Exception as error:  # whatever one game does, the others are measured
        click.echo(f"{game}: {error}", err=True)
        return None


def page(found: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of the table, each as soon as its row is there, and what follows from it, as Markdown."""
    yield (
        "| game | plays/s | scaled | of the last release | best of the field | times | rbg | times "
        "| set-up s | may take s | peak MB |"
    )
    yield "| --- " + "| --: " * 10 + "|"
    met = []
    for row in found:
        met.append(row)
        yield _line(row)
    yield ""
    yield from _conclusions(met)


def _line(row: Row) -> str:
    """Return the line of the table for *row*."""
    peers, figures = row.peers, row.figures
    cells = (
        peers.game,
        _short(figures.playouts_per_s),
        _short(row.scaled),
        row.of_release,
        _short(peers.best),
        _times(row.scaled, peers.best),
        _short(peers.rbg),
        _times(row.scaled, peers.rbg),
        f"{figures.setup_s:.2f}",
        f"{peers.allowed_setup_s:.2f}" if peers.best else "-",
        f"{figures.peak_memory_mb:.0f}",
    )
    return f"| {' | '.join(cells)} |"


def _conclusions(found: Sequence[Row]) -> Iterator[str]:
    """Yield what follows from the rows in *found*, a line each."""
    times = {row.peers.game: row.scaled / row.peers.best for row in found if row.peers.best}
    if not times:
        return
    least = min(times, key=times.__getitem__)
    mean = geometric_mean(times.values())
    yield f"- {mean:.1f} times the best engine of the field in the geometric mean of {len(times)} games."
    yield f"- The least is {times[least]:.1f} times, in {least}."
    released = [row.scaled / row.released for row in found if row.released]
    if released:
        yield f"- {geometric_mean(released):.2f} times our last release in the geometric mean of {len(released)} games."
    for row in found:
        if row.of_c is not None:
            times_c = row.figures.playouts_per_s / row.of_c
            yield f"- {row.peers.game}: {times_c:.2f} times plain C, which made {_short(row.of_c)} plays/s beside it."
    for what, of in (("Regular Boardgames", "rbg"), ("Its monotonic variant", "rbg_monotonic")):
        ahead = {row.peers.game: row.scaled / getattr(row.peers, of) for row in found if getattr(row.peers, of)}
        if ahead:
            yield f"- {what}: {', '.join(f'{game} {ratio:.2f}' for game, ratio in ahead.items())} times."
    late = [row.peers.game for row in found if row.figures.setup_s > row.peers.allowed_setup_s]
    yield f"- Set-up takes longer than it may in {', '.join(late) or 'no game'}."


def _times(ours: float, theirs: float) -> str:
    return f"{ours / theirs:.1f}" if theirs else "-"


def _short(number: float) -> str:
    """Return *number* with three digits that count."""
    if number >= 1e6:
        return f"{number / 1e6:.3g} M"
    if number >= 1e4:
        return f"{number / 1e3:.3g} k"
    return f"{number:.0f}" if number else "-"


@click.command()
@click.argument("games", metavar="[GAME]...", nargs=-1)
@click.option("--seconds", type=click.FloatRange(0, min_open=True), default=2.0, show_default=True)
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Write the scaled figures, as a release keeps them.")  # fmt: skip
def command(games: tuple[str, ...], seconds: float, save: Path | None) -> None:
    """Print our speed beside that of the field as Markdown: of each GAME of `peers.tsv` or `rules/NAME`, or of all.

    The environment's GGP_SHARED names the folder that has `bench/`; gcc must be there.
    """
    bench = Path(os.environ.get("GGP_SHARED", "../shared")) / "bench"
    known = [peers.game for peers in games_of(bench)]
    for game in games:
        if game not in known:
            raise click.UsageError(f"no game {game!r} in {bench / 'peers.tsv'}; there are {', '.join(known)}")
    found: list[Row] = []
    with progress("measuring", len(games) or len(known)) as advance:
        for line in page(_kept(rows(bench, games, seconds, read_released()), found)):
            click.echo(line)
            advance()
    if save is not None:
        scaled = {row.peers.game: round(row.scaled, 1) for row in found}
        save.write_text(json.dumps(scaled, indent=1) + "\n")


def _kept(rows: Iterable[Row], found: list[Row]) -> Iterator[Row]:
    """Yield the *rows*, which are added to *found*."""
    for row in rows:
        found.append(row)
        yield row


if __name__ == "__main__":
    command()
