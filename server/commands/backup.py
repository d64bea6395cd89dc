"""`ggp backup`: everything that a server keeps, in one file."""

import asyncio
from pathlib import Path

import click

from server.operation.configuration import database_option
from server.storage.backup import back_up
from server.terminal.progress import progress


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@database_option("That of the server, which may be running: sqlite:///FILE or postgresql://USER@HOST/NAME.")
@click.option("--force", is_flag=True, help="Replace FILE.")
def command(file: Path, database: str, force: bool) -> None:
    """Write what a database holds at one moment to FILE, from which `ggp restore` makes a database again.

    FILE is a SQLite file, also where the database is PostgreSQL. Servers may go on while it is written.
    """
    with progress(f"copying {database.rpartition('@')[2]}"):
        asyncio.run(back_up(database, file, may_replace=force))
    click.echo(f"{file}: {file.stat().st_size:,} bytes")
