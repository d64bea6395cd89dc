"""A grid as a picture: its cells, the lines and walls between them, its edge, the names of columns and rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Final, Literal, TypeAlias
from xml.etree.ElementTree import Element

from gdl.boards.boards import Board, Cells, Place, cell_name
from gdl.boards.field_types import Side
from gdl.boards.geometry import CELL, Geometry, Point, geometry_of
from gdl.boards.marks import COLOURS, draw_marks
from gdl.boards.svg import add, clean
from gdl.boards.text import cell_words

Emphasis: TypeAlias = Literal["from", "to", "named"]
"""Why a cell stands out: a move leaves it, goes there, or names it otherwise."""

LETTER: Final = 8.2
"""What a letter takes at most on average. *Units*: those of the drawing."""
PAD: Final = 6
"""What is left free at the edges. *Units*: those of the drawing."""

_LABEL_HEIGHT: Final = 24
_MAX_LABEL: Final = 6
_SPOT: Final = 21
"""The radius of what stands out of a point. *Units*: those of the drawing."""
_GROUND: Final = "#f3eee3"
_SHADE: Final = "#d8ccb4"
_LINE: Final = "#b9ad95"
_FRAME: Final = "#7d7260"
_TRACK: Final = "#5b4a2f"
_HEAD: Final = 14


@dataclass(frozen=True, slots=True)
class Frame:
    """Where the drawn part lies: `left` is where its cells begin. *Units*: those of the drawing."""

    left: float
    width: float
    height: float


def grid_frame(board: Board) -> Frame:
    """Return the room that the grid of *board* takes."""
    width, height = geometry_of(board).size
    names = max(len(_last(name)[:_MAX_LABEL]) for name in board.rows) if board.layout.labels else 0
    left = PAD + (names * LETTER + PAD if names else 0)
    bottom = _LABEL_HEIGHT if board.layout.labels else PAD
    return Frame(left, left + width + PAD, PAD + height + bottom)


def placed(inner: Element, name: str, moved: str, highlighted: Mapping[str, Emphasis], words: str) -> Element:
    """Return a new cell called *name*, *moved* to its place; *words* are what screen readers say, if they do."""
    emphasis = highlighted.get(name)
    cell = add(inner, "g", class_=f"cell {emphasis}" if emphasis else "cell", data_cell=name, transform=moved)
    if words:
        cell.set("role", "img")
        cell.set("aria-label", clean(words))
    return cell


def draw_grid(picture: Element, board: Board, highlighted: Mapping[str, Emphasis], *, is_playable: bool) -> None:
    """Draw the grid of *board*; *highlighted* cells stand out, and those of a playable one have names."""
    geometry = geometry_of(board)
    inner = add(picture, "g", transform=f"translate({grid_frame(board).left:g} {PAD})")
    if geometry.cells in ("points", "pits"):
        _draw_wood(inner, geometry)
    if geometry.cells == "points":
        _draw_points(inner, board, geometry)
        _draw_segments(inner, board, geometry)
    for place in board.places:
        x, y = geometry.corner(place)
        words = cell_words(board, place) if is_playable else ""
        cell = placed(inner, cell_name(place), f"translate({x:g} {y:g})", highlighted, words)
        _draw_ground(cell, board, geometry, place)
        if place in board.unknown:
            add(cell, "text", "?", class_="unknown", x=CELL / 2, y=CELL / 2 + 8, font_size=22, text_anchor="middle")
        if board.layout.numbered is not None:
            _draw_number(cell, board, place)
        draw_marks(cell, board.marks.get(place, ()), is_down=board.layout.y == "down")
    if geometry.cells not in ("points", "pits"):
        _draw_edge(inner, board, geometry)
    if geometry.cells != "points":
        _draw_segments(inner, board, geometry)
    _draw_sides(inner, board, geometry)
    _draw_lines(inner, board, geometry)
    if board.layout.labels:
        _draw_labels(inner, board, geometry)


def _draw_ground(cell: Element, board: Board, geometry: Geometry, place: Place) -> None:
    is_dark = board.layout.checkered and (place[0] + len(board.rows) - place[1]) % 2 == 1
    class_, fill = ("ground shade", _SHADE) if is_dark or place in board.unknown else ("ground", _GROUND)
    match geometry.cells:
        case "squares":
            add(cell, "rect", width=CELL, height=CELL, class_=class_, fill=fill, stroke=_LINE)
        case "points":
            add(cell, "circle", cx=CELL / 2, cy=CELL / 2, r=_SPOT, class_="ground spot", fill="none")
        case "pits":
            add(cell, "circle", cx=CELL / 2, cy=CELL / 2, r=_SPOT, class_="ground pit", fill="#d3b27a", stroke=_LINE)
        case _:
            add(cell, "path", d=geometry.outline, class_=class_, fill=fill, stroke=_LINE)


def _draw_number(cell: Element, board: Board, place: Place) -> None:
    number = Cells(board.layout).number(place)
    add(cell, "text", str(number), class_="label", x=4, y=13, font_size=11)


def _draw_wood(inner: Element, geometry: Geometry) -> None:
    width, height = geometry.size
    add(inner, "rect", width=width, height=height, rx=4, class_="wood", fill="#e6cd9c", stroke=_LINE)


def _draw_points(inner: Element, board: Board, geometry: Geometry) -> None:
    """Draw the lines of columns and rows, where no others are given."""
    if not board.layout.lines:
        steps = [_path(geometry, run) for run in (*_runs(board, 1), *_runs(board, 0))]
        add(inner, "path", d="".join(steps), class_="track", fill="none", stroke=_TRACK, stroke_width=1.5)


def _draw_segments(inner: Element, board: Board, geometry: Geometry) -> None:
    """Draw the lines between cells, and the points that stand out: all where there are lines."""
    for segment in board.segments:
        (x, y), (x2, y2) = geometry.centre(segment.start), geometry.centre(segment.end)
        class_ = f"track {segment.colour}" if segment.colour else "track"
        stroke, width = (COLOURS[segment.colour], 6) if segment.colour else (_TRACK, 2)
        add(inner, "path", d=f"M{x:g} {y:g}L{x2:g} {y2:g}", class_=class_, fill="none", stroke=stroke,
            stroke_width=width, stroke_linecap="round")  # fmt: skip
        if segment.is_arrow:
            add(inner, "path", d=arrow_head((x, y), (x2, y2)), class_=class_, fill="none", stroke=stroke,
                stroke_width=width, stroke_linecap="round", stroke_linejoin="round")  # fmt: skip
    if geometry.cells == "points":
        for place in board.places if board.layout.lines else _stars(board):
            x, y = geometry.centre(place)
            add(inner, "circle", cx=x, cy=y, r=4, class_="star", fill=_TRACK)


def draw_arrow(picture: Element, board: Board, way: Sequence[str]) -> None:
    """Draw the *way* of what moved over the grid of *board*: through those of these cells that it has."""
    geometry, names = geometry_of(board), {cell_name(place): place for place in board.places}
    points = [geometry.centre(names[name]) for name in way if name in names]
    if len(points) < 2 or points[-1] == points[-2]:
        return
    left, (x, y), (x2, y2) = grid_frame(board).left, points[-2], points[-1]
    inner = add(picture, "g", class_="arrow", transform=f"translate({left:g} {PAD})")
    path = "L".join(f"{x:g} {y:g}" for x, y in points)
    for width, class_, stroke in ((7, "halo", "#ffffff"), (4, "shaft", "#7f9c3a")):
        add(inner, "path", d=f"M{path}{arrow_head((x, y), (x2, y2))}", class_=class_, fill="none", stroke=stroke,
            stroke_width=width, stroke_linecap="round", stroke_linejoin="round")  # fmt: skip


def arrow_head(start: Point, end: Point) -> str:
    """Return the head of an arrow as path data."""
    length = hypot(end[0] - start[0], end[1] - start[1]) or 1
    across, down = _HEAD * (end[0] - start[0]) / length, _HEAD * (end[1] - start[1]) / length
    left = (end[0] - across - down / 2, end[1] - down + across / 2)
    right = (end[0] - across + down / 2, end[1] - down - across / 2)
    return f"M{left[0]:g} {left[1]:g}L{end[0]:g} {end[1]:g}L{right[0]:g} {right[1]:g}"


def _path(geometry: Geometry, run: tuple[Place, Place]) -> str:
    (x, y), (x2, y2) = map(geometry.centre, run)
    return f"M{x:g} {y:g}L{x2:g} {y2:g}"


def _runs(board: Board, axis: Literal[0, 1]) -> Iterator[tuple[Place, Place]]:
    """Yield the ends of every line of points along rows (*axis* 1) or columns, without a gap."""
    there = set(board.places)
    step = (1, 0) if axis else (0, 1)
    for x, y in sorted(there):
        if (x - step[0], y - step[1]) in there:
            continue
        end = (x, y)
        while (end[0] + step[0], end[1] + step[1]) in there:
            end = (end[0] + step[0], end[1] + step[1])
        if end != (x, y):
            yield (x, y), end


def _stars(board: Board) -> Iterator[Place]:
    """Yield the marked points of a board of go or gomoku: a square one of an odd size from 9 on, with all its lines."""
    n = len(board.columns)
    if n != len(board.rows) or n < 9 or n % 2 == 0 or board.missing or board.layout.lines:
        return
    near = 2 if n < 13 else 3
    ends = (near, n - 1 - near) if n < 19 else (near, n // 2, n - 1 - near)
    yield from ((x, y) for x in ends for y in ends)
    if n < 19:
        yield n // 2, n // 2


def _draw_edge(inner: Element, board: Board, geometry: Geometry) -> None:
    if geometry.cells == "squares" and not board.missing:
        width, height = geometry.size
        add(inner, "rect", width=width, height=height, class_="frame", fill="none", stroke=_FRAME, stroke_width=2)
        return
    lines = "".join(f"M{x:g} {y:g}L{x2:g} {y2:g}" for _, (x, y), (x2, y2) in _outside(board, geometry))
    add(inner, "path", d=lines, class_="frame", fill="none", stroke=_FRAME, stroke_width=2, stroke_linecap="round")


def _outside(board: Board, geometry: Geometry) -> Iterator[tuple[Side, Point, Point]]:
    """Yield the edges of cells behind which there is no other: the side of the board, and the ends."""
    for place in board.places:
        for behind, side, start, end in geometry.around(place):
            if behind is None or behind in board.missing:
                yield side, start, end


def _draw_sides(inner: Element, board: Board, geometry: Geometry) -> None:
    """Draw the sides of the board in the colours that they have."""
    lines: dict[Side, str] = {}
    for side, (x, y), (x2, y2) in _outside(board, geometry) if board.layout.edges else ():
        lines[side] = f"{lines.get(side, '')}M{x:g} {y:g}L{x2:g} {y2:g}"
    for side, colour in board.layout.edges.items():
        if side in lines:
            add(inner, "path", d=lines[side], class_=f"side {colour}", fill="none", stroke=COLOURS[colour],
                stroke_width=6, stroke_linecap="round")  # fmt: skip


def _draw_lines(inner: Element, board: Board, geometry: Geometry) -> None:
    """Draw walls, and the lines between blocks of columns and of rows, whose names have two parts."""
    columns, rows = board.columns, board.rows
    if geometry.cells == "squares":
        width, height = geometry.size
        for x in range(1, len(columns)):
            if _block(columns[x - 1]) != _block(columns[x]):
                _line(inner, "block", (CELL * x, 0), (CELL * x, height))
        for y in range(1, len(rows)):
            if _block(rows[y - 1]) != _block(rows[y]):
                _line(inner, "block", (0, CELL * y), (width, CELL * y))
    for one, other in sorted(board.walls):
        _line(inner, "wall", *_between(geometry, one, other))


def _between(geometry: Geometry, one: Place, other: Place) -> tuple[Point, Point]:
    """Return the ends of the edge between two neighbouring cells, of which one may be outside of the grid."""
    (x, y), (x2, y2) = geometry.centre(one), geometry.centre(other)
    part = 0.5 if geometry.cells in ("squares", "points", "pits") else 0.5 / 3**0.5
    middle, across, down = ((x + x2) / 2, (y + y2) / 2), part * (y2 - y), part * (x2 - x)
    return (middle[0] - across, middle[1] - down), (middle[0] + across, middle[1] + down)


def _line(inner: Element, kind: str, start: Point, end: Point) -> None:
    add(inner, "line", class_=kind, x1=start[0], y1=start[1], x2=end[0], y2=end[1],
        stroke="#3d372e", stroke_width=5 if kind == "wall" else 3, stroke_linecap="round")  # fmt: skip


def _draw_labels(inner: Element, board: Board, geometry: Geometry) -> None:
    """Write the names of columns below their last cells, those of rows before their first ones."""
    n_rows = len(board.rows)
    for number, name in enumerate(board.columns):
        x, y = geometry.corner((number, n_rows - 1))
        bottom = geometry.size[1] if geometry.is_pointy else y + CELL
        _draw_label(inner, name, (x + CELL / 2, bottom + 17), "middle")
    for number, name in enumerate(board.rows):
        x, y = geometry.corner((0, number))
        _draw_label(inner, name, (x - PAD, y + CELL / 2 + 5), "end")


def _draw_label(inner: Element, name: str, at: Point, anchor: str) -> None:
    place = add(inner, "g", class_="upright")
    add(place, "text", _last(name)[:_MAX_LABEL], class_="label", x=at[0], y=at[1], font_size=14, text_anchor=anchor)


def _block(name: str) -> str:
    return name.rpartition(" ")[0]


def _last(name: str) -> str:
    return name.rpartition(" ")[2]
