"""The grid that a game is likely to be played on: two arguments of a fluent in an order, and what stands there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Final, Literal

from gdl.games.fluents import Argument, Fluent
from gdl.games.layout import MAX_ENTRIES, MAX_SIDE, Pieces
from gdl.games.looks import appearances, colour_of, shape_of, symbol_of

_BOARDS: Final = re.compile(
    r"cell|square|board|at|on|loc(ation)?|pos(ition)?|grid|mark(ed)?|place|piece|field|point|checker|tile|spot|cube"
    r"|cellholds|occupied|robot|player|stone|disc|contents|value|wall|queen|knight",
    re.IGNORECASE,
)
_NOT_BOARDS: Final = re.compile(
    r".*(height|score|count|step|moved|connected|goal|dist|number|time|turn|control)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Grid:
    """A grid with its pieces, the fluents that it shows, and where rows rise to."""

    columns: tuple[str, ...]
    rows: tuple[str, ...]
    y: Literal["up", "down"]
    pieces: tuple[Pieces, ...]
    fluents: tuple[Fluent, ...]
    is_checkered: bool


@dataclass(frozen=True, slots=True)
class _Reading:
    """One way to read a fluent: which arguments are coordinates, and which names that gives columns and rows."""

    fluent: Fluent
    variables: tuple[tuple[Argument, str], ...]
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    others: tuple[Argument, ...]
    score: int

    @property
    def is_matrix(self) -> bool:
        """Whether rows come before columns, as in a matrix, which is read downwards."""
        names = [variable for _, variable in self.variables]
        evident = all(argument.line and argument.line.x != argument.line.y for argument, _ in self.variables)
        return evident and names[0] in ("?y", "?by")


def best_grid(fluents: Sequence[Fluent], roles: Sequence[str]) -> Grid | None:
    """Return the grid that most speaks for, with all that stands on it; None where nothing is like a grid."""
    readings = [reading for fluent in fluents for reading in _readings(fluent)]
    if not readings:
        return None
    best = max(readings, key=lambda reading: (reading.score, len(reading.columns) * len(reading.rows)))
    chosen = [best, *_companions(best, readings)]
    pieces = tuple(piece for reading in chosen for piece in _pieces(reading, roles))[:MAX_ENTRIES]
    is_chess = any(shape in _CHECKERED for piece in pieces for shape in (piece.shape, *piece.shapes.values()))
    return Grid(
        _joined(reading.columns for reading in chosen), _joined(reading.rows for reading in chosen),
        "down" if best.is_matrix else "up", pieces, tuple(reading.fluent for reading in chosen), is_chess,
    )  # fmt: skip


_CHECKERED: Final = frozenset({"pawn", "knight", "bishop", "rook", "queen", "king"})


def _joined(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the longest list: those of companions are part of it."""
    return max(names, key=len)


def _companions(best: _Reading, readings: Sequence[_Reading]) -> Iterator[_Reading]:
    """Yield what else stands on the grid: fluents of the same coordinates, one reading of each."""
    seen = {best.fluent.name}
    for reading in sorted(readings, key=lambda reading: -reading.score):
        fits = set(reading.columns) <= set(best.columns) and set(reading.rows) <= set(best.rows)
        is_like = bool(reading.others) or not best.others
        if fits and is_like and reading.score > 0 and reading.fluent.name not in seen:
            seen.add(reading.fluent.name)
            if len(seen) <= 10:
                yield reading


def _readings(fluent: Fluent) -> Iterator[_Reading]:
    lined = [argument for argument in fluent.arguments if argument.line is not None]
    wordy = [argument for argument in fluent.arguments if argument.words is not None]
    for argument in wordy[:1]:
        assert argument.words is not None
        yield _reading(fluent, ((argument, "?xy"),), *argument.words, 1)
    if len(lined) >= 2:
        yield from _of_lines(fluent, lined)
    elif len(lined) == 1 and len(fluent.arguments) == 2 and not wordy:
        line = lined[0].line
        assert line is not None
        if len(line.names) >= 4:
            yield _reading(fluent, ((lined[0], "?x"),), line.names, ("1",), -1)


def _of_lines(fluent: Fluent, lined: list[Argument]) -> Iterator[_Reading]:
    chosen = _coordinates(fluent, lined)
    x, y = max(permutations(chosen[-2:], 2), key=lambda order: _agreement(*order))
    assert x.line is not None
    assert y.line is not None
    blocks = chosen[:-2]
    columns, rows = x.line.names, y.line.names
    variables = [(x, "?x"), (y, "?y")]
    axes = ("bx",) if len(blocks) == 1 else ("bx", "by") if [x, y] == chosen[-2:] else ("by", "bx")
    for block, axis in zip(blocks, axes, strict=False):
        assert block.line is not None
        variables.append((block, f"?{axis}"))
        if axis == "bx":
            columns = tuple(f"{name} {inner}" for name in block.line.names for inner in columns)
        else:
            rows = tuple(f"{name} {inner}" for name in block.line.names for inner in rows)
    if len(columns) <= MAX_SIDE and len(rows) <= MAX_SIDE:
        evidence = min(2, x.line.x) + min(2, y.line.y)
        yield _reading(fluent, tuple(variables), columns, rows, 2 + evidence - len(blocks))


def _coordinates(fluent: Fluent, lined: list[Argument]) -> list[Argument]:
    """Return which arguments in an order are coordinates: blocks first, then two of a grid."""
    named = [argument for argument in lined if argument.line and argument.line.x + argument.line.y > 0]
    if len(named) == 2:
        return named
    if len(lined) == 3 and len(fluent.arguments) == 3 and len(lined[2].names) >= len(lined[0].names):
        return lined[:2]
    if len(lined) in (3, 4):
        return lined
    return lined[:2]


def _agreement(x: Argument, y: Argument) -> int:
    assert x.line is not None
    assert y.line is not None
    return x.line.x + y.line.y - x.line.y - y.line.x


def _reading(
    fluent: Fluent, variables: tuple[tuple[Argument, str], ...], columns: tuple[str, ...], rows: tuple[str, ...],
    score: int,
) -> _Reading:  # fmt: skip
    used = {argument.path for argument, _ in variables}
    others = tuple(argument for argument in fluent.arguments if argument.path not in used)
    score += 4 if _BOARDS.fullmatch(fluent.name) else 0
    score -= 6 if _NOT_BOARDS.fullmatch(fluent.name) else 0
    score += 2 if others else 0
    ordered = sorted(variables, key=lambda pair: pair[0].path)
    return _Reading(fluent, tuple(ordered), columns, rows, others, score)


def _pieces(reading: _Reading, roles: Sequence[str]) -> Iterator[Pieces]:
    """Yield what stands there: by the argument that tells most, for each owner where another tells that."""
    placed = {argument.path: variable for argument, variable in reading.variables}
    others = [argument for argument in reading.others if argument.names]
    if not others:
        name = reading.fluent.name
        yield Pieces(
            fluent=reading.fluent.pattern(placed), symbol=symbol_of(name), shape=shape_of(name),
            fill=colour_of(name) or "green",
        )  # fmt: skip
        return
    owners = [argument for argument in others if len(argument.names) <= 8 and argument.names <= set(roles)]
    kinds = [argument for argument in others if argument not in owners[:1]] if len(others) > 1 else others
    kind = max(kinds, key=lambda argument: len(argument.names))
    if not owners or kind in owners:
        yield _by_value(reading.fluent, placed, kind, roles, None)
        return
    for owner in sorted(owners[0].names):
        yield _by_value(reading.fluent, placed | {owners[0].path: owner}, kind, roles, owner)


def _by_value(
    fluent: Fluent, placed: dict[tuple[tuple[str, int, int], ...], str], kind: Argument, roles: Sequence[str],
    owner: str | None,
) -> Pieces:  # fmt: skip
    looks = appearances(list(kind.names)[:MAX_ENTRIES] if len(kind.names) > MAX_ENTRIES else kind.names, roles)
    pattern = fluent.pattern(placed | {kind.path: "?piece"})
    fill = appearances(roles, roles)[owner].fill if owner is not None else None
    return Pieces(
        fluent=pattern,
        symbols={name: look.symbol for name, look in looks.items()},
        colours={} if owner else {name: look.colour for name, look in looks.items() if look.colour},
        shapes={name: look.shape for name, look in looks.items()},
        fills={name: fill or look.fill for name, look in looks.items()},
    )
