"""The drawn part of a board: cells or heaps, each with its name, and what stands there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from xml.etree.ElementTree import Element

from gdl.boards.boards import Board, Place, cell_name
from gdl.boards.geometry import CELL
from gdl.boards.grids import LETTER, PAD, Emphasis, Frame, draw_grid, grid_frame, placed
from gdl.boards.marks import draw_mark
from gdl.boards.pieces import Mark
from gdl.boards.svg import add
from gdl.boards.text import heap_words, pile_words

_MAX_THINGS: Final = 40
_NAME_HEIGHT: Final = 20
_MAX_NAME: Final = 6
_MAX_TRAY_NAME: Final = 30
_BESIDE: Final = 40
"""How far from each other pieces of a tray lie. *Units*: those of the drawing."""


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
                return grid_frame(self.board)
            case "heaps":
                return _heaps_frame(self.board)
            case "stacks":
                return _stacks_frame(self.board)
            case "facts":
                return Frame(PAD, 0, 0)

    def draw(self, picture: Element) -> None:
        """Draw it into *picture*."""
        match self.board.layout.kind:
            case "grid":
                draw_grid(picture, self.board, self.highlighted, is_playable=self.is_playable)
            case "heaps":
                self._heaps(picture)
            case "stacks":
                self._stacks(picture)
            case "facts":
                pass

    def _place(self, inner: Element, place: Place, words: str) -> Element:
        moved = f"translate({CELL * place[0]} {CELL * place[1]})"
        return placed(inner, cell_name(place), moved, self.highlighted, words if self.is_playable else "")

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

    def _stacks(self, picture: Element) -> None:
        frame, step = self.frame, _step(self.board)
        bottom = frame.height - 2 * PAD - _NAME_HEIGHT
        inner = add(picture, "g", transform=f"translate({PAD} {PAD})")
        for number, stack in enumerate(self.board.stacks):
            pile = self._place(inner, (number, 0), pile_words(stack))
            add(pile, "rect", width=CELL, height=bottom, class_="ground", fill="#f3eee3", stroke="#b9ad95")
            for height, mark in enumerate(stack.marks):
                draw_mark(pile, mark, 0, bottom - CELL + (CELL - step) / 2 - step * height)
            if not stack.marks or stack.name != stack.marks[0].value:
                add(pile, "text", stack.name[-_MAX_NAME:], class_="label", x=CELL / 2, y=bottom + 17, font_size=14,
                    text_anchor="middle")  # fmt: skip


def _step(board: Board) -> int:
    """Return how much higher each piece of a stack lies than the one below."""
    is_flat = all(mark.shape == "bar" for stack in board.stacks for mark in stack.marks)
    return 18 if is_flat else CELL - 6


def _stacks_frame(board: Board) -> Frame:
    most = max((len(stack.marks) for stack in board.stacks), default=0)
    height = max(2 * CELL, most * _step(board) + CELL / 2)
    return Frame(PAD, CELL * len(board.stacks) + 2 * PAD, height + 2 * PAD + _NAME_HEIGHT)


def trays_size(board: Board) -> tuple[float, float]:
    """Return the width and the height of the trays of *board*."""
    most = max((len(tray.marks) for tray in board.trays), default=0)
    return (_names_width(board) + most * _BESIDE + 2 * PAD if board.trays else 0), (CELL + PAD) * len(board.trays)


def draw_trays(picture: Element, board: Board, top: float) -> None:
    """Draw what lies beside the board, below *top*: a row for each tray, behind its name."""
    left = _names_width(board)
    for number, tray in enumerate(board.trays):
        row = add(picture, "g", class_="tray", transform=f"translate({PAD} {top + (CELL + PAD) * number:g})")
        add(row, "text", tray.name[:_MAX_TRAY_NAME], class_="line", x=0, y=CELL / 2 + 5, font_size=15)
        for place, mark in enumerate(tray.marks):
            draw_mark(row, mark, left + place * _BESIDE, 0, 1)


def _names_width(board: Board) -> float:
    return max((len(tray.name[:_MAX_TRAY_NAME]) for tray in board.trays), default=0) * LETTER + PAD


def _thing(board: Board, heap: str) -> Mark:
    assert board.layout.heaps is not None
    return Mark(board.layout.heaps.symbol, heap, "yellow", 1, "disc")


def _heaps_frame(board: Board) -> Frame:
    left = max((len(name) for name, _ in board.heaps), default=0) * LETTER + 2 * PAD
    most = max((min(size, _MAX_THINGS) for _, size in board.heaps), default=0)
    return Frame(left, left + most * CELL / 2 + 8 * LETTER + 2 * PAD, 2 * PAD + CELL * len(board.heaps))
