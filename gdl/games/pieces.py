"""Pieces in pictures: the marks of one cell, as shapes or as signs, side by side where there are several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from xml.etree.ElementTree import Element

from gdl.games.boards import Mark
from gdl.games.palette import COLOURS, DARK
from gdl.games.shapes import SHAPES
from gdl.games.svg import add
from gdl.games.wording import mark_words

CELL: Final = 48
"""The side of a cell. *Units*: those of the drawing."""

_UNDER: Final = frozenset({"block", "door", "square", "dot"})
"""Shapes that lie under whatever else stands in their cell."""
_MAX_MARKS: Final = 4
_SIGN_SIZES: Final = {1: 26, 2: 20}
_PLAIN: Final = "bright_white"


def draw_marks(cell: Element, marks: Sequence[Mark]) -> None:
    """Draw what stands in a cell; of more than four things the number says how many they are."""
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
    outline, colour = SHAPES[shape], mark.fill or mark.colour or _PLAIN
    edge = COLOURS["bright_black"] if colour == "black" else COLOURS["black"]
    on, ink = ("on-dark", "#ffffff") if colour in DARK else ("on-light", COLOURS["black"])
    add(group, "path", d=outline.body, class_=f"piece {colour}", fill=COLOURS[colour], fill_rule="evenodd",
        stroke=edge, stroke_width=1.5, stroke_linejoin="round")  # fmt: skip
    if outline.detail:
        add(group, "path", d=outline.detail, class_=f"detail {on}", fill="none", stroke=ink, stroke_width=1.5,
            stroke_linecap="round")  # fmt: skip
    if outline.has_text:
        _text(group, mark.symbol, on, 0.8)


def _sign(group: Element, mark: Mark) -> None:
    colour = mark.fill or mark.colour
    _text(group, mark.symbol, f"sign {colour}" if colour else "sign", 1)


def _text(group: Element, symbol: str, class_: str, scale: float) -> None:
    size = scale * _SIGN_SIZES.get(len(symbol), 16)
    add(group, "text", symbol, class_=class_, x=CELL / 2, y=CELL / 2 + 0.36 * size, font_size=size,
        font_weight="bold", text_anchor="middle")  # fmt: skip


def _badge(group: Element, count: int) -> None:
    add(group, "circle", cx=CELL - 10, cy=CELL - 10, r=9, class_="piece bright_white", fill="#fff", stroke="#23272e")
    add(group, "text", str(count) if count < 100 else "99+", class_="on-light", x=CELL - 10, y=CELL - 5.5,
        font_size=13 if count < 10 else 10, font_weight="bold", text_anchor="middle")  # fmt: skip
