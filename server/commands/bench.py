"""`ggp bench`: how fast games are played at random, from the first position to the end."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Final, TypeAlias

import click
from rich.console import Console
from rich.table import Table

from gdl.engines import DEFAULT_ENGINE, ENGINES
from gdl.games.library import GameFile, find_game
from server.bench import BenchOptions, EngineFigures, measure
from server.terminal.progress import progress

Outcome: TypeAlias = EngineFigures | Exception

_WIDTH_OF_A_PIPE: Final = 200


@click.command()
@click.argument("games", metavar="GAME...", nargs=-1, required=True)
@click.option("--seconds", type=click.FloatRange(0, 3_600, min_open=True), default=2.0, show_default=True,
              help="Processor time for each of three runs.")  # fmt: skip
@click.option("--threads", "n_threads", type=click.IntRange(1, 256), default=1, show_default=True,
              help="Play on that many threads at once.")  # fmt: skip
@click.option("--engine", type=click.Choice(list(ENGINES)), default=DEFAULT_ENGINE, show_default=True,
              help="The engine to measure.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@click.pass_context
def command(
    context: click.Context, games: tuple[str, ...], seconds: float, n_threads: int, engine: str, as_json: bool
) -> None:
    """Play each GAME at random, again and again, and say how many plays and states a second takes.

    GAME is the name of a game of the library or the path of a rule file. Each is measured in a process of its own:
    its set-up, from the text of the rules to the end of a first play, a warm-up, and three runs, of which the median
    counts. Exits with 1 if a game failed.
    """
    files = [find_game(game) for game in games]  # so that a misspelt name is refused before the work begins
    options = BenchOptions(seconds, n_threads, engine)
    with progress("measuring", len(files)) as advance:
        outcomes = []
        for file in files:
            outcomes.append(_outcome(file, options))
            advance()
    if as_json:
        click.echo(json.dumps([_as_json(*pair) for pair in zip(files, outcomes, strict=True)], indent=2))
    else:
        _show(files, outcomes)
    context.exit(0 if all(isinstance(outcome, EngineFigures) for outcome in outcomes) else 1)


def _outcome(file: GameFile, options: BenchOptions) -> Outcome:
    try:
        return measure(file, options, lambda note: click.echo(f"{file.name}: {note}", err=True))
    except Exception as error:  # whatever one game does, the others are measured
        return error


def _as_json(file: GameFile, outcome: Outcome) -> dict[str, object]:
    if isinstance(outcome, EngineFigures):
        return asdict(outcome)
    from server.api.problem import problem  # noqa: PLC0415 -- the API is large, and only an error takes its form

    return {"game": file.name, "error": problem(outcome)}


def _show(files: list[GameFile], outcomes: list[Outcome]) -> None:
    """Print a table of the figures; errors go to standard error."""
    table = Table("game", "engine", box=None, pad_edge=False)
    for column in ("set-up s", "plays/s", "states/s", "peak MB"):
        table.add_column(column, justify="right")
    for file, outcome in zip(files, outcomes, strict=True):
        if isinstance(outcome, EngineFigures):
            table.add_row(outcome.game, outcome.engine, *_numbers(outcome))
        else:
            click.echo(f"ggp: {file.name}: {outcome}", err=True)
    if table.row_count:
        Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else _WIDTH_OF_A_PIPE).print(table)


def _numbers(figures: EngineFigures) -> tuple[str, ...]:
    return (
        f"{figures.setup_s:.2f}",
        _speed(figures.playouts_per_s),
        _speed(figures.states_per_s),
        f"{figures.peak_memory_mb:,.0f}",
    )


def _speed(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
