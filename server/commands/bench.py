"""`ggp bench`: how fast games are played at random, and how often a player keeps the value of solved positions."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import click
from rich.table import Table

from gdl.engines import DEFAULT_ENGINE
from gdl.games.library import GameFile, find_game
from server.measuring.engine_speed import BenchOptions, EngineFigures, measure
from server.terminal.command_line import FiniteRange, check_needs, engine_option, table_console
from server.terminal.progress import progress

if TYPE_CHECKING:
    from server.measuring.accuracy import Accuracy, Halves
    from server.measuring.search_speed import SearchFigures

Outcome = TypeVar("Outcome")
Figures = TypeVar("Figures", bound="EngineFigures | SearchFigures")

_ONE_NUMBER: Final = FiniteRange(0, 3_600, min_open=True)
_RUN_S: Final = 2.0
_MOVE_S: Final = (0.2, 1.0, 5.0)
_THINKING_S: Final = 5.0


def _seconds(context: click.Context, option: click.Parameter, text: str | None) -> tuple[float, ...] | None:
    """Return the numbers of seconds in *text*, with commas between them; a click callback."""
    if text is None:
        return None
    return tuple(_ONE_NUMBER(part.strip(), option, context) for part in text.split(","))


@click.command()
@click.argument("games", metavar="[GAME...]", nargs=-1)
@click.option("--seconds", callback=_seconds, metavar="S[,S...]",
              help="Processor time: of three runs, 2 each; of a move, 5, or at positions 0.2,1,5.")  # fmt: skip
@click.option("--threads", "n_threads", type=click.IntRange(1, 256), default=1, show_default=True,
              help="Play on that many threads at once.")  # fmt: skip
@engine_option("The engine to measure.")
@click.option("--positions", "paths", type=click.Path(dir_okay=False, path_type=Path), multiple=True, metavar="FILE",
              help="Measure a player at solved positions instead; may be given several times.")  # fmt: skip
@click.option("--player", "spec", metavar="SPEC", help="The player to measure, named as for `ggp player`.")
@click.option("--half", type=click.Choice(["tuning", "test", "all"]), default="all", show_default=True,
              help="The half of the positions to take.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@click.pass_context
def command(
    context: click.Context,
    games: tuple[str, ...],
    seconds: tuple[float, ...] | None,
    n_threads: int,
    engine: str,
    paths: tuple[Path, ...],
    spec: str | None,
    half: Halves,
    as_json: bool,
) -> None:
    """Play each GAME at random, again and again, and say how many plays and states a second takes.

    GAME is the name of a game of the library or the path of a rule file. Each is measured in a process of its own:
    its set-up, from the text of the rules to the end of a first play, a warm-up, and three runs, of which the median
    counts. Exits with 1 if a game or the player failed.

    With --player, let the player think about the first move of each GAME for which a role has a choice, and say how
    many leaves and random plays a second of processor time its search makes. With --positions, too, say in what share
    of the solved positions of each FILE the player's moves keep the value.
    """
    check_needs("--positions", paths, half=half != "all")
    if paths:
        if games or spec is None or n_threads != 1:
            raise click.UsageError("--positions FILE and --player SPEC go together, without GAME and --threads")
        is_well = _measure_player(paths, spec, seconds or _MOVE_S, half, engine, as_json)
    elif spec is not None:
        _check_search(games, seconds, n_threads, engine)
        is_well = _measure_search(games, spec, seconds[0] if seconds else _THINKING_S, as_json)
    else:
        _check_games(games, seconds)
        options = BenchOptions(seconds[0] if seconds else _RUN_S, n_threads, engine)
        is_well = _measure_games(games, options, as_json)
    context.exit(0 if is_well else 1)


def _check_search(games: tuple[str, ...], seconds: tuple[float, ...] | None, n_threads: int, engine: str) -> None:
    """Raise UsageError where the options are none for a player that thinks about games."""
    if n_threads != 1 or engine != DEFAULT_ENGINE:
        raise click.UsageError("--player SPEC with a GAME goes without --threads and --engine")
    if not games or (seconds is not None and len(seconds) != 1):
        raise click.UsageError("--player SPEC is for a GAME, with one number of seconds, or for --positions FILE")


def _check_games(games: tuple[str, ...], seconds: tuple[float, ...] | None) -> None:
    """Raise UsageError where the options are none for games that are played at random."""
    if not games:
        raise click.UsageError("Missing argument 'GAME...': name a game, or give --positions and --player")
    if seconds is not None and len(seconds) != 1:
        raise click.UsageError("--seconds is one number where games are played at random")


def _measure_games(games: tuple[str, ...], options: BenchOptions, as_json: bool) -> bool:
    """Measure how fast games are played, and print it; return whether no game failed."""

    def one(file: GameFile) -> EngineFigures:
        return measure(file, options, lambda note: click.echo(f"{file.name}: {note}", err=True))

    return _measure_each(games, one, _show, as_json)


def _measure_each(
    games: tuple[str, ...],
    measure_one: Callable[[GameFile], Figures],
    show: Callable[[list[tuple[GameFile, Figures]]], None],
    as_json: bool,
) -> bool:
    """Measure and print, errors as JSON or to standard error; return whether no game failed."""
    files = [find_game(game) for game in games]  # so that a misspelt name is refused before the work begins
    outcomes: list[tuple[GameFile, Figures | Exception]] = []
    with progress("measuring", len(files)) as advance:
        for file in files:
            outcomes.append((file, _outcome(partial(measure_one, file))))
            advance()
    if as_json:
        shown = [
            {"game": file.name, "error": _error_json(outcome)} if isinstance(outcome, Exception) else asdict(outcome)
            for file, outcome in outcomes
        ]
        click.echo(json.dumps(shown, indent=2))
    else:
        for file, outcome in outcomes:
            if isinstance(outcome, Exception):
                click.echo(f"ggp: {file.name}: {outcome}", err=True)
        show([(file, outcome) for file, outcome in outcomes if not isinstance(outcome, Exception)])
    return not any(isinstance(outcome, Exception) for _, outcome in outcomes)


def _outcome(measure_it: Callable[[], Outcome]) -> Outcome | Exception:
    try:
        return measure_it()
    except Exception as error:  # whatever one game or player does, the others are measured
        return error


def _error_json(error: Exception) -> dict[str, object]:
    from server.api.problem import problem  # noqa: PLC0415 -- the API is large, and only an error takes its form

    return problem(error)


def _show(found: list[tuple[GameFile, EngineFigures]]) -> None:
    table = Table("game", "engine", box=None, pad_edge=False)
    for column in ("set-up s", "plays/s", "states/s", "peak MB"):
        table.add_column(column, justify="right")
    for _, figures in found:
        table.add_row(figures.game, figures.engine, *_numbers(figures))
    _print(table)


def _print(table: Table) -> None:
    if table.row_count:
        table_console().print(table)


def _numbers(figures: EngineFigures) -> tuple[str, ...]:
    return (
        f"{figures.setup_s:.2f}",
        _speed(figures.playouts_per_s),
        _speed(figures.states_per_s),
        f"{figures.peak_memory_mb:,.0f}",
    )


def _speed(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _measure_search(games: tuple[str, ...], spec: str, seconds: float, as_json: bool) -> bool:
    """Measure how fast a player searches each game, and print it; return whether no game failed."""
    from players.registry import find_player  # noqa: PLC0415 -- games alone need no player
    from server.measuring.search_speed import measure_search  # noqa: PLC0415 -- as above

    maker = find_player(spec)
    return _measure_each(games, lambda file: measure_search(file, maker, seconds), _show_search, as_json)


def _show_search(found: list[tuple[GameFile, SearchFigures]]) -> None:
    table = Table("game", "player", box=None, pad_edge=False)
    for column in ("leaves/s", "plays/s", "depth", "value"):
        table.add_column(column, justify="right")
    table.add_column("move")
    for _, each in found:
        figures = (each.leaves_per_s, each.playouts_per_s, each.depth, each.value)
        table.add_row(each.game, each.player, *("" if x is None else _speed(x) for x in figures), each.move)
    _print(table)
    for _, each in found:
        if each.is_instant:
            click.echo(
                f"{each.game}: {each.player} knows its move at once, so that there is no speed to measure", err=True
            )


def _measure_player(
    paths: tuple[Path, ...], spec: str, seconds: tuple[float, ...], half: Halves, engine: str, as_json: bool
) -> bool:
    """Measure a player at the positions of the files, and print in what share it keeps their value.

    Errors are printed as JSON or to standard error; returns whether there was none.
    """
    from players.registry import find_player  # noqa: PLC0415 -- games alone need no player
    from server.measuring.accuracy import AccuracyOptions, measure_accuracy  # noqa: PLC0415 -- as above
    from server.measuring.solved_positions import read_positions  # noqa: PLC0415 -- as above

    maker, files = find_player(spec), [read_positions(path).of_half(half) for path in paths]
    orders = [(file, AccuracyOptions(clock_s, half, engine)) for file in files for clock_s in seconds]
    with progress("measuring", sum(len(file.numbered) for file, _ in orders)) as advance:
        found = [
            (file.path.name, options.seconds, _outcome(partial(measure_accuracy, file, maker, options, advance)))
            for file, options in orders
        ]
    if as_json:
        click.echo(json.dumps([_accuracy_json(*one) for one in found], indent=2))
    else:
        for name, clock_s, outcome in found:
            if isinstance(outcome, Exception):
                click.echo(f"ggp: {name} at {clock_s:g} s a move: {outcome}", err=True)
        _show_accuracy([outcome for _, _, outcome in found if not isinstance(outcome, Exception)])
    return not any(isinstance(outcome, Exception) for _, _, outcome in found)


def _accuracy_json(name: str, clock_s: float, accuracy: Accuracy | Exception) -> dict[str, object]:
    if isinstance(accuracy, Exception):
        return {"file": name, "seconds": clock_s, "error": _error_json(accuracy)}
    return {**asdict(accuracy), "share": round(accuracy.share, 4), "interval": [round(x, 4) for x in accuracy.interval]}


def _show_accuracy(found: list[Accuracy]) -> None:
    table = Table("file", "half", box=None, pad_edge=False)
    for column in ("a move s", "used s", "positions", "kept %", "95 % interval"):
        table.add_column(column, justify="right")
    for each in found:
        low, high = (f"{100 * bound:.1f}" for bound in each.interval)
        figures = (f"{each.seconds:g}", f"{each.mean_used_s:.2f}", f"{each.n_positions}")
        table.add_row(each.file, each.half, *figures, f"{100 * each.share:.1f}", f"{low} to {high}")
    _print(table)
