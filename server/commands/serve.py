"""`ggp serve`: the game manager, which plays many matches at once and is asked over HTTP."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

import click

from server.api.site import serve_until_stopped
from server.hosting.matches import MAX_RUNNING, Matches
from server.records.signature import kept_key

DEFAULT_PORT: Final = 9148


@click.command(short_help="Run the game manager with its HTTP API.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on; 0.0.0.0 for all: "
              "whoever reaches it can have matches played.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, show_default=True, help="0: any free one.")
@click.option("--records", type=click.Path(path_type=Path, file_okay=False), default=Path("records"), show_default=True,
              help="The folder for match records; it is made.")  # fmt: skip
@click.option("--max-matches", type=click.IntRange(1), default=MAX_RUNNING, show_default=True, help="How many at once.")
@click.option("--sign", "key_path", metavar="KEYFILE", type=click.Path(path_type=Path, dir_okay=False),
              help="Sign records with the key in this file, which is made if it is not there.")  # fmt: skip
def command(host: str, port: int, records: Path, max_matches: int, key_path: Path | None) -> None:
    """Run the game manager until Ctrl-C: matches are ordered, listed, read and aborted over HTTP.

    Prints `serving on URL` once it can be reached; POST URL/api/v1/matches starts a match. In the end, matches that
    are still being played are aborted and their records written.
    """
    key = None if key_path is None else kept_key(key_path)
    try:
        records.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.UsageError(f"no records can be written in {records}: {error.strerror}") from error
    matches = Matches(records, key, max_matches)
    try:
        asyncio.run(serve_until_stopped(matches, host, port, lambda url: click.echo(f"serving on {url}")))
    except OSError as error:
        raise click.UsageError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
