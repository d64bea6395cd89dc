"""`python -m benchmarks.positions`: make a file of solved positions of one of the games that have a recipe here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from benchmarks.positions.making import Maker, by_bitboards, by_proof
from gdl.compiler.compiled import CompiledGame
from gdl.engines import make_game
from gdl.games.library import find_game
from server.measuring.solved_positions import FileHead

FOLDER: Final = Path(__file__).parent
BITBOARDS: Final = "connectfour"
"""The game that has a solver of its own."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """After how many steps positions are taken, and the rule file beside this module; None: of the library."""

    plies: range
    rules: str | None = None


RECIPES: Final = {
    "connectfour": Recipe(range(6, 17)),
    "breakthrough5x5": Recipe(range(10, 18), "breakthrough5x5.kif"),
    "breakthrough6x6": Recipe(range(24, 31), "breakthrough6x6.kif"),
    "othello6x6": Recipe(range(16, 27), "othello6x6.kif"),
    "dotsandboxes3x3": Recipe(range(8, 17), "dotsandboxes3x3.kif"),
}


@click.command()
@click.argument("name", type=click.Choice(list(RECIPES)))
@click.option("--positions", "n", type=click.IntRange(1), default=100, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--seconds", type=click.FloatRange(0, min_open=True), default=30.0, show_default=True,
              help="How long a position may take to solve; one that takes longer is left out.")  # fmt: skip
@click.option("--table-mb", type=click.IntRange(1), default=512, show_default=True, help="The table of the solver.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="By default beside the rules.")
def main(  # noqa: PLR0913, PLR0917 -- click hands every option to it
    name: str, n: int, seed: int, seconds: float, table_mb: int, out: Path | None
) -> None:
    """Write positions of the game NAME from strong play, with the exact value of every move."""
    recipe = RECIPES[name]
    head = FileHead(rules=recipe.rules) if recipe.rules else FileHead(game=name)
    file = find_game(str(FOLDER / recipe.rules) if recipe.rules else name)
    game = make_game(file.read(), "compiled")
    assert isinstance(game, CompiledGame)
    solve = by_bitboards() if name == BITBOARDS else by_proof(game, seconds, table_mb)
    maker = Maker(game, solve, recipe.plies, lambda note: click.echo(note, err=True))
    with (out or FOLDER / f"{name}.jsonl").open("w", encoding="utf-8") as lines:
        lines.write(f"{head.model_dump_json(exclude_none=True)}\n")
        for position in maker.positions(n, seed):
            lines.write(f"{position.line()}\n")
            lines.flush()


if __name__ == "__main__":
    main()
