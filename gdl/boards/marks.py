"""What stands in one cell of a picture: pieces by their shapes, signs, and how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from xml.etree.ElementTree import Element

from gdl.boards.geometry import CELL
from gdl.boards.pieces import Mark
from gdl.boards.shapes import COLOURS, DARK, numbered
from gdl.boards.svg import add
from gdl.boards.text import mark_words

_UNDER: Final = frozenset({"block", "door", "square", "dot"})
"""Shapes that lie under whatever else stands in their cell."""
_MAX_MARKS: Final = 4
_SIGN_SIZES: Final = {1: 26, 2: 20}
_PLAIN: Final = "bright_white"


def draw_marks(cell: Element, marks: Sequence[Mark], *, is_down: bool = True) -> None:
    """Draw what stands in a cell; of more than four things the number says how many they are.

    *is_down* says that the next row is the one below, for what stands between.
    """
    for mark in marks:
        if mark.is_between:
            draw_mark(cell, mark, CELL / 2, CELL / 2 if is_down else -CELL / 2)
    marks = [mark for mark in marks if not mark.is_between]
    if not marks:
        return
    under = [mark for mark in marks[:-1] if mark.shape in _UNDER]
    over = [mark for mark in marks[:-1] if mark.shape not in _UNDER] + [marks[-1]]
    for mark in under[-1:]:
        draw_mark(cell, mark)
    if len(over) == 1:
        draw_mark(cell, over[0])
        return
    for number, mark in enumerate(over[-_MAX_MARKS:]):
        draw_mark(cell, mark, CELL / 2 * (number % 2), CELL / 2 * (number // 2), 0.5)
    if len(over) > _MAX_MARKS:
        _badge(cell, len(over))


def draw_mark(cell: Element, mark: Mark, x: float = 0, y: float = 0, scale: float = 1) -> None:
    """Draw *mark* into a square whose upper left corner is given, of a cell's side times *scale*."""
    moved = f"translate({x:g} {y:g}) scale({scale:g})"
    group = add(cell, "g", **({"transform": moved} if (x, y, scale) != (0, 0, 1) else {}))
    add(group, "title", mark_words(mark))
    if mark.shape is None:
        _sign(group, mark)
    else:
        _shape(group, mark, mark.shape)
    if mark.count > 1 and mark.shape is not None:
        _badge(group, mark.count)


def _shape(group: Element, mark: Mark, shape: str) -> None:
    outline, colour = numbered(shape, mark.number), mark.fill or mark.colour or _PLAIN
    paper = _PLAIN if shape == "card" else colour
    edge = COLOURS["bright_black"] if paper == "black" else COLOURS["black"]
    on, ink = ("on-dark", "#ffffff") if paper in DARK else ("on-light", COLOURS["black"])
    if outline.body:
        add(group, "path", d=outline.body, class_=f"piece {paper}", fill=COLOURS[paper], fill_rule="evenodd",
            stroke=edge, stroke_width=1.5, stroke_linejoin="round")  # fmt: skip
    if outline.detail:
        add(group, "path", d=outline.detail, class_=f"detail {on}", fill="none", stroke=ink, stroke_width=1.5,
            stroke_linecap="round")  # fmt: skip
    if outline.ink:
        add(group, "path", d=outline.ink, class_=f"ink {on}", fill=ink, fill_rule="evenodd")
    if outline.has_text:
        is_print = shape == "card" and colour in DARK
        _piece_text(
            group, mark.sign or mark.symbol, f"print {colour}" if is_print else on, 0.5 if shape == "bar" else 0.8
        )
    if shape == "seeds" and mark.number:
        _badge(group, mark.number)


def _sign(group: Element, mark: Mark) -> None:
    colour = mark.fill or mark.colour
    _piece_text(group, mark.sign or mark.symbol, f"sign {colour}" if colour else "sign", 1)


def _piece_text(group: Element, symbol: str, class_: str, scale: float) -> None:
    size = scale * _SIGN_SIZES.get(len(symbol), 16 if len(symbol) <= 4 else 11)
    add(group, "text", symbol, class_=class_, x=CELL / 2, y=CELL / 2 + 0.36 * size, font_size=size,
        font_weight="bold", text_anchor="middle")  # fmt: skip


def _badge(group: Element, count: int) -> None:
    add(group, "circle", cx=CELL - 10, cy=CELL - 10, r=9, class_="piece bright_white", fill="#fff", stroke="#23272e")
    add(group, "text", str(count) if count < 100 else "99+", class_="on-light", x=CELL - 10, y=CELL - 5.5,
        font_size=13 if count < 10 else 10, font_weight="bold", text_anchor="middle")  # fmt: skip
