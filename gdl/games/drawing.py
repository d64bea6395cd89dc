"""A board to text: plain ASCII, with a hook for colours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from gdl.games.boards import Board, Mark
from gdl.games.cells import Place

Paint: TypeAlias = Callable[[str, str | None], str]
"""Puts a colour around a symbol: gets the symbol, padded with blanks, and the colour's name, if it has one."""

_MAX_HEAP: Final = 60


def _plain(symbol: str, colour: str | None) -> str:  # noqa: ARG001 -- a Paint that paints nothing
    return symbol


def text_of(board: Board, paint: Paint = _plain) -> str:
    """Return *board* as lines of text: the picture, whose turn it is, and the captions.

    *paint* may colour the symbols; what it adds takes no room on the screen.
    """
    lines = [*_picture(board, paint), *_turn(board), *board.lines]
    return "\n".join(line.rstrip() for line in lines)


def _picture(board: Board, paint: Paint) -> Iterator[str]:
    if board.layout.kind == "heaps":
        yield from _heaps(board)
    elif board.layout.kind == "grid":
        width = _cell_width(board)
        yield from _walled_rows(board, width, paint) if board.layout.walls else _rows(board, width, paint)


def _turn(board: Board) -> Iterator[str]:
    if board.turn is not None:
        yield f"{board.turn} to move"


def _heaps(board: Board) -> Iterator[str]:
    assert board.layout.heaps is not None
    width = max((len(name) for name, _ in board.heaps), default=0)
    for name, size in board.heaps:
        things = " ".join([board.layout.heaps.symbol] * min(size, _MAX_HEAP))
        yield f"{name.rjust(width)}  {things}{' ...' if size > _MAX_HEAP else ''}  {size}"


def _cell_width(board: Board) -> int:
    symbols = [mark.symbol for marks in board.marks.values() for mark in marks]
    labels = board.columns if board.layout.labels else ()
    return max(len(text) for text in (board.layout.empty, *symbols, *labels))


def _cell(board: Board, place: Place, width: int, paint: Paint) -> str:
    top: Mark | None = board.marks.get(place, (None,))[-1]
    if top is None:
        return paint(board.layout.empty.rjust(width), None)
    return paint(top.symbol.rjust(width), top.colour)


def _margins(board: Board) -> tuple[str, ...]:
    """Return what stands before each row, and before the names of the columns."""
    width = max(map(len, board.rows)) + 1 if board.layout.labels else 0
    names = board.rows if board.layout.labels else ("",) * len(board.rows)
    return (*(f"{name.rjust(width - 1)} " if width else "" for name in names), " " * width)


def _rows(board: Board, width: int, paint: Paint) -> Iterator[str]:
    margins = _margins(board)
    for y in range(len(board.rows)):
        yield margins[y] + " ".join(_cell(board, (x, y), width, paint) for x in range(len(board.columns)))
    if board.layout.labels:
        yield margins[-1] + " ".join(name.rjust(width) for name in board.columns)


def _walled_rows(board: Board, width: int, paint: Paint) -> Iterator[str]:
    margins = _margins(board)
    for y in range(len(board.rows)):
        yield margins[-1] + _floor(board, y, width)
        cells = (f" {_cell(board, (x, y), width, paint)} {_side(board, x, y)}" for x in range(len(board.columns)))
        yield f"{margins[y]}|{''.join(cells)}"
    yield margins[-1] + _floor(board, len(board.rows), width)
    if board.layout.labels:
        yield margins[-1] + "".join(f"  {name.rjust(width)} " for name in board.columns)


def _side(board: Board, x: int, y: int) -> str:
    is_outside = x == len(board.columns) - 1
    return "|" if is_outside or ((x, y), (x + 1, y)) in board.walls else " "


def _floor(board: Board, y: int, width: int) -> str:
    """Return the line above row *y*: all wall at the top and the bottom of the board."""
    is_outside = y in (0, len(board.rows))
    drawn = (is_outside or ((x, y - 1), (x, y)) in board.walls for x in range(len(board.columns)))
    return "+" + "".join(("-" if is_wall else " ") * (width + 2) + "+" for is_wall in drawn)
