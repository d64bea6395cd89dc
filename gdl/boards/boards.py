"""A state and a layout to a board: what stands on which cell, ready to be drawn as text or as a picture."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from gdl.boards.fluents import name_words
from gdl.boards.layout import Layout, Pieces, Walls
from gdl.boards.pieces import Mark, Matcher, Pile, is_number, marks_of, natural, piles_of, printed, shown, trays_of
from gdl.language.rules import Description
from gdl.language.terms import Compound, Term, signature

Place: TypeAlias = tuple[int, int]
"""A cell: its column and its row, counted from 0 at the left and at the top."""


class Cells:
    """The cells of a layout's grid; `rows` run from the top to the bottom. Other layouts have none."""

    def __init__(self, layout: Layout) -> None:
        is_grid = layout.kind == "grid"
        rising = (layout.rows or ()) if is_grid else ()
        self.columns = (layout.columns or ()) if is_grid else ()
        self.rows = rising if layout.y == "down" else rising[::-1]
        self._x = {name: x for x, name in enumerate(self.columns)}
        self._y = {name: y for y, name in enumerate(self.rows)}
        self._is_snake, self._is_down = layout.numbered == "snake", layout.y == "down"

    def find(self, values: Mapping[str, str], end: str = "") -> Place | None:
        """Return the cell that *values* of variables mean, None where it is outside; *end* ends their names.

        A column is the value of `?x`, after that of `?bx` and a blank where there is one; a row likewise; `?xy` is
        both in one word, `?cell` the number of a cell. In a grid of one row no row is named.
        """
        if f"?xy{end}" in values:
            return self._words.get(values[f"?xy{end}"])
        if f"?cell{end}" in values:
            return self.place(int(values[f"?cell{end}"])) if is_number(values[f"?cell{end}"]) else None
        x = self._x.get(_name(values, "x", end))
        y = 0 if len(self.rows) == 1 and f"?y{end}" not in values else self._y.get(_name(values, "y", end))
        return None if x is None or y is None else (x, y)

    def place(self, number: int) -> Place | None:
        """Return the cell of that number, counted from 1 along rows in rising order; None where there is none."""
        if not 1 <= number <= len(self.columns) * len(self.rows):
            return None
        line, x = divmod(number - 1, len(self.columns))
        if self._is_snake and line % 2:
            x = len(self.columns) - 1 - x
        return x, line if self._is_down else len(self.rows) - 1 - line

    def number(self, place: Place) -> int:
        """Return the number of a cell, as `place` counts."""
        x, y = place
        line = y if self._is_down else len(self.rows) - 1 - y
        return line * len(self.columns) + (len(self.columns) - x if self._is_snake and line % 2 else x + 1)

    def column(self, name: str) -> int | None:
        """Return the number of the column of that name, None where there is none."""
        return self._x.get(name)

    def row(self, name: str) -> int | None:
        """Return the number of the row of that name, None where there is none."""
        return self._y.get(name)

    @cached_property
    def _words(self) -> dict[str, Place]:
        found: dict[str, Place] = {}
        for row, y in self._y.items():
            for column, x in self._x.items():
                found.setdefault(f"{column}{row}", (x, y))
        return found


def cell_name(place: Place) -> str:
    """Return what a cell is called in pictures: `data-cell`."""
    return f"{place[0]},{place[1]}"


def _name(values: Mapping[str, str], axis: str, end: str) -> str:
    name, block = values.get(f"?{axis}{end}", ""), values.get(f"?b{axis}{end}")
    return name if block is None else f"{block} {name}"


_STEPS: Final[dict[str, Place]] = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}
_VARIABLE: Final = re.compile(r"\?\w+")
_MAX_LINE: Final = 200
"""How many characters of a caption are shown."""
_MAX_LINES: Final = 200
_MAX_JOINED: Final = 100
_MAX_MARKS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Segment:
    """A line from the middle of a cell to that of another, with a head if it is an arrow."""

    start: Place
    end: Place
    colour: str | None = None
    is_arrow: bool = False


@dataclass(frozen=True, slots=True)
class Board:
    """What there is to draw. `rows` run from the top to the bottom; the last mark of a cell lies on top.

    A wall is a pair of neighbouring cells, the left or upper one first. Cells that are `missing` are not drawn; what
    stands in those that are `unknown` is not known.
    """

    layout: Layout
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    marks: dict[Place, tuple[Mark, ...]]
    walls: frozenset[tuple[Place, Place]]
    heaps: tuple[tuple[str, int], ...]
    turn: str | None
    lines: tuple[str, ...]
    missing: frozenset[Place] = frozenset()
    segments: tuple[Segment, ...] = ()
    stacks: tuple[Pile, ...] = ()
    trays: tuple[Pile, ...] = ()
    unknown: frozenset[Place] = frozenset()

    @property
    def has_picture(self) -> bool:
        """Whether there is more to draw than captions."""
        return self.layout.kind != "facts" or bool(self.trays)

    @property
    def places(self) -> Iterator[Place]:
        """The cells that there are, row by row from the upper left."""
        every = ((x, y) for y in range(len(self.rows)) for x in range(len(self.columns)))
        return (place for place in every if place not in self.missing)


def board_of(layout: Layout, description: Description, facts: Iterable[Term], *, is_partial: bool = False) -> Board:
    """Return the board that *layout* makes of a state's *facts* and the facts of the rules.

    *is_partial* says that there may be other facts, which are not known.
    """
    match, cells = Matcher(description, facts), Cells(layout)
    marks = _marks(layout, cells, match)
    missing = _missing(layout, cells, match) - marks.keys()
    return Board(
        layout=layout,
        columns=cells.columns,
        rows=cells.rows,
        marks=marks,
        walls=frozenset(wall for walls in layout.walls for wall in _walls(walls, cells, match)),
        heaps=_heaps(layout, match),
        turn=next((found["?role"] for found in match(layout.turn, "state")), None) if layout.turn else None,
        lines=_lines(layout, match),
        missing=missing,
        segments=_segments(layout, cells, match),
        stacks=piles_of(layout, match),
        trays=trays_of(layout, match),
        unknown=_unknown(layout, cells, match) - missing if is_partial and layout.veiled else frozenset(),
    )


def _missing(layout: Layout, cells: Cells, match: Matcher) -> frozenset[Place]:
    """Return the cells that `places` of *layout* leave out; none where no fact matches."""
    there = {cells.find(found) for places in layout.places for found in match(places.fluent, places.source)} - {None}
    if not there:
        return frozenset()
    return frozenset({(x, y) for x in range(len(cells.columns)) for y in range(len(cells.rows))} - there)


def _unknown(layout: Layout, cells: Cells, match: Matcher) -> frozenset[Place]:
    """Return the cells of which no fact is known."""
    known = {place for pieces in layout.pieces for place in _standing(pieces, cells, match)}
    return frozenset({(x, y) for x in range(len(cells.columns)) for y in range(len(cells.rows))} - known)


def _marks(layout: Layout, cells: Cells, match: Matcher) -> dict[Place, tuple[Mark, ...]]:
    marks: dict[Place, list[Mark]] = {}
    n_marks = 0
    for pieces in layout.pieces:
        if n_marks >= _MAX_MARKS:
            break
        for place, values in _standing(pieces, cells, match).items():
            found = list(marks_of(pieces, values, len(cells.columns)))
            n_marks += len(found)
            marks.setdefault(place, []).extend(found)
    return {place: tuple(found) for place, found in marks.items() if found}


def _standing(pieces: Pieces, cells: Cells, match: Matcher) -> dict[Place, list[str]]:
    standing: dict[Place, list[str]] = {}
    for place, found in _placed(pieces, cells, match):
        if place is not None:
            standing.setdefault(place, []).append(found.get("?piece", ""))
    return standing


def _placed(pieces: Pieces, cells: Cells, match: Matcher) -> Iterator[tuple[Place | None, dict[str, str]]]:
    """Yield the cell of each fact that *pieces* match, None where it is in none, with the values of its variables."""
    named = {"?bx": pieces.block, "?x": pieces.column, "?y": pieces.row}
    said = {name: value for name, value in named.items() if value is not None}
    return ((cells.find(found | said), found) for found in match(pieces.fluent, pieces.source))


def outside_of(layout: Layout, description: Description, facts: Iterable[Term]) -> Iterator[tuple[int, str]]:
    """Yield the number of each entry of `pieces` that matches a fact in no cell of the grid, with the first such fact.

    *facts* are those of a state.
    """
    match, cells = Matcher(description, facts), Cells(layout)
    for number, pieces in enumerate(layout.pieces if layout.kind == "grid" else ()):
        outside = (found for place, found in _placed(pieces, cells, match) if place is None)
        if (first := next(outside, None)) is not None:
            yield number, _filled(pieces.fluent, first)


def _walls(walls: Walls, cells: Cells, match: Matcher) -> Iterator[tuple[Place, Place]]:
    for found in match(walls.fluent, walls.source):
        place, side = cells.find(found), walls.side or found.get("?side")
        other = cells.find(found, "2") if side is None else _beside(place, side)
        if place is not None and other is not None and abs(other[0] - place[0]) + abs(other[1] - place[1]) == 1:
            yield min(place, other), max(place, other)


def _segments(layout: Layout, cells: Cells, match: Matcher) -> tuple[Segment, ...]:
    found: dict[Segment, None] = {}
    for lines in layout.lines:
        for values in match(lines.fluent, lines.source):
            start = cells.find(values)
            end = cells.find(values, "2") if lines.side is None else _inside(_beside(start, lines.side), cells)
            if start is not None and end is not None and start != end and len(found) < _MAX_MARKS:
                found[Segment(start, end, lines.colour, lines.arrow)] = None
    return tuple(found)


def _inside(place: Place | None, cells: Cells) -> Place | None:
    is_there = place is not None and 0 <= place[0] < len(cells.columns) and 0 <= place[1] < len(cells.rows)
    return place if is_there else None


def _beside(place: Place | None, side: str) -> Place | None:
    step = _STEPS.get(side)
    return None if place is None or step is None else (place[0] + step[0], place[1] + step[1])


def _heaps(layout: Layout, match: Matcher) -> tuple[tuple[str, int], ...]:
    if layout.heaps is None:
        return ()
    found = match(layout.heaps.fluent, "state")
    return tuple((heap["?heap"], int(heap["?size"])) for heap in found if is_number(heap["?size"]))[:_MAX_LINES]


def _lines(layout: Layout, match: Matcher) -> tuple[str, ...]:
    """Return the captions; without any, and without a picture, the facts themselves."""
    if layout.kind == "facts" and not layout.captions and not layout.trays:
        return _facts(match.state)
    lines: list[str] = []
    for caption in layout.captions:
        texts = [_filled(caption.text, found) for found in match(caption.fluent, caption.source)]
        lines += texts if caption.label is None or not texts else [_joined(caption.label, texts)]
    return tuple(lines[:_MAX_LINES])


def _facts(state: Sequence[Term]) -> tuple[str, ...]:
    """Return the facts of a state in words, those of a kind in one line."""
    kinds: dict[tuple[str, int], list[str]] = {}
    for fact in state:
        arguments = fact.arguments if isinstance(fact, Compound) else ()
        kinds.setdefault(signature(fact), []).append(" ".join(map(shown, arguments)))
    lines = [
        _joined(words, texts) if n_arguments else words
        for (name, n_arguments), texts in kinds.items()
        for words in (name_words(printed(name)),)
    ]
    n_more = len(lines) - _MAX_LINES
    return tuple(lines) if n_more <= 0 else (*lines[:_MAX_LINES], f"... and {n_more} kinds of facts more")


def _joined(label: str, texts: Iterable[str]) -> str:
    """Return one line of *texts* behind their label, numbers in their order."""
    ordered = sorted(texts, key=natural)
    shown = ordered[:_MAX_JOINED]
    more = f" and {len(ordered) - len(shown)} more" if len(ordered) > len(shown) else ""
    return f"{label}: {', '.join(shown)}{more}"


def _filled(text: str, found: dict[str, str]) -> str:
    return _VARIABLE.sub(lambda name: found.get(name[0], name[0]), text)[:_MAX_LINE]
