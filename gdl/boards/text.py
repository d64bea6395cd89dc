"""A board as text: drawn in ASCII or the signs of Unicode, with a hook for colours, and described in words."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, TypeAlias

from gdl.boards.boards import Board, Place
from gdl.boards.geometry import Geometry, geometry_of
from gdl.boards.layout import Layout, PieceAppearance
from gdl.boards.pieces import Mark, Pile

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


_CHESS: Final = {"king": "♚♔", "queen": "♛♕", "rook": "♜♖", "bishop": "♝♗", "knight": "♞♘", "pawn": "♟♙"}
_GLYPHS: Final = _CHESS | {
    "disc": "●○◉◎", "stone": "●○◉◎", "man": "⛂⛀●○", "crowned": "⛃⛁◉◎", "ring": "○◯◌", "cross": "✕✖", "square": "■□▣",
    "diamond": "◆◇", "triangle": "▲△", "star": "★☆", "dot": "•∙", "block": "▒░", "flag": "⚑⚐",
}  # fmt: skip
"""The signs of shapes: first that of dark pieces, then that of white ones, then those of further ones."""
_DICE: Final = "⚀⚁⚂⚃⚄⚅"
_EMPTY: Final = "·"


def in_unicode(board: Board) -> Board:
    """Return *board* with signs in the place of symbols, where every piece of its layout has one of its own."""
    signs = dict(_signs(board.layout))
    return replace(
        board,
        layout=board.layout.model_copy(update={"empty": _EMPTY}) if board.layout.empty == "." else board.layout,
        marks={place: tuple(_signed(mark, signs) for mark in marks) for place, marks in board.marks.items()},
        stacks=tuple(_pile(stack, signs) for stack in board.stacks),
        trays=tuple(_pile(tray, signs) for tray in board.trays),
    )


def _pile(pile: Pile, signs: dict[tuple[str, str | None], str]) -> Pile:
    return Pile(pile.name, tuple(_signed(mark, signs) for mark in pile.marks))


def _signed(mark: Mark, signs: dict[tuple[str, str | None], str]) -> Mark:
    if mark.count > 1:
        return mark
    if mark.shape == "die" and mark.number is not None and 1 <= mark.number <= len(_DICE):
        return replace(mark, symbol=_DICE[mark.number - 1])
    return replace(mark, symbol=mark.sign or signs.get((mark.symbol, mark.shape), mark.symbol))


@lru_cache(maxsize=64)
def _signs_of(entries: tuple[tuple[str, str, str | None], ...]) -> tuple[tuple[tuple[str, str | None], str], ...]:
    """Return a sign for each symbol and shape: no two symbols have the same one."""
    found: dict[tuple[str, str | None], str] = {}
    for symbol, shape, fill in entries:
        choice = _GLYPHS.get(shape, "")
        ordered = choice[1:2] + choice[:1] + choice[2:] if fill in ("white", "bright_white") else choice
        free = [glyph for glyph in ordered if glyph not in found.values()]
        if free:
            found.setdefault((symbol, shape), free[0])
    return tuple(found.items())


def _signs(layout: Layout) -> Iterator[tuple[tuple[str, str | None], str]]:
    every = (*layout.pieces, *layout.stacks, *layout.trays)
    yield from _signs_of(tuple(dict.fromkeys(entry for pieces in every for entry in _of(pieces))))


def _of(pieces: PieceAppearance) -> Iterator[tuple[str, str, str | None]]:
    """Yield symbol, shape and colour of every piece that *pieces* names, the white ones first."""
    named = pieces.symbols or ({"": pieces.symbol} if pieces.symbol else {})
    entries = (
        (
            symbol,
            pieces.shapes.get(value, pieces.shape),
            pieces.fills.get(value, pieces.fill) or pieces.colours.get(value),
        )
        for value, symbol in named.items()
    )
    drawn = [(symbol, shape, fill) for symbol, shape, fill in entries if shape]
    yield from sorted(drawn, key=lambda entry: entry[2] not in ("white", "bright_white"))
