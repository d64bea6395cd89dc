"""`ggp serve`: the server: matches, players, pages and an HTTP API on one database."""

import asyncio
import os
import resource
import sys
from typing import Any, Final

import click

from server.app import serve
from server.operation import configuration, logs
from server.operation.options import ServeOptions, serve_options

SWITCH_S: Final = 0.0005
"""After how long a busy thread lets another one work; by default the event loop would wait ten times as long."""
N_OPEN_FILES: Final = 65_536
"""A connection for each seat of tens of thousands of matches."""


@click.command(context_settings=configuration.CONTEXT)
@serve_options
@configuration.config_options
@click.pass_context
def command(context: click.Context, /, **given: Any) -> None:
    """Run the server until Ctrl-C: matches are ordered, played, watched and kept in its database.

    Prints `serving on URL` once it can be reached; open URL in a browser. Without any option it serves this machine
    alone, needs no accounts, and keeps everything in the file ggp.sqlite. Every option may also be given in the
    environment, as GGP_MAX_MATCHES=200, or in a file: --config. docs/hosting.md says more.
    """
    configuration.end_if_printing(context)
    options = ServeOptions(**given)
    if options.game_cache is not None:
        os.environ["GGP_GAME_CACHE"] = options.game_cache  # processes of players and engines find it there
    logs.configure_logs(options.format, options.log_level)
    _allow_many_files()
    sys.setswitchinterval(SWITCH_S)
    asyncio.run(serve(options, lambda url: click.echo(f"serving on {url}")))


def _allow_many_files() -> int:
    """Raise the limit of open files to N_OPEN_FILES, or as far as this user may; return what it is then.

    Systems begin with 1,024, which a thousand seats use up.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = N_OPEN_FILES if hard == resource.RLIM_INFINITY else min(N_OPEN_FILES, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted
