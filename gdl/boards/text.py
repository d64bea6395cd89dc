"""A board as text: drawn in plain ASCII, with a hook for colours, and described in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gdl.boards.boards import Board, Place
from gdl.boards.characters import Paint, grid_rows
from gdl.boards.pieces import Mark
from gdl.boards.stacks import Pile

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
        yield from grid_rows(board, paint)
    elif board.layout.kind == "stacks":
        yield from _stacks(board, paint)
    for tray in board.trays:
        yield " ".join((f"{tray.name}:", *(paint(mark.symbol, mark.colour) for mark in tray.marks)))


def _stacks(board: Board, paint: Paint) -> Iterator[str]:
    """Yield stacks side by side, the top of the highest one first, and their names below."""
    names = [stack.name for stack in board.stacks]
    width = max(
        (len(text) for pile in board.stacks for text in (pile.name, *(mark.symbol for mark in pile.marks))), default=0
    )
    for height in reversed(range(max((len(stack.marks) for stack in board.stacks), default=0))):
        cells = (pile.marks[height] if height < len(pile.marks) else None for pile in board.stacks)
        yield " ".join(paint(mark.symbol.ljust(width), mark.colour) if mark else " " * width for mark in cells)
    yield " ".join("-" * width for _ in names)
    yield " ".join(name.ljust(width) for name in names)


def _turn(board: Board) -> Iterator[str]:
    if board.turn is not None:
        yield f"{board.turn} to move"


def _heaps(board: Board) -> Iterator[str]:
    assert board.layout.heaps is not None
    width = max((len(name) for name, _ in board.heaps), default=0)
    for name, size in board.heaps:
        things = " ".join([board.layout.heaps.symbol] * min(size, _MAX_HEAP))
        yield f"{name.rjust(width)}  {things}{' ...' if size > _MAX_HEAP else ''}  {size}"


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
    nothing = "unknown" if place in board.unknown else "empty"
    return f"{board.columns[x]} {board.rows[y]}: {', '.join(map(mark_words, marks)) or nothing}"


def heap_words(name: str, size: int) -> str:
    """Return the name of a heap, and how many things are in it."""
    return f"heap {name}: {size}"


def pile_words(pile: Pile) -> str:
    """Return the name of a pile, and what lies in it."""
    return f"{pile.name}: {', '.join(map(mark_words, pile.marks)) or 'empty'}".lstrip(": ")


def mark_words(mark: Mark) -> str:
    """Return what *mark* stands for, and how many there are."""
    name = (mark.value or mark.shape or mark.symbol).replace("_", " ")
    return f"{name} ({mark.count})" if mark.count > 1 else name


def _picture_in_words(board: Board) -> Iterator[str]:
    if board.layout.kind == "heaps":
        yield from (f"{heap_words(name, size)}." for name, size in board.heaps)
    elif board.layout.kind == "stacks":
        yield from (f"stack {pile_words(stack)}." for stack in board.stacks)
    elif board.layout.kind == "grid":
        yield f"{len(board.columns)} columns, {len(board.rows)} rows."
        places: dict[str, list[Place]] = {}
        for place, marks in sorted(board.marks.items()):
            for mark in marks:
                places.setdefault(mark_words(mark), []).append(place)
        yield from (f"{name}: {_listed(board, where)}." for name, where in places.items())
        if board.walls:
            yield f"Walls between cells: {len(board.walls)}."
        if board.unknown:
            yield f"Unknown: {_listed(board, sorted(board.unknown))}."
    yield from (f"{pile_words(tray)}." for tray in board.trays)


def _listed(board: Board, places: list[Place]) -> str:
    named = [f"{board.columns[x]} {board.rows[y]}" for x, y in places[:_MAX_PLACES]]
    return ", ".join(named) + (f" and {len(places) - len(named)} more" if len(places) > len(named) else "")


def _turn_in_words(board: Board) -> Iterator[str]:
    if board.turn is not None:
        yield f"{board.turn} to move."


def _captions(board: Board) -> Iterator[str]:
    yield from (f"{line}." for line in board.lines)
