"""Where the cells of a grid lie: squares and points in lines, hexagons in lines that are shifted."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Final, Literal, NamedTuple, TypeAlias

from gdl.boards.boards import Board, Place
from gdl.boards.field_types import Side

CELL: Final = 48
"""The side of a square cell, and the width of a hexagon from side to side. *Units*: those of the drawing."""
Point: TypeAlias = tuple[float, float]
_HIGH: Final = CELL / sqrt(3) * 2
"""A hexagon from corner to corner."""
_STEP: Final = 0.75 * _HIGH
"""From a row of hexagons to the next one."""
_OVER: Final = (_HIGH - CELL) / 2
_LOW: Final = _HIGH / 4 - _OVER


class _Shape(NamedTuple):
    """A shape of cells: its corners, clockwise, and of the edge that begins at each which side it is on.

    `sides` has the side in the first and the last line of cells, and that in others; `behind` where the cell behind the
    edge begins. *Units*: half cells, to the right and down, for `behind`.
    """

    corners: tuple[Point, ...]
    sides: tuple[tuple[Side, Side], ...]
    behind: tuple[tuple[int, int], ...]


def _turned(point: Point) -> Point:
    return point[1], CELL - point[0]


_SQUARE: Final = _Shape(
    corners=((0, 0), (CELL, 0), (CELL, CELL), (0, CELL)),
    sides=(("north", "north"), ("east", "east"), ("south", "south"), ("west", "west")),
    behind=((0, -2), (2, 0), (0, 2), (-2, 0)),
)
_POINTY: Final = _Shape(
    corners=(
        (CELL / 2, -_OVER), (CELL, _LOW), (CELL, CELL - _LOW), (CELL / 2, CELL + _OVER), (0, CELL - _LOW), (0, _LOW),
    ),
    sides=(
        ("north", "east"), ("east", "east"), ("south", "east"), ("south", "west"), ("west", "west"), ("north", "west"),
    ),
    behind=((1, -2), (2, 0), (1, 2), (-1, 2), (-2, 0), (-1, -2)),
)  # fmt: skip
"""A hexagon that stands on a corner."""
_FLAT: Final = _Shape(
    corners=tuple(map(_turned, _POINTY.corners)),
    sides=(
        ("west", "north"), ("north", "north"), ("east", "north"),
        ("east", "south"), ("south", "south"), ("west", "south"),
    ),
    behind=((-2, -1), (0, -2), (2, -1), (2, 1), (0, 2), (-2, 1)),
)  # fmt: skip
"""A hexagon that lies on a side: its corners from the left one."""


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
        return self._shape.corners

    @property
    def _shape(self) -> _Shape:
        return _POINTY if self.is_pointy else _FLAT if self.is_flat else _SQUARE

    @property
    def outline(self) -> str:
        """The edge of a cell as path data, from where its square begins."""
        return f"M{' '.join(f'{x:g} {y:g}' for x, y in self.corners)}z"

    def around(self, place: Place) -> Iterator[tuple[Place | None, Side, Point, Point]]:
        """Yield each edge of a cell, clockwise: the cell behind it, the side of the board it would be on, its ends."""
        corners, (left, top) = self.corners, self.corner(place)
        for number, (outer, inner) in enumerate(self._shape.sides):
            (x, y), (x2, y2) = corners[number], corners[(number + 1) % len(corners)]
            is_outer = place[1] in (0, self.n_rows - 1) if self.is_pointy else place[0] in (0, self.n_columns - 1)
            side = outer if is_outer and self._is_at(place, outer) else inner
            yield self._behind(place, number), side, (left + x, top + y), (left + x2, top + y2)

    def _is_at(self, place: Place, side: Side) -> bool:
        ends = {"north": place[1] == 0, "south": place[1] == self.n_rows - 1, "west": place[0] == 0}
        return ends.get(side, place[0] == self.n_columns - 1)

    def _behind(self, place: Place, number: int) -> Place | None:
        """Return the cell behind the edge of that number, None where that is outside of the grid."""
        (across, down), (right, below) = self.halves(place), self._shape.behind[number]
        x, y = self._beginning_at(across + right, down + below)
        return (x, y) if 0 <= x < self.n_columns and 0 <= y < self.n_rows else None

    def _beginning_at(self, across: int, down: int) -> Place:
        """Return the cell that begins there, which may be outside of the grid. *Units*: half cells."""
        x, y = across // 2, down // 2
        if self.is_pointy:
            return (across - self._shifted(y, self.n_rows)) // 2, y
        if self.is_flat:
            return x, (down - self._shifted(x, self.n_columns)) // 2
        return x, y


def geometry_of(board: Board) -> Geometry:
    """Return where the cells of *board* lie."""
    layout = board.layout
    shift = layout.shift or ("down" if layout.cells == "flat-hexagons" else "right")
    return Geometry(layout.cells, shift, len(board.columns), len(board.rows))
