"""A layout for a game that comes without one, guessed from its rules: equal rules have equal layouts in every state."""

from __future__ import annotations

import re
from functools import lru_cache
from math import prod
from typing import Final

from pydantic import ValidationError

from gdl.games.about import About
from gdl.games.domains import domains_of
from gdl.games.fluents import Argument, Fluent, fluents_of
from gdl.games.grids import Grid, best_grid
from gdl.games.layout import Caption, Heaps, Layout, Side, Walls
from gdl.rules import Description
from gdl.terms import Compound, signature

_TURNS: Final = re.compile(r"(?!.*(last|previous)).*(control|turn|tomove|to_move|mover|active)", re.IGNORECASE)
_WALLS: Final = re.compile(r"(wall|blocked|block|barrier|fence)_?(north|south|east|west)", re.IGNORECASE)
_SIDES: Final[dict[str, Side]] = {"north": "north", "south": "south", "east": "east", "west": "west"}
_HEAPS: Final = re.compile(r"heap|pile|pit|stack|tower|house|store", re.IGNORECASE)
_MAX_CAPTIONS: Final = 40
_MAX_FACTS: Final = 24
"""Of how many facts a caption may be: more would hide the board."""


def layout_for(description: Description) -> Layout:
    """Return a layout that suits the fluents of *description*, in every state; a list of facts where none is found."""
    return _layout(_Known(description))


def layout_of(description: Description, about: About | None) -> Layout:
    """Return the layout that *about* gives, a guessed one where a game comes without."""
    return layout_for(description) if about is None else about.board


class _Known:
    """A description as the key of what is remembered: equal texts are equal."""

    def __init__(self, description: Description) -> None:
        self.description = description
        self._sha256 = description.sha256

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Known) and self._sha256 == other._sha256

    def __hash__(self) -> int:
        return hash(self._sha256)


@lru_cache(maxsize=64)
def _layout(known: _Known) -> Layout:
    description = known.description
    fluents = fluents_of(domains_of(description))
    roles = _roles(description)
    turn = _turn(fluents, roles)
    try:
        grid = best_grid(fluents, roles)
        if grid is not None:
            return _with_grid(grid, turn, fluents)
        return _without_grid(turn, fluents)
    except ValidationError:  # names that no layout may hold
        return Layout()


def _roles(description: Description) -> tuple[str, ...]:
    facts = (rule.head.term for rule in description.rules if not rule.body)
    return tuple(
        str(fact.arguments[0]) for fact in facts if isinstance(fact, Compound) and signature(fact) == ("role", 1)
    )


def _turn(fluents: tuple[Fluent, ...], roles: tuple[str, ...]) -> tuple[Fluent, str] | None:
    """Return the fluent that says whose turn it is, and its pattern."""
    for fluent in fluents:
        for argument in fluent.arguments:
            if argument.names and argument.names <= set(roles) and _TURNS.match(fluent.name):
                return fluent, fluent.pattern({argument.path: "?role"})
    return None


def _with_grid(grid: Grid, turn: tuple[Fluent, str] | None, fluents: tuple[Fluent, ...]) -> Layout:
    shown = {fluent.name for fluent in grid.fluents} | ({turn[0].name} if turn else set())
    walls = _walls(grid, fluents)
    return Layout(
        kind="grid",
        columns=grid.columns,
        rows=grid.rows,
        y=grid.y,
        checkered=grid.is_checkered,
        turn=turn[1] if turn else None,
        pieces=grid.pieces,
        walls=tuple(wall for _, wall in walls),
        captions=_captions(fluents, shown | {fluent.name for fluent, _ in walls}),
    )


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


def _without_grid(turn: tuple[Fluent, str] | None, fluents: tuple[Fluent, ...]) -> Layout:
    for fluent in fluents:
        if _HEAPS.search(fluent.name) and len(fluent.arguments) == 2:
            name, size = fluent.arguments
            if _are_numbers(size) and not _are_numbers(name):
                heaps = Heaps(fluent=fluent.pattern({name.path: "?heap", size.path: "?size"}), symbol="o")
                shown = {fluent.name} | ({turn[0].name} if turn else set())
                return Layout(
                    kind="heaps", heaps=heaps, turn=turn[1] if turn else None, captions=_captions(fluents, shown)
                )
    return Layout()


def _are_numbers(argument: Argument) -> bool:
    return bool(argument.names) and all(name.isdecimal() for name in argument.names)


def _captions(fluents: tuple[Fluent, ...], shown: set[str]) -> tuple[Caption, ...]:
    """Return a caption for every other fluent that has few facts."""
    found: list[Caption] = []
    for fluent in fluents:
        if fluent.name not in shown and _n_facts(fluent) <= _MAX_FACTS and len(found) < _MAX_CAPTIONS:
            names = (f"?any{i}" for i in range(len(fluent.arguments)))
            found.append(Caption(fluent=fluent.pattern({}), text=" ".join((fluent.name, *names))))
    return tuple(found)


def _n_facts(fluent: Fluent) -> int:
    """Return how many facts of a kind there are at once, about: a number that stands alone is taken to be a value."""
    counts = [len(argument.names) or _MAX_FACTS for argument in fluent.arguments]
    values = [len(argument.names) for argument in fluent.arguments if argument.line or _are_numbers(argument)]
    return prod(counts) // values[0] if len(values) == 1 else prod(counts)
