"""`ggp player`: a player over HTTP, one that dials in, or one on standard input and output."""

import getpass
import logging
import os
import re
import sys
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import Final, TextIO

import click

from players import DEFAULT_PORT, Settings, Timing
from players.kit import dialling, http_transport
from players.kit.game_manager_client import GameManagerClient
from players.kit.player_server import reserved_output, run_stdio
from players.player import GameManagerError, GameManagerUnreachableError
from players.registry import FORMS, PLAYERS, PlayerMaker, find_player
from players.specs import without_folders, without_options
from server.operation.logs import LogQueue
from server.sanitization import without_passwords
from server.terminal.command_line import FiniteRange

MATCHES_AT_ONCE: Final = 8
"""How many matches a player plays at once that is called."""
_UNFIT: Final = re.compile(r"[^A-Za-z0-9._-]+")


@click.command(name="player", epilog=f"Our players: {', '.join((*PLAYERS, *FORMS))}.")
@click.argument("spec")
@click.option("--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, show_default=True, help="0: any free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on; 0.0.0.0 for all.")
@click.option("--stdio", is_flag=True, help="Talk over standard input and output instead, a message a line.")
@click.option("--connect", metavar="URL", help="Dial in at the game manager at URL instead of listening.")
@click.option("--token", envvar="GGP_TOKEN", help="What lets you in there, if anything must; GGP_TOKEN by default.")
@click.option("--until-eof", is_flag=True, help="End when standard input ends, so as not to outlive who started it.")
@click.option("--name", help="What it answers to INFO, by default SPEC without folders. Where it dials in, what it is "
              "called: by default as its file or class, one of ours by your user name and its own.")  # fmt: skip
@click.option("--margin", type=FiniteRange(0), default=Timing().margin_s, show_default=True,
              help="Seconds before the end of a clock in which it answers.")  # fmt: skip
@click.option("--max-matches", type=click.IntRange(1), help="How many at once; 8 by default, 1 where it dials in.")
@click.option("--seed", type=int, help="Makes its choices repeatable.")
@click.option("--ponder/--no-ponder", default=True, show_default=True,
              help="Whether a player that can goes on thinking while others move.")  # fmt: skip
@click.option("--memory", type=FiniteRange(1), metavar="MB", help="How much a player may take for its search.")
@click.option("--threads", type=click.IntRange(1), metavar="N", show_default="the cores for each of --max-matches",
              help="How many threads a search has.")  # fmt: skip
def command(
    spec: str,
    port: int,
    host: str,
    stdio: bool,
    connect: str | None,
    token: str | None,
    until_eof: bool,
    name: str | None,
    margin: float,
    max_matches: int | None,
    seed: int | None,
    ponder: bool,
    memory: float | None,
    threads: int | None,
) -> None:
    """Run the player SPEC until Ctrl-C.

    SPEC is one of our players, `path/to/file.py:Class`, or `module:Class`; options of its constructor may follow, as
    in `mcts:playouts=200`. Prints `listening on URL` once it can be reached.

    With --connect no other machine needs to reach it: it dials in at a game manager, is registered there if it is new,
    and plays what it is given until Ctrl-C.
    """
    if connect is not None and stdio:
        raise click.UsageError("--connect and --stdio exclude each other")
    n_at_once = max_matches or (1 if connect is not None else MATCHES_AT_ONCE)
    n_cores = 1 if stdio else threads_for(n_at_once)
    own_name = told_name(spec) if connect is None else dialled_name(spec)
    settings = Settings(name or own_name, max_matches or MATCHES_AT_ONCE, Timing(margin), seed=seed)
    logging.getLogger().handlers = [LogQueue(sys.stderr)]
    with reserved_output() as output:
        maker = _with_means(find_player(spec), ponder, memory, threads, n_cores)
        if connect is not None:
            _dial(maker, connect, token, settings, max_matches, output)
        elif stdio:
            run_stdio(maker, output, settings)
        else:
            with redirect_stdout(output):
                http_transport.run_http(maker, port, host, settings, until_eof)


def _with_means(
    maker: PlayerMaker, ponder: bool, memory: float | None, threads: int | None, n_cores: int
) -> PlayerMaker:
    """Return *maker* with what it may use beside its clocks, where it asks for such things; *n_cores* are its own."""
    options: dict[str, object] = {"ponder": ponder} if maker.takes("ponder") else {}
    if memory is not None:
        options["memory"] = memory
    if threads is not None or maker.takes("threads"):
        options["threads"] = threads or n_cores
    return maker.with_options(**options) if options else maker


def threads_for(n_matches: int) -> int:
    """Return how many threads each of so many matches at once has a core for, one at least."""
    return max(1, len(os.sched_getaffinity(0)) // n_matches)


def _dial(
    maker: PlayerMaker, url: str, token: str | None, settings: Settings, max_matches: int | None, output: TextIO
) -> None:
    client = GameManagerClient(url, settings.name, token or None)
    try:
        dialling.dial_in(maker, settings, client, partial(click.echo, file=output), max_matches)
    except GameManagerUnreachableError as error:
        raise GameManagerError(url, str(error)) from error


def told_name(spec: str) -> str:
    """Return what the player *spec* answers to INFO: SPEC without passwords and folders, which no other is to see.

    >>> told_name("../course/deep.py:Deep:book=/srv/ann/book.bin"), told_name("llm:url=http://bob:hunter2@host/v1")
    ('deep.py:Deep:book=book.bin', 'llm:url=http://bob:***@host/v1')
    """
    return without_folders(without_passwords(spec))


def dialled_name(spec: str) -> str:
    """Return what the player *spec* is called where it dials in: its file or class; one of ours after its user.

    >>> dialled_name("players/deep_blue.py:DeepBlue"), dialled_name("package.module:Deep")
    ('deep_blue', 'Deep')
    """
    name = without_options(spec)
    if name in PLAYERS:
        found = f"{_user()}-{name}"
    else:
        source, _, class_name = name.partition(":")
        found = Path(source).stem if source.endswith(".py") else class_name or source
    return _UNFIT.sub("-", found).strip("-._") or "player"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # the system has no name for this user, as in some containers
        return "player"
