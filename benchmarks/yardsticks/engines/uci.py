"""Chess engines that speak UCI, such as Stockfish, as players of the rule file `chess_200`.

`python -m benchmarks.yardsticks.engines.uci stockfish --go "depth 1"`. The engine must list the legal moves, as
Stockfish does for `go perft 1`: they are compared with those of the referee.

*Source*: "Description of the universal chess interface", 2006; the Stockfish documentation for `perft`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Self

from benchmarks.yardsticks.engines.dialogue import NOOP, DisagreementError, options, serve
from benchmarks.yardsticks.engines.programs import Program

MAX_STEPS: Final = 200
"""The rule file ends a match then."""
_BACK_RANK: Final = ("rook", "knight", "bishop", "queen", "king", "bishop", "knight", "rook")
_PROMOTED: Final = {"q": "queen", "r": "rook", "b": "bishop", "n": "knight"}
_CASTLING: Final = {"g": ("castleKingside", "h", "f"), "c": ("castleQueenside", "a", "d")}
"""By the file that the king moves to: our word, and from where to where its rook moves."""
_LISTED: Final = re.compile(r"([a-h][1-8][a-h][1-8][qrbn]?): 1")


class Board:
    """Which piece stands where."""

    def __init__(self) -> None:
        self._pieces = {
            f"{file}{rank}": piece if rank in "18" else "pawn"
            for file, piece in zip("abcdefgh", _BACK_RANK, strict=True)
            for rank in "1278"
        }

    @property
    def n_pieces(self) -> int:
        """How many pieces there are; two are the kings."""
        return len(self._pieces)

    def words(self, move: str) -> str:
        """Return *move* of UCI as the rule file has it; a promotion names the new piece.

        Example:
            >>> Board().words("g1f3")
            '(move knight g 1 f 3)'
        """
        piece = self._pieces[move[:2]]
        if piece == "king" and self._is_castling(move):
            return _CASTLING[move[2]][0]
        piece = _PROMOTED.get(move[4:], piece)
        return f"(move {piece} {' '.join(move[:4])})"

    def make(self, move: str) -> None:
        """Make *move* of UCI."""
        is_castling = self._is_castling(move)
        piece = self._pieces.pop(move[:2])
        if piece == "pawn" and move[0] != move[2] and move[2:4] not in self._pieces:
            del self._pieces[move[2] + move[1]]  # taken en passant
        self._pieces[move[2:4]] = _PROMOTED.get(move[4:], piece)
        if piece == "king" and is_castling:
            _, source, target = _CASTLING[move[2]]
            self._pieces[target + move[1]] = self._pieces.pop(source + move[1])

    def _is_castling(self, move: str) -> bool:
        return move[0] == "e" and move[2] in _CASTLING


class UciEngine:
    """An engine behind UCI, which thinks about each move as the words *go* say; a context manager that ends it."""

    def __init__(self, command: str, go: str, settings: Sequence[str] = ()) -> None:
        self._program, self._go = Program(command), go
        self.name = self._program.name
        self._ask("uci", "uciok")
        for setting in settings:
            name, _, value = setting.partition("=")
            self._program.tell(f"setoption name {name} value {value}")
        self._ask("isready", "readyok")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self._program.__exit__(*problem)

    def begin(self, role: str, roles: Sequence[str], seed: int) -> None:  # noqa: ARG002 -- the signature of engines
        """Set up the first position."""
        self._board, self._played = Board(), list[str]()
        self._own, self._used_before_s = list(roles).index(role), self._program.processor_s
        self._program.tell("ucinewgame")
        self._ask("isready", "readyok")
        self._list()

    @property
    def is_over(self) -> bool:
        """Whether the engine lists no move, or the rule file ends the match: too long, or kings alone."""
        return not self._moves or len(self._played) >= MAX_STEPS or self._board.n_pieces <= 2

    def legal(self) -> set[str]:
        """Return the moves that the engine lists."""
        return set(self._moves) if self._turn == self._own else {NOOP}

    def choose(self) -> str:
        """Return the move that the engine finds best."""
        best = self._ask(f"go {self._go}", "bestmove")[-1].split()[1]
        return self._board.words(best)

    def follow(self, moves: Sequence[str]) -> None:
        """Make the move of the side to move."""
        text = moves[self._turn]
        if text not in self._moves:
            raise DisagreementError(f"{text} is not legal for {self.name} after {len(self._played)} steps")
        move = self._moves[text]
        self._board.make(move)
        self._played.append(move)
        self._list()

    def goal(self) -> None:
        """Return None: the engine does not say how a match ended."""

    @property
    def used_s(self) -> float:
        """The processor time of the engine's process since `begin`, with what it listed."""
        return self._program.processor_s - self._used_before_s

    @property
    def _turn(self) -> int:
        return len(self._played) % 2

    def _list(self) -> None:
        """Let the engine take the position, and list its moves by our words."""
        self._program.tell("position startpos" + (f" moves {' '.join(self._played)}" if self._played else ""))
        listed = _LISTED.findall("\n".join(self._ask("go perft 1", "Nodes searched")))
        self._moves = {self._board.words(move): move for move in listed}

    def _ask(self, line: str, end: str) -> list[str]:
        """Return the lines that answer *line*, up to the one that begins with *end*."""
        return self._program.ask(line, lambda reply: reply.startswith(end))


def main() -> None:
    """Play."""
    parser = options("A chess engine as a child process")
    parser.add_argument("command", help="the program that speaks UCI")
    parser.add_argument("--go", default="depth 1", help="what a move is thought about: depth N, nodes N")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="an option of the engine")
    chosen = parser.parse_args()
    with UciEngine(chosen.command, chosen.go, chosen.set) as engine:
        serve(engine, chosen)


if __name__ == "__main__":
    main()
