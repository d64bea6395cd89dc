"""The grid that most in the rules of a game speaks for, with the pieces that stand on it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from gdl.boards.appearance import Appearance, appearances, colour_of, shape_of, symbol_of
from gdl.boards.field_types import MAX_ENTRIES, MAX_SIDE, ShapeName
from gdl.boards.fluents import Argument, Fluent, Path
from gdl.boards.layout import Pieces
from gdl.boards.readings import Reading, readings_of

_CHECKERED: Final = frozenset({"pawn", "knight", "bishop", "rook", "queen", "king"})
_MEN: Final = frozenset({"man", "crowned"})
_TWIN: Final = re.compile(r"(.*?)_?(\d|[a-z]$)|(even|odd|left|right|upper|lower)(.*)", re.IGNORECASE)
_MAX_COMPANIONS: Final = 10
_PLAIN_APPEARANCE: Final = Appearance("", "token", "white")
_MAX_KINDS: Final = 6
"""Of how many names an argument may be that splits pieces by owner or state."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A grid with its pieces, the fluents that it shows, and where rows rise to."""

    columns: tuple[str, ...]
    rows: tuple[str, ...]
    y: Literal["up", "down"]
    pieces: tuple[Pieces, ...]
    fluents: tuple[Fluent, ...]
    is_checkered: bool


def best_grid(fluents: Sequence[Fluent], roles: Sequence[str]) -> Grid | None:
    """Return the grid that most speaks for, with all that stands on it; None where nothing is like a grid."""
    readings = [reading for fluent in fluents for reading in readings_of(fluent, roles) if reading.score > 0]
    if not readings:
        return None
    best = max(readings, key=lambda reading: (reading.score, len(reading.columns) * len(reading.rows)))
    chosen = [best, *_companions(best, readings)]
    blocks = _side_by_side(best, chosen)
    pieces = [
        piece.model_copy(update={"block": block}) if block else piece
        for reading, block in zip(chosen, blocks, strict=True)
        for piece in _pieces(reading, roles)
    ]
    if _are_men(pieces, chosen):
        pieces = [piece.model_copy(update={"shapes": _as_men(piece.shapes)}) for piece in pieces]
    names = list(dict.fromkeys(block for block in blocks if block))
    columns = tuple(f"{block} {name}" for block in names for name in best.columns) or best.columns
    is_chess = any(shape in _CHECKERED | _MEN for piece in pieces for shape in (piece.shape, *piece.shapes.values()))
    return Grid(
        columns, best.rows, "down" if best.is_matrix else "up", tuple(pieces[:MAX_ENTRIES]),
        tuple(reading.fluent for reading in chosen), is_chess,
    )  # fmt: skip


def _are_men(pieces: Sequence[Pieces], chosen: Sequence[Reading]) -> bool:
    """Return whether pieces called pawns are those of draughts: only kings are beside them, and none at first."""
    shapes = {shape for piece in pieces for shape in piece.shapes.values()}
    first = {name for reading in chosen for argument in reading.others for name in argument.first}
    return shapes & _CHECKERED == {"pawn", "king"} and bool(first) and all(shape_of(name) != "king" for name in first)


def _as_men(shapes: Mapping[str, ShapeName]) -> dict[str, ShapeName]:
    men: dict[ShapeName, ShapeName] = {"pawn": "man", "king": "crowned"}
    return {name: men.get(shape, shape) for name, shape in shapes.items()}


def _companions(best: Reading, readings: Sequence[Reading]) -> Iterator[Reading]:
    """Yield what else stands on the grid: fluents of the same coordinates."""
    fitting = [
        reading
        for reading in sorted(readings, key=lambda reading: -reading.score)
        if reading.fluent.name != best.fluent.name
        and set(reading.columns) <= set(best.columns)
        and set(reading.rows) <= set(best.rows)
        and {variable for _, variable in reading.variables} == {variable for _, variable in best.variables}
        and (_says_what(reading) or not best.others)
    ]
    yield from fitting[:_MAX_COMPANIONS]


def _says_what(reading: Reading) -> bool:
    """Return whether a fluent says what is there: two more coordinates do not."""
    others = reading.others
    return len(others) == 1 or any(argument.axis is None for argument in others)


def _side_by_side(best: Reading, chosen: Sequence[Reading]) -> list[str]:
    """Return for each of *chosen* the board that it is on, where names such as `cell1` and `cell2` say so."""
    endings = [_ending(reading.fluent.name) for reading in chosen]
    twins = {ending[1] for ending in endings if ending[0] == endings[0][0] and ending[0]}
    if len(twins) < 2 or len(twins) * len(best.columns) > MAX_SIDE or any("?b" in name for _, name in best.variables):
        return [""] * len(chosen)
    return [ending[1] if ending[0] == endings[0][0] else endings[0][1] for ending in endings]


def _ending(name: str) -> tuple[str, str]:
    """Return what twins have in common, and what tells this one apart."""
    match = _TWIN.fullmatch(name)
    if match is None:
        return "", ""
    return (match[1], match[2]) if match[2] else (match[4], match[3])


def _pieces(reading: Reading, roles: Sequence[str]) -> Iterator[Pieces]:
    """Yield what stands there: by the argument that tells most, for each name of another one that splits them."""
    others = [argument for argument in reading.others if argument.names]
    if not others:
        name = reading.fluent.name
        yield Pieces(
            fluent=reading.fluent.pattern(reading.places), symbol=symbol_of(name), shape=shape_of(name),
            fill=colour_of(name) or "green",
        )  # fmt: skip
        return
    kind = max(others, key=lambda argument: (not argument.names <= set(roles), len(argument.names)))
    split = next((other for other in others if other is not kind and len(other.names) <= _MAX_KINDS), None)
    if split is None:
        yield pieces_by_value(reading.fluent, reading.places, kind, roles)
        return
    found = appearances(split.names, roles)
    for owner in sorted(split.names):
        one = found.get(owner, _PLAIN_APPEARANCE)
        pieces = pieces_by_value(reading.fluent, reading.places | {split.path: owner}, kind, roles)
        symbols = {name: f"{one.symbol.lower()}{symbol}"[:3] for name, symbol in (pieces.symbols or {}).items()}
        own = {"colours": {}, "colour": one.colour, "fills": {}, "fill": one.fill, "symbols": symbols}
        yield pieces.model_copy(update=own)


def pieces_by_value(fluent: Fluent, places: Mapping[Path, str], kind: Argument, roles: Sequence[str]) -> Pieces:
    """Return what shows *fluent* at *places*, each name of the argument *kind* with an appearance of its own."""
    found = appearances(sorted(kind.names)[:MAX_ENTRIES], roles)
    return Pieces(
        fluent=fluent.pattern({**places, kind.path: "?piece"}),
        symbols={name: one.symbol for name, one in found.items()},
        colours={name: one.colour for name, one in found.items() if one.colour},
        shapes={name: one.shape for name, one in found.items()},
        fills={name: one.fill for name, one in found.items()},
    )
