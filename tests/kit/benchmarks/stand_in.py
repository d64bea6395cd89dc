"""A yardstick as a child process that knows tic-tac-toe, and has the fault that it is asked for.

`python -m tests.kit.benchmarks.stand_in [FAULT]`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from benchmarks.yardsticks.engines.dialogue import NOOP, Dialogue, converse

LINES: Final = ("123", "456", "789", "147", "258", "369", "159", "357")


class TicTacToe:
    """An engine that takes the first free cell.

    Its faults: `blind` knows no centre, `endless` plays on, `hasty` ends after two moves, `greedy` holds that all
    matches are won, `wrong` makes an illegal move, `mortal` ends before its first move, `silent` never moves.
    """

    name = "stand-in"
    used_s = 0.125

    def __init__(self, fault: str = "") -> None:
        self.fault = fault

    def begin(self, role: str, roles: Sequence[str], seed: int) -> None:
        self.own = list(roles).index(role)
        self.cells: list[str] = []

    @property
    def is_over(self) -> bool:
        if self.fault == "hasty" and len(self.cells) >= 2:
            return True
        return self.fault != "endless" and (self._winner() is not None or len(self.cells) == 9)

    def legal(self) -> set[str]:
        if len(self.cells) % 2 != self.own:
            return {NOOP}
        known = "12346789" if self.fault == "blind" else "123456789"
        return {self._move(cell) for cell in known if cell not in self.cells}

    def choose(self) -> str:
        if self.fault == "wrong":
            return "(mark 4 4)"
        if self.fault == "mortal":
            sys.exit(0)
        while self.fault == "silent":
            sys.stdin.readline()
        return min(self.legal())

    def follow(self, moves: Sequence[str]) -> None:
        _, row, column = moves[len(self.cells) % 2].strip("()").split()
        self.cells.append(str(3 * int(row) + int(column) - 3))

    def goal(self) -> int:
        winner = self._winner()
        if self.fault == "greedy":
            return 100
        return 50 if winner is None else 100 * (winner == self.own)

    def _move(self, cell: str) -> str:
        row, column = divmod(int(cell) - 1, 3)
        return f"(mark {row + 1} {column + 1})"

    def _winner(self) -> int | None:
        for side in range(2):
            if any(set(line) <= set(self.cells[side::2]) for line in LINES):
                return side
        return None


if __name__ == "__main__":
    converse(Dialogue(TicTacToe(*sys.argv[1:])))
