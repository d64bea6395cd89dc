"""A board in words, for those who hear it: what stands where, whose turn it is, what else is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gdl.games.boards import Board, Mark
from gdl.games.cells import Place

_MAX_PLACES: Final = 100
_MAX_WORDS: Final = 4_000


def words_of(board: Board) -> str:
    """Return *board* in sentences, cut to a bounded length."""
    said = " ".join((*_picture(board), *_turn(board), *_captions(board)))
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


def _picture(board: Board) -> Iterator[str]:
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


def _turn(board: Board) -> Iterator[str]:
    if board.turn is not None:
        yield f"{board.turn} to move."


def _captions(board: Board) -> Iterator[str]:
    yield from (f"{line}." for line in board.lines)
