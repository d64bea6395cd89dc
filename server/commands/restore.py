"""`ggp restore`: a database from a backup."""

import asyncio
from pathlib import Path

import click

from server.operation.configuration import database_option
from server.storage.backup import restore
from server.terminal.progress import progress


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@database_option("That of a server: sqlite:///FILE or postgresql://USER@HOST/NAME.")
@click.option("--force", is_flag=True, help="Give up what the database holds now.")
def command(file: Path, database: str, force: bool) -> None:
    """Make a database hold what FILE holds, which `ggp backup` has written.

    A server must not be using the database. The backup may come from the other kind of database, so that backup and
    restore also move a server from SQLite to PostgreSQL. Matches that were played at the time go on from there.
    """
    with progress(f"copying {file}"):
        asyncio.run(restore(file, database, may_replace=force))
    click.echo(f"{database.rpartition('@')[2]} holds what {file} holds")
