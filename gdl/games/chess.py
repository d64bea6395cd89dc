"""Chess from any position: the library's rules with another first position, given in Forsyth-Edwards Notation.

Source: Portable Game Notation Specification, 16.1 (FEN).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gdl.errors import FenError
from gdl.games.families import Cell
from gdl.games.library import library_folder

FIRST_FEN: Final = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

_SIDE: Final = 8
_QUIET_STEPS: Final = 100
_COLUMNS: Final = "abcdefgh"
_KINDS: Final = {"p": "pawn", "n": "knight", "b": "bishop", "r": "rook", "q": "queen", "k": "king"}
_ROOKS: Final = {"K": (8, 1), "Q": (1, 1), "k": (8, 8), "q": (1, 8)}
"""Where the rook of each right to castle stands."""
_STRAIGHT: Final = ((1, 0), (-1, 0), (0, 1), (0, -1))
_SLANTING: Final = ((1, 1), (1, -1), (-1, 1), (-1, -1))
_HOPS: Final = tuple((x * a, y * b) for x, y in ((1, 2), (2, 1)) for a in (1, -1) for b in (1, -1))


@dataclass(frozen=True, slots=True)
class ChessPosition:
    """A position of chess that play can begin from: pieces by cell as FEN writes them, and who moves.

    `passing` is the column in which a pawn has just gone two cells; `quiet` counts the steps since a capture or a
    pawn's move.
    """

    fen: str
    pieces: Mapping[Cell, str]
    mover: str
    castling: str
    passing: str | None
    quiet: int

    def facts(self) -> Iterator[str]:
        """Yield the fluents of the position, as the rules of chess name them."""
        for (x, y), piece in self.pieces.items():
            yield f"(cell {_COLUMNS[x - 1]} {y} {_colour(piece)}_{_KINDS[piece.lower()]})"
        for right in self.castling:
            yield f"(may_castle {_colour(right)} {'kingside' if right in 'Kk' else 'queenside'})"
        if self.passing:
            yield f"(en_passant {self.passing})"
        yield f"(control {self.mover})"
        yield f"(quiet {self.quiet})"


def read_fen(fen: str) -> ChessPosition:
    """Return the position that *fen* describes; its last two fields, clock and number of the move, may be missing.

    Raises:
        FenError: it is not FEN, or no position that play can begin from.
    """
    found = re.fullmatch(r"([\w/]+) ([wb]) (-|K?Q?k?q?) (-|[a-h][36])(?: (\d{1,3})(?: \d+)?)?", fen.strip(), re.ASCII)
    if not found or not found[3]:
        raise FenError(fen, "it has other fields than pieces, side, castling, passing and clock")
    position = ChessPosition(
        fen=fen.strip(),
        pieces=dict(_pieces(fen, found[1])),
        mover="white" if found[2] == "w" else "black",
        castling=found[3].replace("-", ""),
        passing=None if found[4] == "-" else found[4][0],
        quiet=int(found[5] or 0),
    )
    _check(position, passing_row=found[4][1:])
    return position


def chess_rules(position: ChessPosition) -> str:
    """Return the rule file of chess from *position*.

    Raises:
        OSError: the library's rules cannot be read.
    """
    rules = _library_text("chess.kif")
    before, _, rest = rules.partition("; first position\n")
    _, after, last = rest.partition("; what stands where")
    first = "\n".join(f"(init {fact})" for fact in position.facts())
    return (
        f'; Made by: ggp generate chess --fen "{position.fen}"\n;\n{before}; first position\n\n{first}\n\n{after}{last}'
    )


def chess_metadata(position: ChessPosition) -> str:
    """Return the TOML description of chess from *position*: the library's, without counts.

    Raises:
        OSError: the library's description cannot be read.
    """
    text, _, _ = _library_text("chess.toml").partition("[counts]\n")
    title, _, rest = text.partition("\n")
    return f'# Made by: ggp generate chess --fen "{position.fen}"\n{title[:-1]} from a position"\n{rest.rstrip()}\n'


def _library_text(name: str) -> str:
    return (library_folder() / "chess" / name).read_text(encoding="utf-8")


def _colour(piece: str) -> str:
    return "white" if piece.isupper() else "black"


def _pieces(fen: str, field: str) -> Iterator[tuple[Cell, str]]:
    rows = field.split("/")
    if len(rows) != _SIDE:
        raise FenError(fen, f"it has {len(rows)} rows of pieces, not 8")
    for y, row in zip(range(_SIDE, 0, -1), rows, strict=True):
        cells = "".join("." * int(sign) if sign in "12345678" else sign for sign in row)
        if len(cells) != _SIDE or not set(cells.lower()) <= {*_KINDS, "."}:
            raise FenError(fen, f"row {y} is not eight cells of pieces and numbers: {row}")
        yield from (((x, y), sign) for x, sign in enumerate(cells, 1) if sign != ".")


def _check(position: ChessPosition, passing_row: str) -> None:
    """Raise FenError where the rules of chess could not go on from *position*."""
    pieces, fen = position.pieces, position.fen
    if sorted(piece for piece in pieces.values() if piece in "Kk") != ["K", "k"]:
        raise FenError(fen, "each side needs one king")
    if any(piece in "Pp" and y in (1, _SIDE) for (_, y), piece in pieces.items()):
        raise FenError(fen, "a pawn stands on the first or the last row")
    for right in position.castling:
        king, rook = ("K", "R") if right.isupper() else ("k", "r")
        if pieces.get(_ROOKS[right]) != rook or pieces.get((5, _ROOKS[right][1])) != king:
            raise FenError(fen, f"the right to castle {right} is without its king or rook")
    if position.passing:
        row, pawn, wanted = (5, "p", "6") if position.mover == "white" else (4, "P", "3")
        column = _COLUMNS.index(position.passing) + 1
        if passing_row != wanted or pieces.get((column, row)) != pawn or (column, int(wanted)) in pieces:
            raise FenError(fen, "no pawn has just gone two cells there")
    if position.quiet > _QUIET_STEPS:
        raise FenError(fen, "its clock is above 100")
    if _can_take_king(position):
        raise FenError(fen, "the side to move could take the king")


def _can_take_king(position: ChessPosition) -> bool:
    """Return whether the side that is not to move is in check."""
    is_white = position.mover == "white"
    (x, y) = next(cell for cell, piece in position.pieces.items() if piece == ("k" if is_white else "K"))
    ahead = 1 if is_white else -1
    steps: tuple[tuple[str, tuple[Cell, ...], int], ...] = (
        ("p", ((1, -ahead), (-1, -ahead)), 1),
        ("n", _HOPS, 1),
        ("k", _STRAIGHT + _SLANTING, 1),
        ("rq", _STRAIGHT, _SIDE),
        ("bq", _SLANTING, _SIDE),
    )
    return any(
        _first_piece(position, (x, y), way, reach) in (kinds.upper() if is_white else kinds)
        for kinds, ways, reach in steps
        for way in ways
    )


def _first_piece(position: ChessPosition, cell: Cell, way: Cell, reach: int) -> str:
    """Return the first piece that is seen from *cell*, or a sign that is none."""
    cells = ((cell[0] + n * way[0], cell[1] + n * way[1]) for n in range(1, reach + 1))
    return next((position.pieces[each] for each in cells if each in position.pieces), ".")
