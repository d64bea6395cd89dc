"""`ggp ratings`: rate the players of match records, those of other hosts too."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gdl.diagnostics import escaped
from gdl.quantities import quantity
from server.arena.recorded_results import RecordedResults
from server.terminal.command_line import FiniteRange
from server.terminal.progress import progress
from server.tournament.fixtures import MatchResult
from server.tournament.ratings import Ratings, fit_ratings, fit_ratings_by_game
from server.tournament.table import superiority


@click.command()
@click.argument("records", metavar="RECORDS...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--game", "games", metavar="GAME", multiple=True, help="Only matches of this game; may be repeated.")
@click.option("--by-game", is_flag=True, help="Rate the players in each game alone, too.")
@click.option("--anchor", metavar="PLAYER=ELO", help="The Elo that a player has by definition; else the mean is 1500.")
@click.option("--json", "as_json", is_flag=True, help="Print the ratings as JSON.")
@click.pass_context
def command(
    context: click.Context,
    records: Sequence[Path],
    games: Sequence[str],
    by_game: bool,
    anchor: str | None,
    as_json: bool,
) -> None:
    """Rate the players of RECORDS: files of records, folders of them, or what `ggp export` writes (.jsonl and .zip).

    The ratings leave out what a seat is worth. Matches that were not completed or that have players without names, and
    games of one role, do not count. Records do not tell what a tournament decided: matches that are annulled there
    count here, and a player whose errors lost it a match (`forfeit_errors`) has the goal that it reached.
    Exits with 1 where a file is no record; the others are rated all the same.
    """
    found = RecordedResults()
    with progress("reading records") as advance:
        found.read(records, advance)
    ended = found.of_games(games)
    counted = [result for result in ended if all(result.players)]
    for line in _notes(found, ended, counted):
        click.echo(f"ggp: {line}", err=True)
    anchored = _anchor(anchor)
    try:
        ratings = fit_ratings(counted, anchor=anchored)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if not ratings.n_matches:
        of_game = " of that game" if games else ""
        click.echo(f"ggp: no record of a completed match of two players or more{of_game}", err=True)
    alone = fit_ratings_by_game(counted, anchored) if by_game else {}
    if as_json:
        told = {**_as_json(ratings), "games": {game: _as_json(each) for game, each in alone.items()}}
        click.echo(json.dumps(told, indent=2, ensure_ascii=False))
    elif ratings.n_matches:
        console = Console()
        for title, each in {"": ratings, **alone}.items():
            console.print(_table(title, each))
    context.exit(1 if found.unreadable else 0)


def _anchor(text: str | None) -> tuple[str, float] | None:
    if text is None:
        return None
    name, _, elo = text.rpartition("=")
    try:
        return name, FiniteRange()(elo)
    except click.BadParameter:
        raise click.UsageError(f"--anchor wants a player and its Elo, as in mcts=1500; {text!r} given") from None


def _notes(found: RecordedResults, ended: Sequence[MatchResult], counted: Sequence[MatchResult]) -> Iterator[str]:
    """Yield what standard error says of the records that do not count."""
    yield from (f"{path}: {reason}" for path, reason in found.unreadable)
    if found.n_repeated:
        yield f"{quantity(found.n_repeated, 'record')} of matches that came before; each match counts once"
    if len(counted) < len(ended):
        yield f"{quantity(len(ended) - len(counted), 'record')} not counted: players have no names"


def _as_json(ratings: Ratings) -> dict[str, Any]:
    return {
        "matches": ratings.n_matches,
        "players": [
            {
                "player": each.player, "elo": round(each.elo, 1), "eloLow": round(each.low, 1),
                "eloHigh": round(each.high, 1), "los": superiority(each.player, ratings), "matches": each.n_matches,
            }
            for each in ratings.players
        ],
        "roles": [
            {"game": each.game, "role": each.role, "elo": round(each.elo, 1), "eloLow": round(each.low, 1),
             "eloHigh": round(each.high, 1)}
            for each in ratings.roles
        ],
    }  # fmt: skip


def _table(title: str, ratings: Ratings) -> Table:
    table = Table(
        title=Text(escaped(title)) if title else None,
        box=None,
        pad_edge=False,
        header_style="bold",
        title_justify="left",
    )
    for column in ("", "player", "Elo", "95 %", "LOS", "matches"):
        table.add_column(column, justify="left" if column == "player" else "right")
    for place, each in enumerate(ratings.players, 1):
        los = superiority(each.player, ratings)
        interval, sureness = f"{each.low:.0f} to {each.high:.0f}", "" if los is None else f"{los:.1%}"
        table.add_row(
            f"{place}", Text(escaped(each.player)), f"{each.elo:.0f}", interval, sureness, f"{each.n_matches}"
        )
    return table
