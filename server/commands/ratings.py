"""`ggp ratings`: rate the players of match records, those of other hosts too."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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
from server.tournament.scoring import ScoringRules, losers, rated_result
from server.tournament.table import superiority


@click.command()
@click.argument("records", metavar="RECORDS...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--game", "games", metavar="GAME", multiple=True, help="Only matches of this game; may be repeated.")
@click.option("--by-game", is_flag=True, help="Rate the players in each game alone, too.")
@click.option("--anchor", metavar="PLAYER=ELO", help="The Elo that a player has by definition; else the mean is 1500.")
@click.option("--forfeit-errors", type=click.IntRange(1), help="So many errors in a match lose it.")
@click.option("--json", "as_json", is_flag=True, help="Print the ratings as JSON.")
@click.pass_context
def command(
    context: click.Context,
    records: Sequence[Path],
    games: Sequence[str],
    by_game: bool,
    anchor: str | None,
    forfeit_errors: int | None,
    as_json: bool,
) -> None:
    """Rate the players of RECORDS: files of records, folders of them, or what `ggp export` writes (.jsonl and .zip).

    The ratings leave out what a seat is worth. Matches that were not completed or that have players without names, and
    games of one role, do not count. Records do not tell what a tournament decided: matches that are annulled there
    count here, and errors lose a match where --forfeit-errors says how many do.
    Exits with 1 where a file is no record; the others are rated all the same.
    """
    found = RecordedResults()
    with progress("reading records") as advance:
        found.read(records, advance)
    ended = found.of_games(games)
    counted = [result for result in ended if all(result.players)]
    rules = ScoringRules(forfeit_errors=forfeit_errors)
    rated = [result for each in counted if (result := rated_result(each, rules)) is not None]
    for line in _notes(found, ended, counted):
        click.echo(f"ggp: {line}", err=True)
    anchored = _anchor(anchor)
    try:
        ratings = fit_ratings(rated, anchor=anchored)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if not ratings.n_matches:
        of_game = " of that game" if games else ""
        click.echo(f"ggp: no record of a completed match of two players or more{of_game}", err=True)
    alone = fit_ratings_by_game(rated, anchored) if by_game else {}
    by_title = {
        title: RatingTable(each, [result for result in counted if result.game == title], rules)
        for title, each in alone.items()
    }
    _print(RatingTable(ratings, counted, rules), by_title, as_json)
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


class RatingTable:
    """The *ratings* of players, with their errors in the *results*, and the matches that these lost by *rules*."""

    def __init__(self, ratings: Ratings, results: Sequence[MatchResult], rules: ScoringRules) -> None:
        self._ratings, self._loses_by_errors = ratings, rules.forfeit_errors is not None
        self._errors: Counter[str] = Counter()
        self._forfeits: Counter[str] = Counter()
        for result in results:
            for player, errors in zip(result.players, result.errors, strict=True):
                self._errors[player] += errors
            self._forfeits.update(losers(result, rules))

    @property
    def n_matches(self) -> int:
        """Of how many matches the ratings are made."""
        return self._ratings.n_matches

    def as_json(self) -> dict[str, Any]:
        """Return it as `--json` prints it."""
        return {
            "matches": self._ratings.n_matches,
            "players": [
                {
                    "player": each.player, "elo": round(each.elo, 1), "eloLow": round(each.low, 1),
                    "eloHigh": round(each.high, 1), "los": superiority(each.player, self._ratings),
                    "matches": each.n_matches, "errors": self._errors[each.player],
                    "forfeits": self._forfeits[each.player],
                }
                for each in self._ratings.players
            ],
            "roles": [
                {"game": each.game, "role": each.role, "elo": round(each.elo, 1), "eloLow": round(each.low, 1),
                 "eloHigh": round(each.high, 1)}
                for each in self._ratings.roles
            ],
        }  # fmt: skip

    def table(self, title: str) -> Table:
        """Return it as a table for terminals."""
        table = Table(
            title=Text(escaped(title)) if title else None,
            box=None,
            pad_edge=False,
            header_style="bold",
            title_justify="left",
        )
        columns = ["", "player", "Elo", "95 %", "LOS", "matches", "errors"]
        if self._loses_by_errors:
            columns.append("forfeits")
        for column in columns:
            table.add_column(column, justify="left" if column == "player" else "right")
        for place, each in enumerate(self._ratings.players, 1):
            los = superiority(each.player, self._ratings)
            interval, sureness = f"{each.low:.0f} to {each.high:.0f}", "" if los is None else f"{los:.1%}"
            counts = [each.n_matches, self._errors[each.player]]
            if self._loses_by_errors:
                counts.append(self._forfeits[each.player])
            name = Text(escaped(each.player))
            table.add_row(f"{place}", name, f"{each.elo:.0f}", interval, sureness, *map(str, counts))
        return table


def _print(total: RatingTable, by_title: Mapping[str, RatingTable], as_json: bool) -> None:
    """Print the ratings over all games and those in each, as JSON or as tables; no table where no match counts."""
    if as_json:
        games_json = {title: each.as_json() for title, each in by_title.items()}
        click.echo(json.dumps(total.as_json() | {"games": games_json}, indent=2, ensure_ascii=False))
    elif total.n_matches:
        Console().print(total.table(""), *(each.table(title) for title, each in by_title.items()))
