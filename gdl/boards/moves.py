"""Which cells of the board a move names, so that a click on a cell finds its moves, and the last move can be shown."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gdl.boards.boards import Board, Cells, Place, cell_name
from gdl.boards.grids import Emphasis
from gdl.boards.layout import Layout
from gdl.language.kif import read_term
from gdl.language.terms import Compound, Term, Variable, signature

_MAX_WORDS: Final = 50
_OF_LINES: Final = re.compile(r"drop|insert|push|put|place|play|shift|slide|col|row", re.IGNORECASE)
_COORDINATES: Final = frozenset({"?x", "?y", "?bx", "?by", "?xy", "?cell"})


def places(move: Term, board: Board) -> tuple[str, ...]:
    """Return the cells that *move* names, in its order, as pictures call them: `("0,1", "2,1")`.

    A move that drops something into a column, or acts on a row, names all its cells; one that takes from a heap names
    the heap. Other moves give none.
    """
    words = tuple(_words(move))
    if board.layout.kind == "heaps":
        heaps = {name: (0, number) for number, (name, _) in enumerate(board.heaps)}
        return tuple(cell_name(heaps[word]) for word in words if word in heaps)
    if board.layout.kind == "stacks":
        stacks = {mark.value: number for number, stack in enumerate(board.stacks) for mark in stack.marks}
        stacks |= {stack.name: number for number, stack in enumerate(board.stacks)}
        return tuple(dict.fromkeys(cell_name((stacks[word], 0)) for word in words if word in stacks))
    cells = Cells(board.layout)
    for order in _orders(board.layout) if cells.columns else ():
        found = tuple(_named(words, order, cells))
        if found:
            return tuple(map(cell_name, found))
    if not _is_of_line(move, board) or not _OF_LINES.match(signature(move)[0]):
        return ()
    return tuple(map(cell_name, _line(words[0], cells)))


def emphasis(moves: Iterable[Term], board: Board, before: Board | None = None) -> dict[str, Emphasis]:
    """Return which cells of *board* stand out after the joint move *moves*: where a piece left, and where it went.

    Of a whole line only the first cell does that differs from *before*; cells passed on the way are `named`.
    """
    found: dict[str, Emphasis] = {}
    for move in moves:
        named = places(move, board)
        if _is_of_line(move, board) and len(named) > 1:
            changed = _changed(before, board)
            named = tuple(name for name in named if name in changed)[:1]
        found |= dict.fromkeys(named, "named")
        if len(named) > 1:
            found[named[0]] = "from"
        if named:
            found[named[-1]] = "to"
    return found


def arrows(moves: Iterable[Term], board: Board) -> tuple[tuple[str, ...], ...]:
    """Return the ways of what moved on *board* in the joint move *moves*: the cells of each, in their order."""
    ways = (places(move, board) for move in moves if not _is_of_line(move, board))
    return tuple(way for way in ways if len(way) > 1)


def _is_of_line(move: Term, board: Board) -> bool:
    """Return whether *move* names one thing, which may be a column or a row."""
    return board.layout.kind == "grid" and isinstance(move, Compound) and len(move.arguments) == 1


def _changed(before: Board | None, after: Board) -> set[str]:
    if before is None:
        return set()
    return {
        cell_name(place)
        for place in before.marks.keys() | after.marks.keys()
        if before.marks.get(place) != after.marks.get(place)
    }


def _words(move: Term) -> Iterator[str]:
    """Yield the names inside *move*, in their order."""
    todo: list[Term] = list(reversed(move.arguments)) if isinstance(move, Compound) else []
    n_words = 0
    while todo and n_words < _MAX_WORDS:
        top = todo.pop()
        if isinstance(top, Compound):
            todo += reversed(top.arguments)
        else:
            n_words += 1
            yield str(top)


def _orders(layout: Layout) -> Iterator[tuple[str, ...]]:
    """Yield in which order coordinates stand in the fluents of pieces, each order once."""
    seen = set()
    for pieces in layout.pieces:
        order = tuple(_variables(read_term(pieces.fluent)))
        if order and order not in seen:
            seen.add(order)
            yield order


def _variables(pattern: Term) -> Iterator[str]:
    todo = [pattern]
    while todo:
        top = todo.pop()
        if isinstance(top, Compound):
            todo += reversed(top.arguments)
        elif isinstance(top, Variable) and top.name in _COORDINATES:
            yield top.name


def _named(words: tuple[str, ...], order: tuple[str, ...], cells: Cells) -> Iterator[Place]:
    """Yield the cells that stand in *words* one after the other."""
    start = 0
    while start + len(order) <= len(words):
        values: Mapping[str, str] = dict(zip(order, words[start : start + len(order)], strict=True))
        place = cells.find(values)
        if place is not None:
            yield place
        start += 1 if place is None else len(order)


def _line(word: str, cells: Cells) -> Iterator[Place]:
    """Yield the cells of the column of that name, else of the row."""
    x, y = cells.column(word), cells.row(word)
    if x is not None:
        yield from ((x, row) for row in range(len(cells.rows)))
    elif y is not None:
        yield from ((column, y) for column in range(len(cells.columns)))
