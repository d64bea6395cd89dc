"""What pictures are drawn of: SVG as elements, and where the cells of a grid lie.

Attributes go by their names, and no text but as text, whatever it holds. Squares and points lie in lines, hexagons are
shifted row by row.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Final, Literal, TypeAlias
from xml.etree.ElementTree import Element, SubElement, tostring

from gdl.boards.boards import Board, Place
from gdl.boards.layout import Side

NAMESPACE: Final = "http://www.w3.org/2000/svg"
_MAX_TEXT: Final = 4_000
Attribute: TypeAlias = str | float
CELL: Final = 48
"""The side of a square cell, and the width of a hexagon from side to side. *Units*: those of the drawing."""
Point: TypeAlias = tuple[float, float]
_HIGH: Final = CELL / sqrt(3) * 2
"""A hexagon from corner to corner."""
_STEP: Final = 0.75 * _HIGH
"""From a row of hexagons to the next one."""
_OVER: Final = (_HIGH - CELL) / 2
_LOW: Final = _HIGH / 4 - _OVER
_POINTY: Final[tuple[Point, ...]] = (
    (CELL / 2, -_OVER), (CELL, _LOW), (CELL, CELL - _LOW), (CELL / 2, CELL + _OVER), (0, CELL - _LOW), (0, _LOW),
)  # fmt: skip
_SQUARE: Final[tuple[Point, ...]] = ((0, 0), (CELL, 0), (CELL, CELL), (0, CELL))
_POINTY_SIDES: Final[tuple[tuple[Side, Side], ...]] = (
    ("north", "east"), ("east", "east"), ("south", "east"), ("south", "west"), ("west", "west"), ("north", "west"),
)  # fmt: skip
"""For each edge, clockwise: the side it is on in the first and the last row, and the side it is on in others."""
_FLAT_SIDES: Final[tuple[tuple[Side, Side], ...]] = (
    ("west", "north"), ("north", "north"), ("east", "north"), ("east", "south"), ("south", "south"), ("west", "south"),
)  # fmt: skip
_SQUARE_SIDES: Final[tuple[tuple[Side, Side], ...]] = (
    ("north", "north"), ("east", "east"), ("south", "south"), ("west", "west"),
)  # fmt: skip


def root(width: float, height: float, **attributes: Attribute) -> Element:
    """Return a picture of that size. *Units*: those of its drawing, pixels where a page does not say otherwise."""
    size = f"0 0 {_text(width)} {_text(height)}"
    return Element("svg", {"xmlns": NAMESPACE, "viewBox": size, **_named({"width": width, "height": height})} | _named(
        attributes
    ))  # fmt: skip


def add(parent: Element, tag: str, text: str = "", **attributes: Attribute) -> Element:
    """Return a new element inside *parent*; `_` in the names of attributes stands for `-`, `class_` for `class`."""
    found = SubElement(parent, tag, _named(attributes))
    if text:
        found.text = clean(text)
    return found


def clean(text: str) -> str:
    """Return *text* cut to a bounded length, without characters that XML refuses or that turn its direction."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[:_MAX_TEXT])


def written(picture: Element) -> str:
    """Return *picture* as text, ready for a page or a file."""
    return tostring(picture, encoding="unicode")


def _named(attributes: dict[str, Attribute]) -> dict[str, str]:
    return {name.rstrip("_").replace("_", "-"): _text(value) for name, value in attributes.items()}


def _text(value: Attribute) -> str:
    return clean(value) if isinstance(value, str) else f"{value:g}"


def _turned(point: Point) -> Point:
    return point[1], CELL - point[0]


_FLAT: Final = (_turned(_POINTY[0]), *(_turned(point) for point in _POINTY[1:]))
"""A hexagon that lies on a side: its corners from the left one, clockwise."""


@dataclass(frozen=True, slots=True)
class Geometry:
    """The cells of a grid as they lie in a picture. *Units*: those of the drawing."""

    cells: Literal["squares", "hexagons", "flat-hexagons", "points", "pits"]
    shift: str
    n_columns: int
    n_rows: int

    @property
    def is_pointy(self) -> bool:
        """Whether cells are hexagons with a corner on top, whose rows are shifted."""
        return self.cells == "hexagons"

    @property
    def is_flat(self) -> bool:
        """Whether cells are hexagons with a side on top, whose columns are shifted."""
        return self.cells == "flat-hexagons"

    def halves(self, place: Place) -> tuple[int, int]:
        """Return where a cell begins. *Units*: half cells, across and down."""
        x, y = place
        if self.is_pointy:
            return 2 * x + self._shifted(y, self.n_rows), 2 * y
        if self.is_flat:
            return 2 * x, 2 * y + self._shifted(x, self.n_columns)
        return 2 * x, 2 * y

    def _shifted(self, line: int, n_lines: int) -> int:
        match self.shift:
            case "right" | "down":
                return line
            case "left" | "up":
                return n_lines - 1 - line
            case "odd":
                return 1 - line % 2
            case _:
                return line % 2

    def corner(self, place: Place) -> Point:
        """Return where the square begins in which a cell's piece stands."""
        across, down = self.halves(place)
        if self.is_pointy:
            return across * CELL / 2, place[1] * _STEP + _OVER
        if self.is_flat:
            return place[0] * _STEP + _OVER, down * CELL / 2
        return across * CELL / 2, down * CELL / 2

    def centre(self, place: Place) -> Point:
        """Return the middle of a cell, which may be outside of the grid."""
        x, y = self.corner(place)
        return x + CELL / 2, y + CELL / 2

    @property
    def size(self) -> Point:
        """The width and the height of the grid."""
        x, y = self.n_columns - 1, self.n_rows - 1
        ends = [(0, 0), (x, 0), (0, y), (x, y), (x, max(0, y - 1)), (max(0, x - 1), y)]
        corners = [self.corner(place) for place in ends]
        over_x, over_y = (_OVER if self.is_flat else 0), (_OVER if self.is_pointy else 0)
        return max(left for left, _ in corners) + CELL + over_x, max(top for _, top in corners) + CELL + over_y

    @property
    def corners(self) -> tuple[Point, ...]:
        """The corners of a cell, clockwise, from where its square begins."""
        return _POINTY if self.is_pointy else _FLAT if self.is_flat else _SQUARE

    @property
    def outline(self) -> str:
        """The edge of a cell as path data, from where its square begins."""
        return f"M{' '.join(f'{x:g} {y:g}' for x, y in self.corners)}z"

    def around(self, place: Place) -> Iterator[tuple[Place | None, Side, Point, Point]]:
        """Yield each edge of a cell, clockwise: the cell behind it, the side of the board it would be on, its ends."""
        corners, (left, top) = self.corners, self.corner(place)
        sides = _POINTY_SIDES if self.is_pointy else _FLAT_SIDES if self.is_flat else _SQUARE_SIDES
        for number, (outer, inner) in enumerate(sides):
            (x, y), (x2, y2) = corners[number], corners[(number + 1) % len(corners)]
            is_outer = place[1] in (0, self.n_rows - 1) if self.is_pointy else place[0] in (0, self.n_columns - 1)
            side = outer if is_outer and self._is_at(place, outer) else inner
            yield self._behind(place, number), side, (left + x, top + y), (left + x2, top + y2)

    def _is_at(self, place: Place, side: Side) -> bool:
        ends = {"north": place[1] == 0, "south": place[1] == self.n_rows - 1, "west": place[0] == 0}
        return ends.get(side, place[0] == self.n_columns - 1)

    def _behind(self, place: Place, number: int) -> Place | None:
        """Return the cell behind the edge of that number, None where that is outside of the grid."""
        x, y = place
        if self.is_pointy:
            step = (-1, 0, 1, 1, 0, -1)[number]
            found = (x + (1 if number == 1 else -1), y)
            if step:
                across = self.halves(place)[0] + (1 if number in (0, 2) else -1)
                found = ((across - self._shifted(y + step, self.n_rows)) // 2, y + step)
        elif self.is_flat:
            step = (-1, 0, 1, 1, 0, -1)[number]
            found = (x, y + (-1 if number == 1 else 1))
            if step:
                down = self.halves(place)[1] + (1 if number in (3, 5) else -1)
                found = (x + step, (down - self._shifted(x + step, self.n_columns)) // 2)
        else:
            found = (x + (0, 1, 0, -1)[number], y + (-1, 0, 1, 0)[number])
        is_inside = 0 <= found[0] < self.n_columns and 0 <= found[1] < self.n_rows
        return found if is_inside else None


def geometry_of(board: Board) -> Geometry:
    """Return where the cells of *board* lie."""
    layout = board.layout
    shift = layout.shift or ("down" if layout.cells == "flat-hexagons" else "right")
    return Geometry(layout.cells, shift, len(board.columns), len(board.rows))
