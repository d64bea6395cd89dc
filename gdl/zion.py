"""The generator of Zion, the arena of robots: rules and description for any size and number of robots."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final, TypeAlias

from gdl.errors import ArenaError
from gdl.layout import MAX_SIDE

MAX_ROBOTS: Final = 99
"""With more, fewer robots left would not always be worth more."""

MAX_TURNS: Final = 10_000

Cell: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Arena:
    """An arena with its player in the middle and its robots anywhere else, as *seed* has them.

    `turns` is the limit of turns; without one there are ten and five for each robot.

    Raises:
        ArenaError: a number is out of range, or there is no cell for a robot.
    """

    rows: int
    columns: int
    robots: int
    turns: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for what, number, most in (
            ("rows", self.rows, MAX_SIDE),
            ("columns", self.columns, MAX_SIDE),
            ("robots", self.robots, MAX_ROBOTS),
            ("turns", self.limit, MAX_TURNS),
        ):
            if not 1 <= number <= most:
                raise ArenaError(what, number, f"from 1 to {most:,}")
        if self.rows * self.columns < 2:
            raise ArenaError("cells", 1, "at least 2, for no robot begins in the player's cell")

    @property
    def limit(self) -> int:
        """The number of turns after which the game ends."""
        return 10 + 5 * self.robots if self.turns is None else self.turns

    @property
    def player(self) -> Cell:
        """Row and column of the player's first cell."""
        return (self.rows + 1) // 2, (self.columns + 1) // 2

    def robot_cells(self) -> tuple[Cell, ...]:
        """Return row and column of each robot's first cell; several may share one."""
        cells = [(row, column) for row in range(1, self.rows + 1) for column in range(1, self.columns + 1)]
        cells.remove(self.player)
        return tuple(random.Random(self.seed).choices(cells, k=self.robots))
