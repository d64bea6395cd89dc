"""A board as text: drawn in plain ASCII, with a hook for colours, and described in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from gdl.boards.boards import Board, Mark, Place

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


_MAX_PLACES: Final = 100
_MAX_WORDS: Final = 4_000


def words_of(board: Board) -> str:
    """Return *board* in sentences, cut to a bounded length."""
    said = " ".join((*_picture_in_words(board), *_turn_in_words(board), *_captions(board)))
    return said if len(said) <= _MAX_WORDS else f"{said[: _MAX_WORDS - 3]}..."


def cell_words(board: Board, place: Place) -> str:
    """Return the name of a cell, and what stands there."""
    x, y = place
    marks = board.marks.get(place, ())
    return f"{board.columns[x]} {board.rows[y]}: {', '.join(map(mark_words, marks)) or 'empty'}"


def heap_words(name: str, size: int) -> str:
    """Return the name of a heap, and how many things are in it."""
    return f"heap {name}: {size}"


def mark_words(mark: Mark) -> str:
    """Return what *mark* stands for, and how many there are."""
    name = (mark.value or mark.shape or mark.symbol).replace("_", " ")
    return f"{name} ({mark.count})" if mark.count > 1 else name


def _picture_in_words(board: Board) -> Iterator[str]:
    if board.layout.kind == "heaps":
        yield from (f"{heap_words(name, size)}." for name, size in board.heaps)
    elif board.layout.kind == "grid":
        yield f"{len(board.columns)} columns, {len(board.rows)} rows."
        places: dict[str, list[Place]] = {}
        for place, marks in sorted(board.marks.items()):
            for mark in marks:
                places.setdefault(mark_words(mark), []).append(place)
        yield from (f"{name}: {_listed(board, where)}." for name, where in places.items())
        if board.walls:
            yield f"Walls between cells: {len(board.walls)}."


def _listed(board: Board, places: list[Place]) -> str:
    named = [f"{board.columns[x]} {board.rows[y]}" for x, y in places[:_MAX_PLACES]]
    return ", ".join(named) + (f" and {len(places) - len(named)} more" if len(places) > len(named) else "")


def _turn_in_words(board: Board) -> Iterator[str]:
    if board.turn is not None:
        yield f"{board.turn} to move."


def _captions(board: Board) -> Iterator[str]:
    yield from (f"{line}." for line in board.lines)
