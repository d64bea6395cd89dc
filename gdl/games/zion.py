"""The generator of Zion, the arena of robots: rule file and description for any size and number of robots.

What all arenas share is in the templates `rules/zion/zion.kif.template` and `zion.toml.template`.
"""

import random
from dataclasses import dataclass
from string import Template
from typing import Final

from gdl.boards import MAX_SIDE
from gdl.games.families import Cell, check_size, fact, lines_of
from gdl.games.library import library_folder

MAX_ROBOTS: Final = 99
"""With more of them a robot destroyed would no longer always add to the goal."""

MAX_TURNS: Final = 10_000

_EVERYTHING: Final = 100


@dataclass(frozen=True, slots=True)
class ZionArena:
    """An arena with its player in the middle and its robots anywhere else, as *seed* has it.

    *Raises*: SizeError, if a number is out of range or there is no cell for a robot.
    """

    rows: int
    columns: int
    robots: int
    turns: int
    seed: int = 0

    def __post_init__(self) -> None:
        check_size("zion", "rows", self.rows, 1, MAX_SIDE)
        check_size("zion", "columns", self.columns, 1, MAX_SIDE)
        check_size("zion", "cells", self.rows * self.columns, 2, MAX_SIDE**2)
        check_size("zion", "robots", self.robots, 1, MAX_ROBOTS)
        check_size("zion", "turns", self.turns, 1, MAX_TURNS)

    @property
    def player(self) -> Cell:
        """The player's first cell: column and row."""
        return (self.columns + 1) // 2, (self.rows + 1) // 2

    @property
    def robot_cells(self) -> tuple[Cell, ...]:
        """Each robot's first cell, never the player's; several may share one."""
        cells = [(x, y) for x in range(1, self.columns + 1) for y in range(1, self.rows + 1)]
        cells.remove(self.player)
        return tuple(random.Random(self.seed).choices(cells, k=self.robots))

    @property
    def command(self) -> str:
        """The command line that makes this arena."""
        return (
            f"ggp generate zion --rows {self.rows} --columns {self.columns} --robots {self.robots}"
            f" --turns {self.turns} --seed {self.seed}"
        )


def default_turns(robots: int) -> int:
    """Return a limit of turns that leaves time for a hunt: ten, and five for each robot."""
    return 10 + 5 * robots


def zion_rules(arena: ZionArena) -> str:
    """Return the rule file of *arena*.

    Raises:
        OSError: the template cannot be read.
    """
    robots = range(1, arena.robots + 1)
    numbers = range(max(arena.rows, arena.columns, arena.robots, arena.turns))
    first = [fact("init", fact("at", *arena.player))]
    first += [fact("init", fact("robot", i, *cell)) for i, cell in zip(robots, arena.robot_cells, strict=True)]
    return _template("zion.kif.template").substitute(
        command=arena.command,
        turns=arena.turns,
        robots=arena.robots,
        first_position=lines_of(first),
        scores=lines_of(fact("score", n, score(n, arena.robots)) for n in range(arena.robots + 1)),
        order=lines_of(fact("after", i, i + 1 if i < arena.robots else "done") for i in robots),
        numbers=lines_of(fact("succ", n, n + 1) for n in numbers),
        columns=lines_of(fact("column", x) for x in range(1, arena.columns + 1)),
        rows=lines_of(fact("row", y) for y in range(1, arena.rows + 1)),
    )


def zion_metadata(arena: ZionArena) -> str:
    """Return the TOML description of *arena*.

    Raises:
        OSError: the template cannot be read.
    """
    return _template("zion.toml.template").substitute(
        command=arena.command, rows=arena.rows, columns=arena.columns, robots=arena.robots, turns=arena.turns
    )


def score(destroyed: int, robots: int) -> int:
    """Return the goal of a living player: above 0 with no robot destroyed, 100 with all, and growing with each."""
    return _EVERYTHING * (destroyed + 1) // (robots + 1)


def _template(name: str) -> Template:
    return Template((library_folder() / "zion" / name).read_text(encoding="utf-8"))
