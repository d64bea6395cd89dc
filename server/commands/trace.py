"""`ggp trace`: random plays of a game in the format of the reference traces."""

from pathlib import Path

import click

from gdl.engines import make_game
from gdl.files import writing
from gdl.games.library import find_game
from gdl.traces import DEFAULT_MAX_STEPS, to_json, trace_game
from server.terminal.command_line import OutputFile, engine_option
from server.terminal.progress import progress


@click.command()
@click.argument("game")
@click.option("--plays", type=click.IntRange(min=1), default=1, show_default=True, help="How many plays.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same plays.")
@click.option(
    "--max-steps", type=click.IntRange(min=1), default=DEFAULT_MAX_STEPS, show_default=True, help="Cut plays off there."
)
@engine_option("The engine that plays.")
@click.option("-o", "--output", type=OutputFile(), help="Write here, not to the screen.")
def command(game: str, plays: int, seed: int, max_steps: int, engine: str, output: Path | None) -> None:
    """Write random plays of GAME: every state, legal set, goal and joint move, and the percepts."""
    rules = make_game(find_game(game).read(), engine)
    with progress(f"playing {game}", plays) as advance:
        found = trace_game(rules, plays, seed, max_steps, lambda _play, step: advance() if step == 0 else None)
    if output is None:
        click.echo(to_json(found), nl=False)
    else:
        with writing(output) as file:
            file.write_text(to_json(found), encoding="utf-8")
