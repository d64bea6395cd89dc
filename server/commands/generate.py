"""`ggp generate`: write the rule file of a game that comes in any size."""

from __future__ import annotations

from pathlib import Path

import click

from gdl.boards import MAX_SIDE
from gdl.games.zion import MAX_ROBOTS, MAX_TURNS, ZionArena, default_turns, zion_about, zion_rules


@click.group()
def command() -> None:
    """Write the rule file of a game that comes in any size."""


@command.command(short_help="Zion, the arena of robots.")
@click.option("--rows", type=click.IntRange(1, MAX_SIDE), required=True, help="How many rows.")
@click.option("--columns", type=click.IntRange(1, MAX_SIDE), required=True, help="How many columns.")
@click.option("--robots", type=click.IntRange(1, MAX_ROBOTS), required=True, help="How many robots.")
@click.option("--turns", type=click.IntRange(1, MAX_TURNS), help="The limit; by default 10 and 5 for each robot.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed places the robots elsewhere.")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write here, and a .toml beside it."
)
def zion(rows: int, columns: int, robots: int, turns: int | None, seed: int, output: Path | None) -> None:
    """Write the rules of Zion in an arena of that size, with that many robots, to the screen or a file.

    With --output FILE.kif the description FILE.toml is written too, so that `ggp play FILE.kif` draws the arena.
    """
    arena = ZionArena(rows, columns, robots, default_turns(robots) if turns is None else turns, seed)
    if output is None:
        click.echo(zion_rules(arena), nl=False)
        return
    about = output.with_suffix(".toml")
    if about == output:
        raise click.UsageError("--output is the rule file: name it .kif; the description .toml comes beside it")
    output.write_text(zion_rules(arena), encoding="utf-8")
    about.write_text(zion_about(arena), encoding="utf-8")
