"""A state and a layout to a board: what stands on which cell, ready to be drawn as text or as a picture."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias

from gdl.boards.fluents import name_words
from gdl.boards.layout import Layout, Pieces, Walls
from gdl.language.kif import read_term
from gdl.language.rules import Description
from gdl.language.terms import Compound, Term, Variable, signature

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

    def find(self, values: Mapping[str, str], end: str = "") -> Place | None:
        """Return the cell that *values* of variables mean, None where it is outside; *end* ends their names.

        A column is the value of `?x`, after that of `?bx` and a blank where there is one; a row likewise; `?xy` is
        both in one word. In a grid of one row no row is named.
        """
        if f"?xy{end}" in values:
            return self._words.get(values[f"?xy{end}"])
        x = self._x.get(_name(values, "x", end))
        y = 0 if len(self.rows) == 1 and f"?y{end}" not in values else self._y.get(_name(values, "y", end))
        return None if x is None or y is None else (x, y)

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
_MAX_LINES: Final = 200
_MAX_LINE: Final = 200
_MAX_JOINED: Final = 100
_NUMBERS: Final = re.compile(r"([0-9]{1,9})")
_MAX_MARKS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Mark:
    """What stands in a cell: the symbol to draw, the value it stands for, a colour, and how many there are.

    Pictures draw the shape, if it has one, in the colour `fill`, if that is not the terminal's.
    """

    symbol: str
    value: str
    colour: str | None
    count: int
    shape: str | None = None
    fill: str | None = None


@dataclass(frozen=True, slots=True)
class Board:
    """What there is to draw. `rows` run from the top to the bottom; the last mark of a cell lies on top.

    A wall is a pair of neighbouring cells, the left or upper one first.
    """

    layout: Layout
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    marks: dict[Place, tuple[Mark, ...]]
    walls: frozenset[tuple[Place, Place]]
    heaps: tuple[tuple[str, int], ...]
    turn: str | None
    lines: tuple[str, ...]


class _Matcher:
    """Finds the facts of a state, or of a rule file, that a pattern matches."""

    def __init__(self, description: Description, facts: Iterable[Term]) -> None:
        self.state = tuple(sorted(facts, key=str))
        self._description = description
        self._found: dict[str, dict[tuple[str, int], list[Term]]] = {}

    def __call__(self, pattern: str, source: Literal["state", "rules"]) -> Iterator[dict[str, str]]:
        term = read_term(pattern)
        if source not in self._found:
            self._found[source] = _by_signature(self.state if source == "state" else _facts_of(self._description))
        for fact in self._found[source].get(signature(term), ()):
            bound = _bound(term, fact)
            if bound is not None:
                yield {name: _shown(value) for name, value in bound.items()}


def _bound(pattern: Term, fact: Term) -> dict[str, Term] | None:
    """Return what the variables of *pattern* stand for where it is *fact*, which has none; None where it is not."""
    found: dict[str, Term] = {}
    todo = [(pattern, fact)]
    while todo:
        left, right = todo.pop()
        if isinstance(left, Variable):
            if found.setdefault(left.name, right) is not right:
                return None
        elif isinstance(left, Compound) and not left.is_ground:
            if signature(left) != signature(right):
                return None
            assert isinstance(right, Compound)
            todo += zip(left.arguments, right.arguments, strict=True)
        elif left is not right:
            return None
    return found


def _by_signature(facts: Iterable[Term]) -> dict[tuple[str, int], list[Term]]:
    found: dict[tuple[str, int], list[Term]] = {}
    for fact in facts:
        found.setdefault(signature(fact), []).append(fact)
    return found


def _facts_of(description: Description) -> Iterator[Term]:
    return (rule.head.term for rule in description.rules if not rule.body and rule.head.term.is_ground)


def _shown(term: Term) -> str:
    """Return the text of *term*, cut to a line and without characters that would move a terminal's cursor."""
    return _printed(str(term))


def _printed(whole: str) -> str:
    text = whole[:_MAX_LINE]
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else "?" for character in text)


def board_of(layout: Layout, description: Description, facts: Iterable[Term]) -> Board:
    """Return the board that *layout* makes of a state's *facts* and the facts of the rules."""
    match, cells = _Matcher(description, facts), Cells(layout)
    return Board(
        layout=layout,
        columns=cells.columns,
        rows=cells.rows,
        marks=_marks(layout, cells, match),
        walls=frozenset(wall for walls in layout.walls for wall in _walls(walls, cells, match)),
        heaps=_heaps(layout, match),
        turn=next((found["?role"] for found in match(layout.turn, "state")), None) if layout.turn else None,
        lines=_lines(layout, match),
    )


def _marks(layout: Layout, cells: Cells, match: _Matcher) -> dict[Place, tuple[Mark, ...]]:
    marks: dict[Place, list[Mark]] = {}
    n_marks = 0
    for pieces in layout.pieces:
        if n_marks >= _MAX_MARKS:
            break
        for place, values in _standing(pieces, cells, match).items():
            found = list(_symbols(pieces, values))
            n_marks += len(found)
            marks.setdefault(place, []).extend(found)
    return {place: tuple(found) for place, found in marks.items() if found}


def _standing(pieces: Pieces, cells: Cells, match: _Matcher) -> dict[Place, list[str]]:
    standing: dict[Place, list[str]] = {}
    for found in match(pieces.fluent, pieces.source):
        place = cells.find(found if pieces.block is None else found | {"?bx": pieces.block})
        if place is not None:
            standing.setdefault(place, []).append(found.get("?piece", ""))
    return standing


def _symbols(pieces: Pieces, values: list[str]) -> Iterator[Mark]:
    shown = [(_symbol(pieces, value), value) for value in values]
    if pieces.count and len(shown) > 1:
        value = values[0]
        yield _mark(pieces, str(min(len(values), 9)), value, len(values))
        return
    for symbol, value in shown:
        if symbol is not None:
            yield _mark(pieces, symbol, value, 1)


def _mark(pieces: Pieces, symbol: str, value: str, count: int) -> Mark:
    colour = pieces.colours.get(value, pieces.colour)
    shape, fill = pieces.shapes.get(value, pieces.shape), pieces.fills.get(value, pieces.fill)
    return Mark(symbol, value, colour, count, shape, fill)


def _symbol(pieces: Pieces, value: str) -> str | None:
    if pieces.symbol is not None:
        return pieces.symbol
    return value[:3] if pieces.symbols is None else pieces.symbols.get(value)


def _walls(walls: Walls, cells: Cells, match: _Matcher) -> Iterator[tuple[Place, Place]]:
    for found in match(walls.fluent, walls.source):
        place, side = cells.find(found), walls.side or found.get("?side")
        other = cells.find(found, "2") if side is None else _beside(place, side)
        if place is not None and other is not None and abs(other[0] - place[0]) + abs(other[1] - place[1]) == 1:
            yield min(place, other), max(place, other)


def _beside(place: Place | None, side: str) -> Place | None:
    step = _STEPS.get(side)
    return None if place is None or step is None else (place[0] + step[0], place[1] + step[1])


def _heaps(layout: Layout, match: _Matcher) -> tuple[tuple[str, int], ...]:
    if layout.heaps is None:
        return ()
    found = match(layout.heaps.fluent, "state")
    return tuple((heap["?heap"], int(heap["?size"])) for heap in found if _is_number(heap["?size"]))[:_MAX_LINES]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10


def _lines(layout: Layout, match: _Matcher) -> tuple[str, ...]:
    """Return the captions; without any, and without a picture, the facts themselves."""
    if layout.kind == "facts" and not layout.captions:
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
        kinds.setdefault(signature(fact), []).append(" ".join(map(_shown, arguments)))
    lines = [
        _joined(words, texts) if n_arguments else words
        for (name, n_arguments), texts in kinds.items()
        for words in (name_words(_printed(name)),)
    ]
    n_more = len(lines) - _MAX_LINES
    return tuple(lines) if n_more <= 0 else (*lines[:_MAX_LINES], f"... and {n_more} kinds of facts more")


def _joined(label: str, texts: Iterable[str]) -> str:
    """Return one line of *texts* behind their label, numbers in their order."""
    ordered = sorted(texts, key=_natural)
    shown = ordered[:_MAX_JOINED]
    more = f" and {len(ordered) - len(shown)} more" if len(ordered) > len(shown) else ""
    return f"{label}: {', '.join(shown)}{more}"


def _natural(text: str) -> list[tuple[int, int, str]]:
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in _NUMBERS.split(text) if part]


def _filled(text: str, found: dict[str, str]) -> str:
    return _VARIABLE.sub(lambda name: found.get(name[0], name[0]), text)[:_MAX_LINE]
