"""The drawn part of a picture, above its captions: a grid with what stands on it, or heaps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias
from xml.etree.ElementTree import Element

from gdl.games.boards import Board, Mark
from gdl.games.cells import Place, cell_name
from gdl.games.pieces import CELL, draw_mark, draw_marks
from gdl.games.svg import add, clean
from gdl.games.wording import cell_words, heap_words

Emphasis: TypeAlias = Literal["from", "to", "named"]
"""Why a cell stands out: a move leaves it, goes there, or names it otherwise."""

LETTER: Final = 8.2
"""What a letter takes at most on average. *Units*: those of the drawing."""
PAD: Final = 6
"""What is left free at the edges. *Units*: those of the drawing."""

_LABEL_HEIGHT: Final = 24
_MAX_LABEL: Final = 6
_MAX_THINGS: Final = 40


@dataclass(frozen=True, slots=True)
class Frame:
    """Where the drawn part lies: `left` is where its cells begin. *Units*: those of the drawing."""

    left: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Canvas:
    """A board about to be drawn; cells of *highlighted* stand out, and playable ones say what they hold."""

    board: Board
    highlighted: Mapping[str, Emphasis]
    is_playable: bool

    @property
    def frame(self) -> Frame:
        """The room that the drawn part takes: none where there are only captions."""
        match self.board.layout.kind:
            case "grid":
                return _grid_frame(self.board)
            case "heaps":
                return _heaps_frame(self.board)
            case "facts":
                return Frame(PAD, 0, 0)

    def draw(self, picture: Element) -> None:
        """Draw it into *picture*."""
        match self.board.layout.kind:
            case "grid":
                self._grid(picture)
            case "heaps":
                self._heaps(picture)
            case "facts":
                pass

    def _grid(self, picture: Element) -> None:
        columns, rows, left = self.board.columns, self.board.rows, self.frame.left
        inner = add(picture, "g", transform=f"translate({left:g} {PAD})")
        for y in range(len(rows)):
            for x in range(len(columns)):
                self._cell(inner, (x, y))
        add(inner, "rect", width=CELL * len(columns), height=CELL * len(rows), class_="frame", fill="none",
            stroke="#7d7260", stroke_width=2)  # fmt: skip
        _draw_lines(inner, self.board)
        if self.board.layout.labels:
            _draw_labels(inner, columns, rows)

    def _cell(self, inner: Element, place: Place) -> None:
        cell = self._place(inner, place, cell_words(self.board, place))
        is_dark = self.board.layout.checkered and (place[0] + len(self.board.rows) - place[1]) % 2 == 1
        add(cell, "rect", width=CELL, height=CELL, class_="ground shade" if is_dark else "ground",
            fill="#d8ccb4" if is_dark else "#f3eee3", stroke="#b9ad95")  # fmt: skip
        draw_marks(cell, self.board.marks.get(place, ()))

    def _place(self, inner: Element, place: Place, words: str) -> Element:
        name = cell_name(place)
        emphasis = self.highlighted.get(name)
        moved = f"translate({CELL * place[0]} {CELL * place[1]})"
        cell = add(inner, "g", class_=f"cell {emphasis}" if emphasis else "cell", data_cell=name, transform=moved)
        if self.is_playable:
            cell.set("aria-label", clean(words))
        return cell

    def _heaps(self, picture: Element) -> None:
        frame = self.frame
        inner = add(picture, "g", transform=f"translate({PAD} {PAD})")
        for number, (name, size) in enumerate(self.board.heaps):
            heap = self._place(inner, (0, number), heap_words(name, size))
            add(heap, "rect", width=frame.width - 2 * PAD, height=CELL, class_="ground", fill="#f3eee3",
                stroke="#b9ad95")  # fmt: skip
            add(heap, "text", name, class_="line", x=PAD, y=CELL / 2 + 5, font_size=15)
            for thing in range(min(size, _MAX_THINGS)):
                draw_mark(heap, _thing(self.board, name), frame.left + thing * CELL / 2, CELL / 4, 0.5)
            add(heap, "text", str(size), class_="line", x=frame.width - 3 * PAD, y=CELL / 2 + 5, font_size=15,
                text_anchor="end")  # fmt: skip


def _thing(board: Board, heap: str) -> Mark:
    assert board.layout.heaps is not None
    return Mark(board.layout.heaps.symbol, heap, "yellow", 1, "disc")


def _grid_frame(board: Board) -> Frame:
    names = max(len(_last(name)[:_MAX_LABEL]) for name in board.rows) if board.layout.labels else 0
    left = PAD + (names * LETTER + PAD if names else 0)
    bottom = _LABEL_HEIGHT if board.layout.labels else PAD
    return Frame(left, left + CELL * len(board.columns) + PAD, PAD + CELL * len(board.rows) + bottom)


def _heaps_frame(board: Board) -> Frame:
    left = max((len(name) for name, _ in board.heaps), default=0) * LETTER + 2 * PAD
    most = max((min(size, _MAX_THINGS) for _, size in board.heaps), default=0)
    return Frame(left, left + most * CELL / 2 + 8 * LETTER + 2 * PAD, 2 * PAD + CELL * len(board.heaps))


def _draw_lines(inner: Element, board: Board) -> None:
    """Draw walls, and the lines between blocks of columns and of rows, whose names have two parts."""
    columns, rows = board.columns, board.rows
    for x in range(1, len(columns)):
        if _block(columns[x - 1]) != _block(columns[x]):
            _line(inner, "block", (x, 0), (x, len(rows)))
    for y in range(1, len(rows)):
        if _block(rows[y - 1]) != _block(rows[y]):
            _line(inner, "block", (0, y), (len(columns), y))
    for (x, y), (x2, _) in sorted(board.walls):
        _line(inner, "wall", *(((x + 1, y), (x + 1, y + 1)) if x2 > x else ((x, y + 1), (x + 1, y + 1))))


def _line(inner: Element, kind: str, start: Place, end: Place) -> None:
    add(inner, "line", class_=kind, x1=CELL * start[0], y1=CELL * start[1], x2=CELL * end[0], y2=CELL * end[1],
        stroke="#3d372e", stroke_width=5 if kind == "wall" else 3, stroke_linecap="round")  # fmt: skip


def _draw_labels(inner: Element, columns: tuple[str, ...], rows: tuple[str, ...]) -> None:
    for x, name in enumerate(columns):
        add(inner, "text", _last(name)[:_MAX_LABEL], class_="label", x=CELL * (x + 0.5), y=CELL * len(rows) + 17,
            font_size=14, text_anchor="middle")  # fmt: skip
    for y, name in enumerate(rows):
        add(inner, "text", _last(name)[:_MAX_LABEL], class_="label", x=-PAD, y=CELL * (y + 0.5) + 5,
            font_size=14, text_anchor="end")  # fmt: skip


def _block(name: str) -> str:
    return name.rpartition(" ")[0]


def _last(name: str) -> str:
    return name.rpartition(" ")[2]
