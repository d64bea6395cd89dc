"""Go programs that speak GTP, such as GNU Go, as players of `go` of the library, on 5x5 points.

`python -m benchmarks.yardsticks.engines.go "gnugo --mode gtp"`. The program must list the legal moves (`all_legal`):
they are compared with those of the referee. Stones that are dead count as alive in the rule file, so that the program
is to capture them before it passes (`kgs-genmove_cleanup`).

*Source*: the manual of GNU Go 3.8 for the words that are its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from benchmarks.yardsticks.engines.dialogue import NOOP, DisagreementError
from benchmarks.yardsticks.engines.gtp import COLOURS, GtpEngine, GtpError, play

SIZE: Final = 5
KOMI: Final = 0.5
MAX_STEPS: Final = 100
"""The rule file ends a match then."""
PASS: Final = "pass"  # noqa: S105 -- a move
_COLUMNS: Final = "ABCDEFGHJKLMNOPQRST"


def words(vertex: str) -> str:
    """Return a vertex of GTP as the rule file has the move there.

    Example:
        >>> words("C4"), words("PASS")
        ('(place 3 4)', 'pass')
    """
    return PASS if vertex.lower() == PASS else f"(place {_COLUMNS.index(vertex[0].upper()) + 1} {vertex[1:]})"


def vertex(move: str) -> str:
    """Return the vertex of a move of the rule file.

    Example:
        >>> vertex("(place 3 4)"), vertex("pass")
        ('C4', 'pass')
    """
    if move == PASS:
        return PASS
    _, x, y = move.strip("()").split()
    return f"{_COLUMNS[int(x) - 1]}{y}"


class GoEngine(GtpEngine):
    """A program of go behind GTP."""

    def begin(self, role: str, roles: Sequence[str], seed: int) -> None:
        """Set up the empty board."""
        self._own, self._played = list(roles).index(role), list[str]()
        self.set_up(f"boardsize {SIZE}", "clear_board", f"komi {KOMI}", f"set_random_seed {seed}")

    @property
    def is_over(self) -> bool:
        """Whether both have passed, or the rule file ends the match."""
        return self._played[-2:] == [PASS, PASS] or len(self._played) >= MAX_STEPS

    def legal(self) -> set[str]:
        """Return the moves that the program lists, and a pass."""
        if self._turn != self._own:
            return {NOOP}
        return {PASS, *map(words, self.ask(f"all_legal {COLOURS[self._turn]}").split())}

    def choose(self) -> str:
        """Return the move that the program finds best; it is not made yet."""
        found = self.ask(f"kgs-genmove_cleanup {COLOURS[self._turn]}")
        self.ask("undo")
        return words(found)

    def follow(self, moves: Sequence[str]) -> None:
        """Make the move of the side to move."""
        move = moves[self._turn]
        try:
            self.ask(f"play {COLOURS[self._turn]} {vertex(move)}")
        except GtpError as error:
            raise DisagreementError(f"{move} is not legal for {self.name} after {len(self._played)} steps") from error
        self._played.append(move)

    def goal(self) -> None:
        """Return None: the program counts dead stones as captured."""

    @property
    def _turn(self) -> int:
        return len(self._played) % 2


if __name__ == "__main__":
    play(GoEngine, "A program of go as a child process")
