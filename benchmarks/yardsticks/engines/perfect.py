"""The exact solver of connect four as a player: it keeps the value of the position, and makes it hard to keep up.

`python -m benchmarks.yardsticks.engines.perfect`. Solving takes seconds after 8 moves, and far longer before.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from random import Random
from typing import Final

from benchmarks.positions.connectfour import COLUMNS, ROWS, ConnectFour
from benchmarks.yardsticks.engines.dialogue import NOOP, options, serve

_DIRECTIONS: Final = ((0, 1), (1, 0), (1, 1), (1, -1))


class PerfectConnectFour:
    """A player that makes no mistake.

    Of the moves that keep the value it makes one after which the most replies of the opponent are mistakes, or, where
    all are equal, any.
    """

    name = "perfect"

    def __init__(self) -> None:
        self._solver = ConnectFour()
        self._used_s = 0.0

    def begin(self, role: str, roles: Sequence[str], seed: int) -> None:
        """Set up the first position."""
        self._own, self._random, self._used_s = list(roles).index(role), Random(seed), 0.0
        self._columns: list[int] = []

    @property
    def is_over(self) -> bool:
        """Whether the last disc made four, or the board is full."""
        return _has_won(self._columns) or len(self._columns) == COLUMNS * ROWS

    def legal(self) -> set[str]:
        """Return the columns that are not full."""
        if len(self._columns) % 2 != self._own:
            return {NOOP}
        return {f"(drop {column})" for column in self._free()}

    def choose(self) -> str:
        """Return a move that keeps the value."""
        begun_s = time.process_time()
        values = self._solver.values(self._columns)
        best = [column for column, value in values.items() if value == max(values.values())]
        self._random.shuffle(best)
        chosen = max(best, key=self._traps) if len(best) > 1 else best[0]
        self._used_s += time.process_time() - begun_s
        return f"(drop {chosen})"

    def follow(self, moves: Sequence[str]) -> None:
        """Drop the disc of the role to move."""
        self._columns.append(int(moves[len(self._columns) % 2].strip("()").split()[1]))

    def goal(self) -> int:
        """Return the goal of the role."""
        if not _has_won(self._columns):
            return 50
        return 100 if (len(self._columns) - 1) % 2 == self._own else 0

    @property
    def used_s(self) -> float:
        """The processor time of the solver."""
        return self._used_s

    def _free(self) -> list[int]:
        return [column for column in range(1, COLUMNS + 1) if self._columns.count(column) < ROWS]

    def _traps(self, column: int) -> float:
        """Return the share of the replies to *column* that do not keep the value, 0 where the match ends."""
        after = [*self._columns, column]
        if _has_won(after) or len(after) == COLUMNS * ROWS:
            return 0.0
        replies = list(self._solver.values(after).values())
        return sum(value < max(replies) for value in replies) / len(replies)


def _has_won(columns: Sequence[int]) -> bool:
    """Return whether the last of the discs in *columns* is one of four in a line."""
    cells: dict[tuple[int, int], int] = {}
    heights = dict.fromkeys(range(1, COLUMNS + 1), 0)
    for number, column in enumerate(columns):
        cells[column, heights[column]] = number % 2
        heights[column] += 1
    if not columns:
        return False
    last = columns[-1], heights[columns[-1]] - 1
    return any(1 + _run(cells, last, step) + _run(cells, last, (-step[0], -step[1])) >= 4 for step in _DIRECTIONS)


def _run(cells: dict[tuple[int, int], int], cell: tuple[int, int], step: tuple[int, int]) -> int:
    """Return how many cells beside *cell* in the direction *step* have discs of its colour."""
    n, following = 0, (cell[0] + step[0], cell[1] + step[1])
    while cells.get(following) == cells[cell]:
        n, following = n + 1, (following[0] + step[0], following[1] + step[1])
    return n


def main() -> None:
    """Play."""
    serve(PerfectConnectFour(), options("A perfect player of connect four as a child process").parse_args())


if __name__ == "__main__":
    main()
