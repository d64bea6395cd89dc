"""`ggp ratings`: rate the players of match records, those of other hosts too."""

import json
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gdl.diagnostics import escaped
from gdl.quantities import quantity
from server.arena.folder import PLAN, RECORDS
from server.records.record import n_errors, played_places
from server.terminal.command_line import FiniteRange
from server.terminal.progress import progress
from server.tournament.fixtures import MatchResult
from server.tournament.ratings import Ratings, fit_ratings, fit_ratings_by_game
from server.tournament.table import superiority

MAX_RECORD_BYTES: Final = 200_000_000
"""Larger files are no records."""
_TOO_LARGE: Final = f"no match record (more than {MAX_RECORD_BYTES:,} bytes)"
_NO_OBJECT: Final = "a match record is a JSON object"
_BROKEN: Final = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError)
"""What reading an archive raises that is none, cut off, encrypted, or packed in a way of its own."""


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
    results, unreadable, notes = _results(records, games)
    for line in (*(f"{path}: {reason}" for path, reason in unreadable), *notes):
        click.echo(f"ggp: {line}", err=True)
    anchored = _anchor(anchor)
    try:
        ratings = fit_ratings(results, anchor=anchored)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if not ratings.n_matches:
        of_game = " of that game" if games else ""
        click.echo(f"ggp: no record of a completed match of two players or more{of_game}", err=True)
    alone = fit_ratings_by_game(results, anchored) if by_game else {}
    if as_json:
        found = {**_as_json(ratings), "games": {game: _as_json(each) for game, each in alone.items()}}
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
    elif ratings.n_matches:
        console = Console()
        for title, each in {"": ratings, **alone}.items():
            console.print(_table(title, each))
    context.exit(1 if unreadable else 0)


def _anchor(text: str | None) -> tuple[str, float] | None:
    if text is None:
        return None
    name, _, elo = text.rpartition("=")
    try:
        return name, FiniteRange()(elo)
    except click.BadParameter:
        raise click.UsageError(f"--anchor wants a player and its Elo, as in mcts=1500; {text!r} given") from None


def _results(paths: Sequence[Path], games: Sequence[str]) -> tuple[list[MatchResult], list[tuple[str, str]], list[str]]:
    """Return the results of the matches that count, files that are no records with the reason, and notes on others."""
    results: dict[str, MatchResult | None] = {}
    unreadable: list[tuple[str, str]] = []
    n_repeated = 0
    with progress("reading records") as advance:
        for name, text in _texts(paths, unreadable):
            advance()
            try:
                record = json.loads(text)
                if not isinstance(record, dict):
                    raise TypeError(_NO_OBJECT)
                result, match_id = result_of(record), str(record["matchId"])
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError) as error:
                unreadable.append((name, f"no match record ({_reason(error)})"))
                continue
            n_repeated += match_id in results
            results[match_id] = result
    found = [each for each in results.values() if each is not None and (not games or each.game in games)]
    counted = [each for each in found if all(each.players)]
    notes = []
    if n_repeated:
        notes.append(f"{quantity(n_repeated, 'record')} of matches that came before; each match counts once")
    if len(counted) < len(found):
        notes.append(f"{quantity(len(found) - len(counted), 'record')} not counted: players have no names")
    return counted, unreadable, notes


def _reason(error: Exception) -> str:
    return f"there is no {error}" if isinstance(error, KeyError) else str(error)


def _texts(paths: Sequence[Path], unreadable: list[tuple[str, str]]) -> Iterator[tuple[str, bytes]]:
    """Yield each record in *paths* with what its file is called; what cannot be read is added to *unreadable*."""
    for path in paths:
        try:
            if path.is_dir():
                records = path / RECORDS if (path / PLAN).is_file() else path
                yield from _texts(sorted(one for one in records.rglob("*.json") if not one.is_dir()), unreadable)
            elif path.suffix == ".zip":
                yield from _members(path, unreadable)
            elif path.suffix == ".jsonl":
                with path.open("rb") as lines:
                    yield from ((f"{path}:{number}", line) for number, line in enumerate(lines, 1))
            elif path.stat().st_size > MAX_RECORD_BYTES:
                unreadable.append((str(path), _TOO_LARGE))
            else:
                yield str(path), path.read_bytes()
        except OSError as error:
            unreadable.append((str(path), error.strerror or str(error)))


def _members(path: Path, unreadable: list[tuple[str, str]]) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                name = f"{path}:{member.filename}"
                if member.file_size > MAX_RECORD_BYTES:
                    unreadable.append((name, _TOO_LARGE))
                elif not member.is_dir():
                    yield name, archive.read(member)
    except _BROKEN as error:
        unreadable.append((str(path), f"no ZIP archive that can be read ({error})"))


def result_of(record: dict[str, Any]) -> MatchResult | None:
    """Return the result that a match record tells; None of a match that was not completed.

    In records of other hosts the game is called as its address, and players may have no names: they are empty.

    Raises:
        LookupError: something is missing.
        TypeError: it is no match record.
        OverflowError: a goal is infinite.
    """
    match_id, goals = str(record["matchId"]), record.get("x-goals") or record.get("goalValues")
    if not record["isCompleted"] or not goals:
        return None
    places = played_places(record, len(goals))
    names = record.get("playerNamesFromHost") or record.get("x-players") or [None] * len(goals)
    errors = [n_errors(record, place) for place in places]
    return MatchResult(
        str(record.get("x-game") or record.get("gameMetaURL") or "unknown"),
        tuple("" if names[place] is None else str(names[place]) for place in places),
        tuple(int(goals[place] or 0) for place in places),
        tuple(errors),
        match_id,
    )


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
