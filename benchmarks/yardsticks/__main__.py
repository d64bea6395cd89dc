"""`python -m benchmarks.yardsticks`: our players beside engines that others wrote, and beside an exact solver.

`docs/strength.md` keeps the figures.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click
from rich.table import Table

from benchmarks.yardsticks.child import Child
from benchmarks.yardsticks.games import GAMES, OPENSPIEL_GAMES, SPEED_GAMES, YardstickGame, chosen, program
from benchmarks.yardsticks.matches import Encounter, Outcome, warm_up
from benchmarks.yardsticks.perfection import measure_perfection
from benchmarks.yardsticks.speed import OPENSPIEL, Runs, check_openspiel, compare_speed
from gdl.errors import CallerError
from players.registry import find_player
from server.measuring.accuracy import START_S
from server.measuring.solved_positions import read_positions
from server.terminal.command_line import table_console
from server.terminal.progress import progress

POSITIONS: Final = Path(__file__).parents[1] / "positions" / "connectfour.jsonl"
_UCI: Final = "benchmarks.yardsticks.engines.uci"
_GO: Final = "benchmarks.yardsticks.engines.go"
_REVERSI: Final = "benchmarks.yardsticks.engines.reversi"
_PERFECT: Final = "benchmarks.yardsticks.engines.perfect"


@dataclass(frozen=True, slots=True)
class Level:
    """A strength of a yardstick, by the words that describe it, and the program that has it."""

    words: str
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The matches that are wanted with each level. *Units*: seconds of processor time."""

    spec: str
    seconds: float
    start_s: float
    n_matches: int
    seed: int
    as_json: bool


def _common(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options that all matches have, which *function* gets as one, `wanted`."""

    @wraps(function)
    def command(**options: Any) -> None:
        wanted = Wanted(**{field.name: options.pop(field.name) for field in fields(Wanted)})
        function(**options, wanted=wanted)

    for option in (
        click.option("--player", "spec", default="mcts", show_default=True, metavar="SPEC",
                     help="The player measured."),
        click.option("--seconds", type=click.FloatRange(0, min_open=True), default=0.1, show_default=True,
                     help="Processor time a move."),
        click.option("--start", "start_s", type=click.FloatRange(0, min_open=True), default=START_S, show_default=True,
                     help="Processor time before the first move."),
        click.option("--matches", "n_matches", type=click.IntRange(1), default=20, show_default=True,
                     help="With each level; an odd number is one more."),
        click.option("--seed", type=click.IntRange(0), default=0, show_default=True),
        click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON."),
    ):  # fmt: skip
        command = option(command)
    return command


_PYTHON = click.option("--openspiel-python", "python", default=sys.executable, metavar="PATH",
                       help="The Python that has OpenSpiel, by default this one.")  # fmt: skip


@contextmanager
def _usage() -> Iterator[None]:
    """Say of an error of the caller what is wrong, without a traceback."""
    try:
        yield
    except CallerError as error:
        raise click.ClickException(str(error)) from error


@click.group()
def main() -> None:
    """Measure our players beside engines that others wrote, by processor time."""


@main.command()
@click.argument("games", metavar="[GAME...]", nargs=-1, type=click.Choice(OPENSPIEL_GAMES))
@click.option("--player", "spec", default="mcts", show_default=True, metavar="SPEC", help="The player measured.")
@click.option("--seconds", type=click.FloatRange(0, min_open=True), default=3.0, show_default=True,
              help="Processor time of a run.")  # fmt: skip
@click.option("--runs", "n_runs", type=click.IntRange(1), default=3, show_default=True, help="The median counts.")
@_PYTHON
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def speed(  # noqa: PLR0913, PLR0917 -- click hands every option to it
    games: Sequence[str], spec: str, seconds: float, n_runs: int, python: str, as_json: bool
) -> None:
    """Compare leaves with OpenSpiel's simulations a second, at the first position of each GAME."""
    with _usage():
        check_openspiel(python)
        maker, wanted = find_player(spec), chosen(games, SPEED_GAMES)
        with progress("measuring", len(wanted) * n_runs) as advance:
            found = [compare_speed(game, maker, Runs(n_runs, seconds, python), advance) for game in wanted]
    _show([each.figures() for each in found], as_json)


@main.command()
@click.argument("games", metavar="[GAME...]", nargs=-1, type=click.Choice(OPENSPIEL_GAMES))
@click.option("--times", default="1", show_default=True, metavar="X[,X...]",
              help="How much of the player's time OpenSpiel has; each is a level.")  # fmt: skip
@click.option("--exploration", type=float, default=2.0, show_default=True, help="OpenSpiel's constant.")
@click.option(
    "--opening",
    "n_opening",
    type=click.IntRange(0),
    metavar="N",
    help="How many steps are drawn at random first, by default some by the game; 0 begins as it does.",
)
@_PYTHON
@_common
def openspiel(  # noqa: PLR0913, PLR0917 -- click hands every option to it
    games: Sequence[str], times: str, exploration: float, n_opening: int | None, python: str, wanted: Wanted
) -> None:
    """Play against OpenSpiel's Monte Carlo tree search at each GAME."""

    def levels(game: YardstickGame) -> Iterator[Level]:
        assert game.openspiel is not None
        for factor in map(float, times.split(",")):
            words = ["--seconds", str(factor * wanted.seconds), "--exploration", str(exploration)]
            yield Level(f"{factor:g} times", (python, "-m", OPENSPIEL, game.openspiel, *words))

    with _usage():
        check_openspiel(python)
        found = _meet("openspiel", _begun(chosen(games, SPEED_GAMES), n_opening), levels, wanted)
    _show(found, wanted.as_json)


@main.command()
@click.option("--engine", default="stockfish", show_default=True, help="A program that speaks UCI and lists its moves.")
@click.option("--depths", default="1", show_default=True, metavar="N[,N...]", help="Each is a level.")
@click.option("--random-moves", "shares", default="0", show_default=True, metavar="P[,P...]",
              help="The share of the engine's moves that are drawn at random; each is a level.")  # fmt: skip
@_common
def chess(engine: str, depths: str, shares: str, wanted: Wanted) -> None:
    """Play against a chess engine at a fixed depth."""
    with _usage():
        words = _installed(engine)
        command = shlex.join(words)

        def levels(_: YardstickGame) -> Iterator[Level]:
            for depth in map(int, depths.split(",")):
                for share in map(float, shares.split(",")):
                    options = [command, "--go", f"depth {depth}", "--random-moves", str(share)]
                    yield Level(f"depth {depth}, {share:.0%} at random", (sys.executable, "-m", _UCI, *options))

        found = _meet(Path(words[0]).name, [GAMES["chess"]], levels, wanted)
    _show(found, wanted.as_json)


@main.command()
@click.option("--engine", default="gnugo --mode gtp --chinese-rules", show_default=True,
              help="A program that speaks GTP and lists its moves.")  # fmt: skip
@click.option(
    "--levels", default="1,10", show_default=True, metavar="N[,N...]", help="Those of GNU Go; each is a level."
)
@_common
def go(engine: str, levels: str, wanted: Wanted) -> None:
    """Play go on 5x5 points against GNU Go."""
    _meet_numbered(GAMES["go"], _GO, engine, levels, wanted)


@main.command()
@click.option("--engine", default="gtp-rhino", show_default=True, help="A program that speaks GTP.")
@click.option(
    "--levels", default="1,2,3,4,5", show_default=True, metavar="N[,N...]", help="Those of GRhino; each is a level."
)
@_common
def reversi(engine: str, levels: str, wanted: Wanted) -> None:
    """Play reversi against GRhino."""
    _meet_numbered(GAMES["reversi"], _REVERSI, engine, levels, wanted)


@main.command()
@click.option("--positions", "path", type=click.Path(dir_okay=False, path_type=Path), default=POSITIONS,
              help="The solved positions that matches begin with.")  # fmt: skip
@click.option("--half", type=click.Choice(["tuning", "test"]), default="tuning", show_default=True)
@_common
def perfect(path: Path, half: str, wanted: Wanted) -> None:
    """Play connect four from solved positions against the exact solver, and count where their worth was kept."""
    with _usage():
        maker, game = find_player(wanted.spec), GAMES["connectfour"].compiled()
        file = read_positions(path).of_half("tuning" if half == "tuning" else "test")
        warm_up(game, maker)
        command = (sys.executable, "-m", _PERFECT, "--seed", str(wanted.seed))
        with progress("playing", wanted.n_matches) as advance, Child(command) as child:
            encounter = Encounter(game, maker, child, wanted.seconds, wanted.start_s)
            found = measure_perfection(encounter, file, wanted.n_matches, advance)
    _show([found.figures()], wanted.as_json)


def _installed(engine: str) -> list[str]:
    """Return the words of the command *engine*, the first of them a path. Raises: as `program`."""
    words = shlex.split(engine)
    return [program(words[0]), *words[1:]]


def _meet_numbered(game: YardstickGame, module: str, engine: str, levels: str, wanted: Wanted) -> None:
    """Play against each of the *levels* of a program that takes `--level N`, which *module* speaks to, and print it."""

    def numbered(_: YardstickGame) -> Iterator[Level]:
        for level in map(int, levels.split(",")):
            command = shlex.join([*words, "--level", str(level)])
            yield Level(f"level {level}", (sys.executable, "-m", module, command))

    with _usage():
        words = _installed(engine)
        found = _meet(Path(words[0]).name, [game], numbered, wanted)
    _show(found, wanted.as_json)


def _begun(games: Sequence[YardstickGame], n_opening: int | None) -> Sequence[YardstickGame]:
    """Return *games* with *n_opening* steps that are drawn, if that is given."""
    return games if n_opening is None else [replace(game, n_opening=n_opening) for game in games]


def _meet(
    yardstick: str, games: Sequence[YardstickGame], levels: Callable[[YardstickGame], Iterator[Level]], wanted: Wanted
) -> list[dict[str, Any]]:
    """Return what the matches of all games and levels came to."""
    maker, found = find_player(wanted.spec), []
    meetings = [(game, level) for game in games for level in levels(game)]
    with progress("playing", len(meetings) * wanted.n_matches) as advance:
        for game, level in meetings:
            compiled = game.compiled()
            warm_up(compiled, maker)
            with Child((*level.command, "--seed", str(wanted.seed))) as child:
                encounter = Encounter(compiled, maker, child, wanted.seconds, wanted.start_s)
                played = encounter.play_pairs(wanted.n_matches, game.n_opening, wanted.seed, advance)
            outcome = Outcome(game.name, wanted.spec, yardstick, level.words, wanted.seconds, played)
            won, drawn, lost = outcome.counts
            click.echo(f"{game.name}, {level.words}: {won} won, {drawn} drawn, {lost} lost", err=True)
            found.append(outcome.figures())
    return found


def _show(rows: Sequence[dict[str, Any]], as_json: bool) -> None:
    """Print figures, as JSON or as a table."""
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    table = Table(*(rows[0] if rows else ()), box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(f"{value:,}" if isinstance(value, int | float) else str(value) for value in row.values()))
    table_console().print(table)


if __name__ == "__main__":
    main()
