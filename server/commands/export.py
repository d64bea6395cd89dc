"""`ggp export`: the records of all matches, in the public format."""

import asyncio
import json
from contextlib import AbstractContextManager
from pathlib import Path

import click

from server.operation.configuration import database_option
from server.storage.database import Database
from server.storage.exporting import Add, Exported, ExportFilter, collection, count, exported
from server.terminal.progress import progress


@click.command()
@click.argument("target", type=click.Path(path_type=Path))
@database_option("That of the server, which may be running: sqlite:///FILE or postgresql://USER@HOST/NAME.")
@click.option("--game", metavar="NAME", help="Only matches of this game.")
@click.option("--tournament", metavar="NAME", help="Only matches of this tournament.")
@click.option("--force", is_flag=True, help="Replace the file TARGET; in a folder, write all records again.")
@click.option("--json", "as_json", is_flag=True, help="Print how many there are as JSON.")
@click.pass_context
def command(
    context: click.Context,
    target: Path,
    database: str,
    game: str | None,
    tournament: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write the record of every match that is over to TARGET, in the public format, whole and signed if it was.

    TARGET is a folder, to which those are added that it lacks; or a file, NAME.zip with a file for each record, or
    NAME.jsonl with a line for each. Exits with 1 where a record cannot be read; the others are written all the same.
    """
    counts = asyncio.run(_export(database, ExportFilter(game, tournament), collection(target, may_replace=force)))
    if as_json:
        click.echo(json.dumps({"target": str(target), **counts}, indent=2))
    else:
        was_there = f", {counts['present']:,} were there" if counts["present"] else ""
        click.echo(f"{target}: {counts['written']:,} records written{was_there}")
    context.exit(1 if counts["unreadable"] else 0)


async def _export(address: str, choice: ExportFilter, target: AbstractContextManager[Add]) -> dict[str, int]:
    """Write the records of the matches of *choice* to *target*; return how many were written, present or unreadable.

    Raises:
        UsageError: *choice* names a game or tournament, and there is no record of it; *target* is not opened.
    """
    database = await Database.open(address, migrate=False, exclusive=False)
    counts = {"written": 0, "present": 0, "unreadable": 0}
    try:
        n_records = await count(database, choice)
        if not n_records and choice != ExportFilter():
            what = " and ".join(f"{column} {name!r}" for column, name in choice.named.items())
            raise click.UsageError(f"{database.name} has no record of a match of {what}")
        with target as add, progress("writing records", n_records) as advance:
            async for found in exported(database, choice):
                counts[_kept(found, add)] += 1
                advance()
    finally:
        await database.close()
    return counts


def _kept(found: Exported, add: Add) -> str:
    if found.error:
        click.echo(f"ggp: the record of match {found.match_id} cannot be read: {found.error}", err=True)
        return "unreadable"
    return "written" if add(found.record) else "present"
