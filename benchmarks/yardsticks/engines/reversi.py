"""Reversi programs that speak GTP, such as GRhino, as players of the public `reversi`.

`python -m benchmarks.yardsticks.engines.reversi "gtp-rhino --level 1"`. The program lists no legal moves: it is asked
to make each that a cell allows, and to take it back. It passes for a side without a move by itself, so that its board
says which side is to move (`showboard`), while in the rule file that is a step.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Final, Self

from benchmarks.yardsticks.engines.dialogue import NOOP, DisagreementError, options, serve
from benchmarks.yardsticks.engines.programs import GtpError, GtpProgram
from benchmarks.yardsticks.engines.translations import othello

SIZE: Final = 8
_COLUMNS: Final = "abcdefgh"
_COLOURS: Final = ("black", "white")
_WIN, _DRAW, _LOSS = 100, 50, 0


def vertex(move: str) -> str:
    """Return the vertex of a move of the rule file, whose rows are counted from the bottom.

    Example:
        >>> vertex("(move 4 6)")
        'd3'
    """
    _, x, y = move.strip("()").split()
    return f"{_COLUMNS[int(x) - 1]}{SIZE + 1 - int(y)}"


class ReversiEngine:
    """A program of reversi behind GTP; a context manager that ends it."""

    def __init__(self, command: str) -> None:
        self._program = GtpProgram(command)
        self.name = self._program.name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self._program.__exit__(*problem)

    def begin(self, role: str, roles: Sequence[str], seed: int) -> None:  # noqa: ARG002 -- of the protocol
        """Set up the first position."""
        self._own, self._used_before_s = list(roles).index(role), self._program.processor_s
        self._n_steps = 0
        for command in (f"boardsize {SIZE}", "clear_board"):
            self._program.command_reply(command)

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
        return othello(self._program.command_reply(f"reg_genmove {_COLOURS[self._own]}").lower())

    def follow(self, moves: Sequence[str]) -> None:
        """Make the move of the side to move; where it has none, the program has passed."""
        for colour, move in zip(_COLOURS, moves, strict=True):
            if move == NOOP:
                continue
            try:
                self._program.command_reply(f"play {colour} {vertex(move)}")
            except GtpError as error:
                raise DisagreementError(f"{move} is not legal for {self.name}") from error
        self._n_steps += 1

    def goal(self) -> int | None:
        """Return the goal of the role by the discs that the program counts."""
        score = self._score()
        if score is None:
            return None
        if score.startswith("0"):
            return _DRAW
        return _WIN if score.lower().startswith(_COLOURS[self._own][0]) else _LOSS

    @property
    def used_s(self) -> float:
        """The processor time of the program since `begin`, with what it allowed."""
        return self._program.processor_s - self._used_before_s

    @property
    def _turn(self) -> int:
        found = re.search("Next move: (Black|White)", self._program.command_reply("showboard"))
        return 0 if found is None else _COLOURS.index(found.group(1).lower())

    def _allows(self, cell: str) -> bool:
        try:
            self._program.command_reply(f"play {_COLOURS[self._own]} {cell}")
        except GtpError:
            return False
        self._program.command_reply("undo")
        return True

    def _score(self) -> str | None:
        try:
            return self._program.command_reply("final_score")
        except GtpError:
            return None


def main() -> None:
    """Play."""
    parser = options("A program of reversi as a child process")
    parser.add_argument("command", help="the program that speaks GTP")
    chosen = parser.parse_args()
    with ReversiEngine(chosen.command) as engine:
        serve(engine, chosen)


if __name__ == "__main__":
    main()
