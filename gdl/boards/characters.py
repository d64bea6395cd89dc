"""A grid in characters: rows of symbols, shifted for hexagons, with walls between cells or lines between points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from gdl.boards.boards import Board, Place
from gdl.boards.geometry import Geometry, geometry_of

Paint: TypeAlias = Callable[[str, str | None], str]
"""Puts a colour around a symbol: gets the symbol, padded with blanks, and the colour's name, if it has one."""

_ROOM: Final = 3
"""How many characters lie between points that lines connect."""


def grid_rows(board: Board, paint: Paint) -> Iterator[str]:
    """Yield the grid of *board*, line by line."""
    width, geometry = _cell_width(board), geometry_of(board)
    if board.layout.walls and geometry.cells == "squares":
        yield from _walled_rows(board, width, paint)
    elif board.layout.lines or geometry.is_pointy or geometry.is_flat:
        yield from _free_rows(board, geometry, width, paint)
    else:
        yield from _rows(board, width, paint)


def _cell_width(board: Board) -> int:
    symbols = [mark.symbol for marks in board.marks.values() for mark in marks]
    labels = board.columns if board.layout.labels else ()
    return max(len(text) for text in (board.layout.empty, *symbols, *labels))


def _cell(board: Board, place: Place, width: int, paint: Paint) -> str:
    symbol, colour = _top(board, place)
    return paint(symbol.rjust(width), colour)


def _top(board: Board, place: Place) -> tuple[str, str | None]:
    """Return the symbol of what lies on top in a cell, and its colour."""
    marks = [mark for mark in board.marks.get(place, ()) if not mark.is_between]
    if not marks:
        return "" if place in board.missing else "?" if place in board.unknown else board.layout.empty, None
    return marks[-1].symbol, marks[-1].colour


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


@dataclass(slots=True)
class _Sheet:
    """Lines of characters, on which every text has its place; a later one does not cover an earlier one."""

    lines: dict[int, dict[int, tuple[str, str]]] = field(default_factory=dict)

    def put(self, across: int, down: int, text: str, shown: str = "") -> None:
        """Write *text* there, as *shown*, which takes the same room."""
        if text.strip():
            self.lines.setdefault(down, {}).setdefault(across, (text, shown or text))

    def written(self, down: int) -> str:
        """Return one line."""
        found, end = "", 0
        for across, (text, shown) in sorted(self.lines.get(down, {}).items()):
            if across >= end:
                found += " " * (across - end) + shown
                end = across + len(text)
        return found


def _free_rows(board: Board, geometry: Geometry, width: int, paint: Paint) -> Iterator[str]:
    """Yield rows of which each cell has a place of its own: hexagons, and points with lines."""
    at, sheet = _corners(board, geometry, width), _Sheet()
    for place in board.places:
        across, down = at(place)
        symbol, colour = _top(board, place)
        sheet.put(across, down, symbol.rjust(width), paint(symbol.rjust(width), colour))
        for mark in board.marks.get(place, ()):
            if mark.is_between:
                text = mark.symbol.rjust(width)
                beside = (across + (width + _ROOM) // 2, down + (-1 if board.layout.y == "up" else 1))
                sheet.put(*beside, text, paint(text, mark.colour))
    for segment in board.segments:
        _put_line(sheet, at(segment.start), at(segment.end), width)
    ends = [(x, len(board.rows) - 1) for x in range(len(board.columns))]
    last = max(at(place)[1] for place in ends)
    if board.layout.labels:
        _put_names(sheet, board, at, last + 1)
    yield from (sheet.written(down) for down in range(last + 1 + board.layout.labels))


def _corners(board: Board, geometry: Geometry, width: int) -> Callable[[Place], tuple[int, int]]:
    """Return what says where the text of a cell begins: its column and its line."""
    margin = max(map(len, board.rows)) + 1 if board.layout.labels else 0
    if geometry.is_pointy:
        half = (width + 2) // 2
        return lambda place: (margin + half * geometry.halves(place)[0], place[1])
    if geometry.is_flat:
        return lambda place: (margin + (width + 1) * place[0], geometry.halves(place)[1])
    return lambda place: (margin + (width + _ROOM) * place[0], 2 * place[1])


def _put_names(sheet: _Sheet, board: Board, at: Callable[[Place], tuple[int, int]], bottom: int) -> None:
    for y, name in enumerate(board.rows):
        across, down = at((0, y))
        sheet.put(across - len(name) - 1, down, name)
    width = _cell_width(board)
    for x, name in enumerate(board.columns):
        sheet.put(at((x, len(board.rows) - 1))[0], bottom, name.rjust(width))


def _put_line(sheet: _Sheet, start: tuple[int, int], end: tuple[int, int], width: int) -> None:
    """Write a line between two cells, if it goes along a row, a column, or a diagonal of neighbours."""
    (x, y), (x2, y2) = sorted((start, end))
    if y == y2:
        for across in range(x + width, x2):
            sheet.put(across, y, "-")
    elif x == x2:
        for down in range(min(y, y2) + 1, max(y, y2)):
            sheet.put(x + width - 1, down, "|")
    elif abs(y2 - y) == 2 and x2 - x == width + _ROOM:
        sheet.put(x + width - 1 + (_ROOM + 1) // 2, (y + y2) // 2, "\\" if y2 > y else "/")
