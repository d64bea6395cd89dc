"""What stands in one cell of a picture: the outlines of shapes, signs, and how many there are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import cos, sin, sqrt
from typing import Final
from xml.etree.ElementTree import Element

from gdl.boards.geometry import CELL
from gdl.boards.pieces import Mark
from gdl.boards.svg import add
from gdl.boards.text import mark_words

COLOURS: Final = {
    "black": "#23272e", "red": "#cf3f34", "green": "#2f9153", "yellow": "#e9b824",
    "blue": "#2f66c4", "magenta": "#a3479f", "cyan": "#1f94a8", "white": "#f4f1ea",
    "bright_black": "#7d848d", "bright_red": "#ee7265", "bright_green": "#6cc274", "bright_yellow": "#f7dc6b",
    "bright_blue": "#74a2ee", "bright_magenta": "#d68ad2", "bright_cyan": "#68c7d6", "bright_white": "#ffffff",
}  # fmt: skip
"""What the colours are where no style sheet is read; `board.css` has the same."""

DARK: Final = frozenset({"black", "red", "green", "blue", "magenta", "cyan", "bright_black"})
"""The colours on which text is light."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape as SVG path data: `body` is filled in the piece's colour, `detail` drawn on it in the outline's.

    `ink` is filled in the outline's colour. `has_text` says that the piece's sign is written on it.
    """

    body: str
    detail: str = ""
    has_text: bool = False
    ink: str = ""


def circle(x: float, y: float, radius: float) -> str:
    """Return a circle as path data."""
    r = f"{radius:g}"
    return f"M{x - radius:g} {y:g}a{r} {r} 0 1 0 {2 * radius:g} 0a{r} {r} 0 1 0 {-2 * radius:g} 0z"


_FOOT: Final = "M13.5 38.5q.2-3.5 2.5-3.5h16q2.3 0 2.5 3.5zM10.5 43.5v-2.2q0-2.8 2.5-2.8h22q2.5 0 2.5 2.8v2.2z"
"""What chess pieces stand on."""
_CROWN_FOOT: Final = "M14.6 29h18.8l-.9 3h-17zM15.5 32h17q.2 1.8 1.5 3h-20q1.3-1.2 1.5-3z" + _FOOT

SHAPES: Final[dict[str, Shape]] = {
    "disc": Shape(circle(24, 24, 17), circle(24, 24, 11.5)),
    "stone": Shape(circle(24, 24, 20.5), "M10.5 20q2.5-8.5 11-10.5"),
    "man": Shape(circle(24, 24, 18.5), circle(24, 24, 14) + circle(24, 24, 7)),
    "crowned": Shape(
        circle(24, 24, 18.5), circle(24, 24, 15.5),
        ink="M15.5 31.5l-2.3-13.2 6.6 5.2 4.2-8.2 4.2 8.2 6.6-5.2-2.3 13.2zM15.8 33h16.4v2h-16.4z",
    ),
    "ring": Shape(circle(24, 24, 17) + circle(24, 24, 10)),
    "cross": Shape("M13.4 8 24 18.6 34.6 8 40 13.4 29.4 24 40 34.6 34.6 40 24 29.4 13.4 40 8 34.6 18.6 24 8 13.4z"),
    "square": Shape("M10 10h28v28h-28z"),
    "block": Shape("M1.5 1.5h45v45h-45z", "M1.5 16.5h45M1.5 31.5h45M16.5 1.5v15M31.5 16.5v15M16.5 31.5v15"),
    "diamond": Shape("M24 6 42 24 24 42 6 24z"),
    "triangle": Shape("M24 8 41 38H7z"),
    "star": Shape("M24 6l5.3 11.9 12.9 1.3-9.7 8.6 2.8 12.7L24 33.9 12.7 40.5l2.8-12.7-9.7-8.6 12.9-1.3z"),
    "dot": Shape(circle(24, 24, 6)),
    "token": Shape(circle(24, 24, 18), has_text=True),
    "tile": Shape("M8 4h32q4 0 4 4v32q0 4-4 4h-32q-4 0-4-4v-32q0-4 4-4z", has_text=True),
    "card": Shape("M12 3h24q3 0 3 3v36q0 3-3 3h-24q-3 0-3-3v-36q0-3 3-3z", has_text=True),
    "back": Shape(
        "M12 3h24q3 0 3 3v36q0 3-3 3h-24q-3 0-3-3v-36q0-3 3-3z",
        "M13 7h22v34h-22zM13 15.5l8.5-8.5M13 24l17-17M13 32.5l22-22M15 41l20-20M24 41l11-11"
        "M35 15.5l-8.5-8.5M35 24l-17-17M35 32.5l-22-22M33 41l-20-20M24 41l-11-11",
    ),
    "die": Shape("M12 6h24q6 0 6 6v24q0 6-6 6h-24q-6 0-6-6v-24q0-6 6-6z"),
    "seeds": Shape(""),
    "bar": Shape(""),
    "pawn": Shape(
        circle(24, 13, 6.5) + "M17 19.8h14q1.3 0 1.3 1.5t-1.3 1.5h-2.8q.4 7.6 4.3 12.2h-17q3.9-4.6 4.3-12.2h-2.8"
        "q-1.3 0-1.3-1.5t1.3-1.5z" + _FOOT
    ),
    "knight": Shape(
        "M15.5 35c0-6.5 5-7.8 7-12.2-2 1.8-4.8 2.4-7 2.9l-2.2 2.5q-1.8.9-3.2-.5l-1.4-1.7q-.9-1.6.2-3.2l5-8.1"
        "q.8-3.2 2.9-4.7l-.3-5 4.6 3.1q.9-1.3 2.2-2.3l1.4 2.9c8 1.4 11.8 8.7 11.8 16.3 0 4-1.4 7-3 10z" + _FOOT,
        "M25.5 12.5q6.5 3.5 6.8 13.5M11.6 24.6l1.4-.9",
        ink=circle(18.6, 15.4, 1.4),
    ),
    "bishop": Shape(
        circle(24, 6.6, 2.6) + "M24 9.2q9 6.6 9 13.4 0 4.2-4 5.9h-10q-4-1.7-4-5.9 0-6.8 9-13.4z"
        "M17 28.5h14q1.3 0 1.3 1.4t-1.3 1.4h-14q-1.3 0-1.3-1.4t1.3-1.4z"
        "M18.6 31.3h10.8q.6 2.4 2.3 3.7h-15.4q1.7-1.3 2.3-3.7z" + _FOOT,
        "M28.4 14.2l-4.6 7.6",
    ),
    "rook": Shape(
        "M12 6.5h5.4v4h4v-4h5.2v4h4v-4h5.4v8.3q0 1.9-2.8 2.9h-18.4q-2.8-1-2.8-2.9zM16 17.7h16l1.4 17.3h-18.8z" + _FOOT,
        "M15.4 30.5h17.2",
    ),
    "queen": Shape(
        circle(7.6, 13.4, 2.4) + circle(15.6, 8.8, 2.4) + circle(24, 7, 2.4) + circle(32.4, 8.8, 2.4)
        + circle(40.4, 13.4, 2.4)
        + "M8.3 15.7l6.2 6.8 1.3-11.4 5.4 10 2.8-11.7 2.8 11.7 5.4-10 1.3 11.4 6.2-6.8-4.6 13.3h-22.2z" + _CROWN_FOOT,
    ),
    "king": Shape(
        "M22.5 3h3v3.2h3.3v3h-3.3v8.3h-3v-8.3h-3.3v-3h3.3z"
        "M24 17.5c1-2.8 3.6-4.7 7.2-4.7 4.6 0 7.7 2.9 7.7 6.9 0 3.8-2.5 6.7-5.5 9.3h-18.8c-3-2.6-5.5-5.5-5.5-9.3"
        " 0-4 3.1-6.9 7.7-6.9 3.6 0 6.2 1.9 7.2 4.7z" + _CROWN_FOOT,
        "M24 18.5v9.5",
    ),
    "person": Shape(circle(24, 14, 7) + "M10 41q0-18 14-18t14 18z"),
    "robot": Shape(
        "M22.5 5h3v6h8.5q3 0 3 3v13q0 3-3 3h-20q-3 0-3-3v-13q0-3 3-3h8.5zM15 32h18q3 0 3 3v6h-24v-6q0-3 3-3z",
        circle(18.5, 19, 2.2) + circle(29.5, 19, 2.2) + "M18 25.5h12",
    ),
    "zombie": Shape(
        "M14 8q10-5 20 0 4 3 3 12 0 5-4 8v5l6 2v6h-30v-6l6-2v-5q-4-3-4-8-1-9 3-12z",
        circle(18.5, 18, 3) + circle(29.5, 18, 1.8) + "M18 26l3-2 3 2 3-2 3 2",
    ),
    "mummy": Shape(
        "M12 42v-22q0-13 12-13t12 13v22z",
        "M12.5 15l23-3M12 27l24-4M12 33l24 2M12 39l24-3" + circle(19.5, 19, 1.8) + circle(28.5, 18, 1.8),
    ),
    "door": Shape("M12 42v-26q0-11 12-11t12 11v26z", circle(31, 26, 1.2) + "M16 42v-26q0-7 8-7t8 7v26"),
    "flag": Shape("M14 5h3v2q9-4 18 1v15q-9-5-18-1v20h-3z"),
}  # fmt: skip
"""The outline of every shape that a layout may name; those without a body are drawn by their number."""

_PIPS: Final = {
    1: ((0, 0),), 2: ((-1, -1), (1, 1)), 3: ((-1, -1), (0, 0), (1, 1)), 4: ((-1, -1), (1, -1), (-1, 1), (1, 1)),
    5: ((-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)), 6: ((-1, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (1, 1)),
}  # fmt: skip
_MAX_SEEDS: Final = 30
_MAX_BAR: Final = 8
_GOLDEN: Final = 2.399963
"""The angle between two seeds that follow one another, in radians: they lie as in a sunflower."""


def numbered(shape: str, number: int | None) -> Shape:
    """Return the outline of *shape* for a piece of that *number*: pips of a die, seeds of a pit, a bar's width."""
    outline = SHAPES[shape]
    if number is None:
        return SHAPES["token"] if shape in ("die", "seeds", "bar") else outline
    if shape == "die":
        pips = "".join(circle(24 + 10 * x, 24 + 10 * y, 3.4) for x, y in _PIPS.get(number, ()))
        return replace(outline, ink=pips, has_text=number not in _PIPS)
    if shape == "seeds":
        return Shape("".join(_seed(n) for n in range(min(number, _MAX_SEEDS))))
    if shape == "bar":
        half = 5 + 18 * min(number, _MAX_BAR) / _MAX_BAR
        return Shape(
            f"M{24 - half:g} 16h{2 * half:g}q2 0 2 2v12q0 2-2 2h{-2 * half:g}q-2 0-2-2v-12q0-2 2-2z", has_text=True
        )
    return outline


def _seed(n: int) -> str:
    away, turn = 3.1 * sqrt(n + 0.4), n * _GOLDEN
    return circle(round(24 + away * cos(turn), 1), round(22 + away * sin(turn), 1), 2.7)


_UNDER: Final = frozenset({"block", "door", "square", "dot"})
"""Shapes that lie under whatever else stands in their cell."""
_MAX_MARKS: Final = 4
_SIGN_SIZES: Final = {1: 26, 2: 20}
_PLAIN: Final = "bright_white"


def draw_marks(cell: Element, marks: Sequence[Mark], *, is_down: bool) -> None:
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
