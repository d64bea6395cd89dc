"""Reversi programs that speak GTP, such as GRhino, as players of the public `reversi`.

`python -m benchmarks.yardsticks.engines.reversi "gtp-rhino --level 1"`. The program lists no legal moves: it is asked
to make each that a cell allows, and to take it back. It passes for a side without a move by itself, so that its board
says which side is to move (`showboard`), while in the rule file that is a step.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Final

from benchmarks.yardsticks.engines.dialogue import NOOP, DisagreementError
from benchmarks.yardsticks.engines.gtp import COLOURS, GtpEngine, GtpError, play
from benchmarks.yardsticks.engines.translations import othello

SIZE: Final = 8
_COLUMNS: Final = "abcdefgh"
_WIN, _DRAW, _LOSS = 100, 50, 0


def vertex(move: str) -> str:
    """Return the vertex of a move of the rule file, whose rows are counted from the bottom.

    Example:
        >>> vertex("(move 4 6)")
        'd3'
    """
    _, x, y = move.strip("()").split()
    return f"{_COLUMNS[int(x) - 1]}{SIZE + 1 - int(y)}"


class ReversiEngine(GtpEngine):
    """A program of reversi behind GTP."""

    def begin(self, role: str, roles: Sequence[str], seed: int) -> None:  # noqa: ARG002 -- of the protocol
        """Set up the first position."""
        self._own, self._n_steps = list(roles).index(role), 0
        self.set_up(f"boardsize {SIZE}", "clear_board")

    @property
    def is_over(self) -> bool:
        """Whether no side has a move, which is when the program counts the discs."""
        return self._score() is not None

    def legal(self) -> set[str]:
        """Return the moves that the program makes on an empty cell."""
        if self._own != self._n_steps % 2 or self._own != self._turn:
            return {NOOP}
        cells = (column + str(row) for column, row in itertools.product(_COLUMNS, range(1, SIZE + 1)))
        return {othello(cell) for cell in cells if self._allows(cell)}

    def choose(self) -> str:
        """Return the move that the program finds best; it is not made."""
        return othello(self.ask(f"reg_genmove {COLOURS[self._own]}").lower())

    def follow(self, moves: Sequence[str]) -> None:
        """Make the move of the side to move; where it has none, the program has passed."""
        for colour, move in zip(COLOURS, moves, strict=True):
            if move == NOOP:
                continue
            try:
                self.ask(f"play {colour} {vertex(move)}")
            except GtpError as error:
                raise DisagreementError(f"{move} is not legal for {self.name}") from error
        self._n_steps += 1

    def goal(self) -> int | None:
        """Return the goal of the role by the discs that the program counts."""
        score = self._score()
        if score is None:
            return None
        winner = score[0].lower()  # as in B+12; a draw is 0
        return _DRAW if winner == "0" else _WIN if COLOURS[self._own].startswith(winner) else _LOSS

    @property
    def _turn(self) -> int:
        found = re.search("Next move: (Black|White)", self.ask("showboard"))
        return 0 if found is None else COLOURS.index(found.group(1).lower())

    def _allows(self, cell: str) -> bool:
        try:
            self.ask(f"play {COLOURS[self._own]} {cell}")
        except GtpError:
            return False
        self.ask("undo")
        return True

    def _score(self) -> str | None:
        try:
            return self.ask("final_score")
        except GtpError:
            return None


if __name__ == "__main__":
    play(ReversiEngine, "A program of reversi as a child process")
