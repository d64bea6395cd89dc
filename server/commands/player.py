"""`ggp player`: a player over HTTP, or over standard input and output."""

from __future__ import annotations

import click

from players import DEFAULT_PORT, Settings, Timing, run_stdio
from players.registry import PLAYERS, find_player
from players.service import run


@click.command(name="player", epilog=f"Our players: {', '.join(PLAYERS)}.")
@click.argument("spec")
@click.option("--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, show_default=True, help="0: any free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on; 0.0.0.0 for all.")
@click.option("--stdio", is_flag=True, help="Talk over standard input and output instead, a message a line.")
@click.option("--until-eof", is_flag=True, help="End when standard input ends, so as not to outlive who started it.")
@click.option("--name", help="What it answers to INFO; SPEC by default.")
@click.option("--margin", type=click.FloatRange(0), default=Timing().margin_s, show_default=True,
              help="Seconds before the end of a clock in which it answers.")  # fmt: skip
@click.option("--max-matches", type=click.IntRange(1), default=8, show_default=True, help="How many at once.")
@click.option("--seed", type=int, help="Makes its choices repeatable.")
def command(
    spec: str,
    port: int,
    host: str,
    stdio: bool,
    until_eof: bool,
    name: str | None,
    margin: float,
    max_matches: int,
    seed: int | None,
) -> None:
    """Run the player SPEC until Ctrl-C.

    SPEC is one of our players, `path/to/file.py:Class`, or `module:Class`; options of its constructor may follow, as
    in `mcts:playouts=200`. Prints `listening on URL` once it can be reached.
    """
    maker = find_player(spec)
    settings = Settings(name or spec, max_matches, Timing(margin), seed=seed)
    if stdio:
        run_stdio(maker, settings)
        return
    try:
        run(maker, port, host, settings, until_eof)
    except OSError as error:
        raise click.UsageError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
