"""`ggp games`: list the games of the library."""

import json
from typing import NamedTuple

import click
from rich.table import Table

from gdl.boards import GameMetadata
from gdl.diagnostics import escaped
from gdl.errors import MetadataError
from gdl.games.library import GameFile, named_games
from server.terminal.command_line import table_console


class _Entry(NamedTuple):
    name: str
    title: str
    roles: tuple[str, ...]
    has_imperfect_information: bool
    path: str


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List the games of the library: their names, as every command takes them, titles and roles.

    Where the variable GGP_GAMES names a folder of games, which `ggp import` makes, these follow.
    Exits with 1 where a description cannot be read; its game is listed all the same.
    """
    files = named_games()
    found = [_metadata(file) for file in files]
    games = [
        _entry(file, metadata if isinstance(metadata, GameMetadata) else None)
        for file, metadata in zip(files, found, strict=True)
    ]
    if as_json:
        click.echo(json.dumps([game._asdict() for game in games], indent=2))
    else:
        _show(games)
    context.exit(1 if any(isinstance(metadata, MetadataError) for metadata in found) else 0)


def _metadata(file: GameFile) -> GameMetadata | MetadataError | None:
    """Return the description of a game, if it has one; the error, which is printed, where that cannot be read."""
    try:
        return file.metadata()
    except MetadataError as error:
        click.echo("\n".join(map(escaped, f"ggp: {error}".split("\n"))), err=True)
        return error


def _show(games: list[_Entry]) -> None:
    """Print the games as a table."""
    table = Table(box=None, pad_edge=False)
    longest = max(len(game.name) for game in games)
    table.add_column("name", no_wrap=True, min_width=longest, overflow="ignore")  # commands take no half of a name
    for heading in ("title", "roles", "information"):
        table.add_column(heading, overflow="fold")
    for game in games:
        known = "imperfect" if game.has_imperfect_information else "perfect"
        table.add_row(game.name, game.title, ", ".join(game.roles), known)
    table_console().print(table)


def _entry(game: GameFile, metadata: GameMetadata | None) -> _Entry:
    """Return the line of a game."""
    knows_all = metadata is not None and metadata.information == "perfect"
    return _Entry(
        name=game.name,
        title=metadata.title if metadata else game.name,
        roles=metadata.roles if metadata else (),
        has_imperfect_information=not knows_all and game.seems_gdl2(),
        path=str(game.path),
    )
