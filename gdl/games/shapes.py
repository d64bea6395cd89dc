"""The shapes that pieces have in pictures: outlines in a square of 48 by 48 units, the origin at the upper left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Outline:
    """A shape as SVG path data: `body` is filled in the piece's colour, `detail` drawn on it in the outline's.

    `has_text` says that the piece's symbol is written on it.
    """

    body: str
    detail: str = ""
    has_text: bool = False


def _circle(x: float, y: float, radius: float) -> str:
    r = f"{radius:g}"
    return f"M{x - radius:g} {y:g}a{r} {r} 0 1 0 {2 * radius:g} 0a{r} {r} 0 1 0 {-2 * radius:g} 0z"


_FOOT: Final = "M12 41v-3q0-3 4-4h16q4 1 4 4v3z"
"""What chess pieces stand on."""

SHAPES: Final[dict[str, Outline]] = {
    "disc": Outline(_circle(24, 24, 17), _circle(24, 24, 11.5)),
    "ring": Outline(_circle(24, 24, 17) + _circle(24, 24, 10)),
    "cross": Outline("M13.4 8 24 18.6 34.6 8 40 13.4 29.4 24 40 34.6 34.6 40 24 29.4 13.4 40 8 34.6 18.6 24 8 13.4z"),
    "square": Outline("M10 10h28v28h-28z"),
    "block": Outline("M1.5 1.5h45v45h-45z", "M1.5 16.5h45M1.5 31.5h45M16.5 1.5v15M31.5 16.5v15M16.5 31.5v15"),
    "diamond": Outline("M24 6 42 24 24 42 6 24z"),
    "triangle": Outline("M24 8 41 38H7z"),
    "star": Outline("M24 6l5.3 11.9 12.9 1.3-9.7 8.6 2.8 12.7L24 33.9 12.7 40.5l2.8-12.7-9.7-8.6 12.9-1.3z"),
    "dot": Outline(_circle(24, 24, 6)),
    "token": Outline(_circle(24, 24, 18), has_text=True),
    "tile": Outline("M8 4h32q4 0 4 4v32q0 4-4 4h-32q-4 0-4-4v-32q0-4 4-4z", has_text=True),
    "pawn": Outline(_circle(24, 15.5, 6.5) + "M17 24h14v3h-3.5q.5 5 5 8h-17q4.5-3 5-8h-3.5z" + _FOOT),
    "knight": Outline(
        "M15 35q-1-6 6-12l-7 3-4-4 7-10 2-6 4 4q12 1 12 15 0 6-2 10z" + _FOOT, _circle(20.5, 15.5, 0.8)
    ),
    "bishop": Outline(
        _circle(24, 7.5, 2.8) + "M24 10q9 8 9 14 0 4-4 6h-10q-4-2-4-6 0-6 9-14zM18 31h12l2 4h-16z" + _FOOT,
        "M24 16v10M19.5 20.5h9",
    ),
    "rook": Outline("M13 8h5v4h4v-4h4v4h4v-4h5v9l-3 3 1 14h-18l1-14-3-3z" + _FOOT, "M16 20h16"),
    "queen": Outline(
        _circle(7.5, 14, 2.5) + _circle(18, 9.5, 2.5) + _circle(30, 9.5, 2.5) + _circle(40.5, 14, 2.5)
        + "M8 16l6 9 4-14 6 12 6-12 4 14 6-9-5 19h-22z" + _FOOT,
        "M14.5 30h19",
    ),
    "king": Outline(
        "M22.5 4h3v3.5h3.5v3h-3.5v5h-3v-5h-3.5v-3h3.5zM24 20q2-6 8-6 8 0 8 7 0 6-7 14h-18q-7-8-7-14 0-7 8-7 6 0 8 6z"
        + _FOOT,
        "M24 20v12M15 32h18",
    ),
    "person": Outline(_circle(24, 14, 7) + "M10 41q0-18 14-18t14 18z"),
    "robot": Outline(
        "M22.5 5h3v6h8.5q3 0 3 3v13q0 3-3 3h-20q-3 0-3-3v-13q0-3 3-3h8.5zM15 32h18q3 0 3 3v6h-24v-6q0-3 3-3z",
        _circle(18.5, 19, 2.2) + _circle(29.5, 19, 2.2) + "M18 25.5h12",
    ),
    "zombie": Outline(
        "M14 8q10-5 20 0 4 3 3 12 0 5-4 8v5l6 2v6h-30v-6l6-2v-5q-4-3-4-8-1-9 3-12z",
        _circle(18.5, 18, 3) + _circle(29.5, 18, 1.8) + "M18 26l3-2 3 2 3-2 3 2",
    ),
    "mummy": Outline(
        "M12 42v-22q0-13 12-13t12 13v22z",
        "M12.5 15l23-3M12 27l24-4M12 33l24 2M12 39l24-3" + _circle(19.5, 19, 1.8) + _circle(28.5, 18, 1.8),
    ),
    "door": Outline("M12 42v-26q0-11 12-11t12 11v26z", _circle(31, 26, 1.2) + "M16 42v-26q0-7 8-7t8 7v26"),
    "flag": Outline("M14 5h3v2q9-4 18 1v15q-9-5-18-1v20h-3z"),
}  # fmt: skip
"""The outline of every shape that a layout may name."""
