"""A layout for a game that has none, guessed from its rules: equal rules have equal layouts in every state."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Final

from pydantic import ValidationError

from gdl.boards.appearance import appearances, symbol_of
from gdl.boards.axes import axis_of
from gdl.boards.field_types import MAX_ENTRIES, Side
from gdl.boards.fluents import Argument, Fluent, domains_of, fluents_of, name_words
from gdl.boards.grid_guess import Grid, best_grid, pieces_by_value
from gdl.boards.layout import Caption, Heaps, Layout, Lines, Pieces, Stacks, Walls
from gdl.boards.metadata import GameMetadata
from gdl.boards.pieces import natural
from gdl.boards.readings import diagonal
from gdl.language.rules import Description
from gdl.language.terms import Compound, signature

_TURNS: Final = re.compile(r"(?!.*(last|previous)).*(control|turn|tomove|to_move|mover|active)", re.IGNORECASE)
_WALLS: Final = re.compile(r"(wall|blocked|block|barrier|fence)_?(north|south|east|west)", re.IGNORECASE)
_SIDES: Final[dict[str, Side]] = {"north": "north", "south": "south", "east": "east", "west": "west"}
_LINES: Final = re.compile(r"(line|edge|bar|stick|fence|drawn|segment|link)s?", re.IGNORECASE)
_BOXES: Final = re.compile(r"(box|square|owner|owned|field|territory)(es|s)?", re.IGNORECASE)
_PITS: Final = re.compile(r"(pit|hole|house|cup|bowl)s?", re.IGNORECASE)
_ON: Final = re.compile(r"on(_?top(_?of)?)?", re.IGNORECASE)
_ON_TABLE: Final = re.compile(r"(on_?)?(table|floor|ground)", re.IGNORECASE)
_CLEAR: Final = re.compile(r"clear|free|top", re.IGNORECASE)
_MAX_PITS: Final = 40
_HEAPS: Final = re.compile(r"heap|pile|pit|stack|tower|house|store", re.IGNORECASE)
_MAX_CAPTIONS: Final = 40
_MAX_FACTS: Final = 24
"""Of how many facts a caption may be: more would hide the board."""


def layout_for(description: Description) -> Layout:
    """Return a layout that suits the fluents of *description*, in every state; a list of facts where none is found."""
    return _layout(_Known(description))


def layout_of(description: Description, metadata: GameMetadata | None) -> Layout:
    """Return the layout that *metadata* gives, a guessed one where a game comes without, or its description without."""
    return metadata.board if metadata is not None and "board" in metadata.model_fields_set else layout_for(description)


class _Known:
    """A description as the key of what is remembered: equal texts are equal."""

    def __init__(self, description: Description) -> None:
        self.description = description
        self._sha256 = description.sha256

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Known) and self._sha256 == other._sha256

    def __hash__(self) -> int:
        return hash(self._sha256)


@dataclass(frozen=True, slots=True)
class _Turn:
    """The pattern of the fluent that says whose turn it is, and its name; neither where no fluent does."""

    pattern: str | None = None
    names: frozenset[str] = frozenset()


@lru_cache(maxsize=64)
def _layout(known: _Known) -> Layout:
    description = known.description
    fluents = fluents_of(domains_of(description))
    roles = _roles(description)
    turn = _turn(fluents, roles)
    try:
        drawn = _with_lines(fluents, roles, turn)
        if drawn is not None:
            return drawn
        grid = best_grid(fluents, roles)
        if grid is not None:
            return _with_grid(grid, turn, fluents).model_copy(update=_hexagons(grid, description))
        return _without_grid(turn, fluents)
    except ValidationError:  # names that no layout may hold
        return Layout()


def _roles(description: Description) -> tuple[str, ...]:
    facts = (rule.head.term for rule in description.rules if not rule.body)
    return tuple(
        str(fact.arguments[0]) for fact in facts if isinstance(fact, Compound) and signature(fact) == ("role", 1)
    )


def _turn(fluents: tuple[Fluent, ...], roles: tuple[str, ...]) -> _Turn:
    for fluent in fluents:
        for argument in fluent.arguments:
            if argument.names and argument.names <= set(roles) and _TURNS.match(fluent.name):
                return _Turn(fluent.pattern({argument.path: "?role"}), frozenset({fluent.name}))
    return _Turn()


def _with_grid(grid: Grid, turn: _Turn, fluents: tuple[Fluent, ...]) -> Layout:
    shown = {fluent.name for fluent in grid.fluents} | turn.names
    walls = _walls(grid, fluents)
    return Layout(
        kind="grid",
        columns=grid.columns,
        rows=grid.rows,
        y=grid.y,
        checkered=grid.is_checkered,
        turn=turn.pattern,
        pieces=grid.pieces,
        walls=tuple(wall for _, wall in walls),
        captions=_captions(fluents, shown | {fluent.name for fluent, _ in walls}),
    )


def _hexagons(grid: Grid, description: Description) -> dict[str, object]:
    """Return what makes the cells of *grid* hexagons, if the rules have such a neighbourhood."""
    sign = diagonal(description)
    is_one_board = not any(" " in name for name in (*grid.columns, *grid.rows))
    if not sign or not is_one_board or len(grid.rows) == 1 or grid.is_checkered:
        return {}
    is_falling = (sign == -1) == (grid.y == "down")
    return {"cells": "hexagons", "shift": "right" if is_falling else "left"}


def _with_lines(fluents: tuple[Fluent, ...], roles: tuple[str, ...], turn: _Turn) -> Layout | None:
    """Return a board of points, where a fluent is called a line and has the coordinates of two."""
    for fluent in fluents:
        lined = fluent.arguments[:4]
        if not _LINES.fullmatch(fluent.name) or len(lined) < 4 or any(argument.axis is None for argument in lined):
            continue
        x, y, x2, y2 = lined
        columns, rows = _ordered(x, x2), _ordered(y, y2)
        named = {x.path: "?x", y.path: "?y", x2.path: "?x2", y2.path: "?y2"}
        boxes = [other for other in fluents if _BOXES.fullmatch(other.name) and _are_within(other, columns, rows)]
        shown = {fluent.name, *(box.name for box in boxes)} | turn.names
        return Layout(
            kind="grid", columns=columns, rows=rows, cells="points", turn=turn.pattern,
            lines=(Lines(fluent=fluent.pattern(named), source="state", colour="black"),),
            pieces=tuple(_box(box, roles) for box in boxes), captions=_captions(fluents, shown),
        )  # fmt: skip
    return None


def _ordered(one: Argument, other: Argument) -> tuple[str, ...]:
    axis = axis_of(one.names | other.names, ())
    return axis.names if axis is not None else tuple(sorted(one.names | other.names))


def _are_within(fluent: Fluent, columns: tuple[str, ...], rows: tuple[str, ...]) -> bool:
    if len(fluent.arguments) != 3:
        return False
    x, y, owner = fluent.arguments
    return x.names <= set(columns) and y.names <= set(rows) and bool(x.names and y.names and owner.names)


def _box(fluent: Fluent, roles: tuple[str, ...]) -> Pieces:
    x, y, owner = fluent.arguments
    drawn = pieces_by_value(fluent, {x.path: "?x", y.path: "?y"}, owner, roles)
    return drawn.model_copy(update={"between": True})


def _walls(grid: Grid, fluents: tuple[Fluent, ...]) -> list[tuple[Fluent, Walls]]:
    """Return the fluents whose names say that they are walls on one side of a cell."""
    found = []
    for fluent in fluents:
        match = _WALLS.fullmatch(fluent.name)
        names = [argument.names for argument in fluent.arguments]
        if match and len(names) == 2 and names[0] <= set(grid.columns) and names[1] <= set(grid.rows):
            x, y = fluent.arguments
            pattern = fluent.pattern({x.path: "?x", y.path: "?y"})
            found.append((fluent, Walls(fluent=pattern, source="state", side=_SIDES[match[2].lower()])))
    return found


def _without_grid(turn: _Turn, fluents: tuple[Fluent, ...]) -> Layout:
    return _stacks(turn, fluents) or _pits(turn, fluents) or _heaps(turn, fluents) or Layout()


def _stacks(turn: _Turn, fluents: tuple[Fluent, ...]) -> Layout | None:
    """Return stacks where things lie on others, and a fluent says of some that nothing is below or above them."""
    on = next(filter(_lies_on_others, fluents), None)
    if on is None or not any(_ON_TABLE.fullmatch(each.name) or _CLEAR.fullmatch(each.name) for each in fluents):
        return None
    piece, below = on.arguments
    tables = [each for each in fluents if _ON_TABLE.fullmatch(each.name) and len(each.arguments) == 1]
    on_tables = frozenset[str]().union(*(table.arguments[0].names for table in tables))
    patterns = [
        on.pattern({piece.path: "?piece", below.path: "?below"}),
        *(table.pattern({table.arguments[0].path: "?piece"}) for table in tables),
    ]
    look = {"shape": "bar" if _has_numbers(piece.names) else "tile", "fill": "yellow"}
    symbols = _symbols(piece.names | on_tables)
    names = sorted(below.names - piece.names - on_tables)
    return Layout(
        kind="stacks", columns=tuple(names) or None, turn=turn.pattern,
        stacks=tuple(Stacks.model_validate({"fluent": each, "symbols": symbols, **look}) for each in patterns),
        captions=_captions(fluents, {on.name, *(table.name for table in tables)} | turn.names),
    )  # fmt: skip


def _lies_on_others(fluent: Fluent) -> bool:
    """Return whether *fluent* says of things that they lie on one another."""
    if not _ON.fullmatch(fluent.name) or len(fluent.arguments) != 2:
        return False
    piece, below = fluent.arguments
    return bool(piece.names & below.names) and len(piece.names) <= MAX_ENTRIES


def _symbols(names: frozenset[str]) -> dict[str, str]:
    found = appearances(names)
    return {name: found[name].symbol if name in found else symbol_of(name) for name in names}


def _heaps(turn: _Turn, fluents: tuple[Fluent, ...]) -> Layout | None:
    """Return heaps, where a fluent says how large each of those that have names is."""
    for fluent in fluents:
        if not _HEAPS.search(fluent.name) or len(fluent.arguments) != 2:
            continue
        name, size = fluent.arguments
        if _are_numbers(size) and not _are_numbers(name):
            heaps = Heaps(fluent=fluent.pattern({name.path: "?heap", size.path: "?size"}), symbol="o")
            shown = {fluent.name} | turn.names
            return Layout(kind="heaps", heaps=heaps, turn=turn.pattern, captions=_captions(fluents, shown))
    return None


def _has_numbers(names: Collection[str]) -> bool:
    return all(name[-1:].isdecimal() for name in names)


def _pits(turn: _Turn, fluents: tuple[Fluent, ...]) -> Layout | None:
    """Return a row of pits, where a fluent says how many seeds lie in each."""
    for fluent in fluents:
        if not _PITS.fullmatch(fluent.name) or len(fluent.arguments) != 2:
            continue
        pit, seeds = fluent.arguments
        if 2 <= len(pit.names) <= _MAX_PITS and _has_numbers(seeds.names) and len(seeds.names) > 1:
            entry = fluent.pattern({pit.path: "?x", seeds.path: "?piece"})
            shown = {fluent.name} | turn.names
            return Layout(
                kind="grid", columns=tuple(sorted(pit.names, key=natural)), rows=("1",), cells="pits",
                turn=turn.pattern, pieces=(Pieces(fluent=entry, shape="seeds", fill="green"),),
                captions=_captions(fluents, shown),
            )  # fmt: skip
    return None


def _are_numbers(argument: Argument) -> bool:
    return bool(argument.names) and all(name.isdecimal() for name in argument.names)


def _captions(fluents: tuple[Fluent, ...], shown: set[str]) -> tuple[Caption, ...]:
    """Return a caption for every other fluent that has few facts: its name in words, and the facts behind it."""
    found: list[Caption] = []
    for fluent in fluents:
        if fluent.name not in shown and _n_facts(fluent) <= _MAX_FACTS and len(found) < _MAX_CAPTIONS:
            names = " ".join(f"?any{i}" for i in range(len(fluent.arguments)))
            words = name_words(fluent.name)
            found.append(Caption(fluent=fluent.pattern({}), text=names or words, label=words if names else None))
    return tuple(found)


def _n_facts(fluent: Fluent) -> int:
    """Return how many facts of a kind there are at once, about: a number that stands alone is taken to be a value."""
    counts = [len(argument.names) or _MAX_FACTS for argument in fluent.arguments]
    values = [len(argument.names) for argument in fluent.arguments if argument.axis or _are_numbers(argument)]
    return prod(counts) // values[0] if len(values) == 1 else prod(counts)
