"""How fluents can be read as a board: which arguments are columns and rows, and which say what stands there."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, permutations
from typing import Final, Literal, TypeAlias

from gdl.boards.domains import Domains, Path
from gdl.boards.layout import MAX_SIDE

Axis: TypeAlias = Literal["x", "y"]

_X_NAMES: Final = re.compile(r"\?(x\d*|xx?|[a-z0-9]*col(umn)?s?\d*|[a-z]*file\d*|x[a-z]{0,4}\d*)", re.IGNORECASE)
_Y_NAMES: Final = re.compile(r"\?(y\d*|yy?|[a-z0-9]*rows?\d*|[a-z]*rank\d*|y[a-z]{0,4}\d*)", re.IGNORECASE)
_NUMBERED: Final = re.compile(r"([A-Za-z_]{0,10})(-?\d{1,6})")
_WORDS: Final = re.compile(r"([a-z])(\d{1,2})", re.IGNORECASE)
_MIN_FILLED: Final = 0.4
"""Which part of the cells of a grid must have a name, where cells are named by one word."""
_MIN_WORDS: Final = 0.7
"""Which part of the names must be such words."""


@dataclass(frozen=True, slots=True)
class Line:
    """Names in their order, and how much speaks for their being columns (`x`) or rows (`y`)."""

    names: tuple[str, ...]
    x: int
    y: int


def line_of(names: Collection[str], variables: Iterable[str]) -> Line | None:
    """Return *names* as columns or rows, None where they have no order or are too few or too many."""
    ordered = _ordered(names)
    if ordered is None:
        return None
    seen = Counter(variables)
    x = sum(n for name, n in seen.items() if _X_NAMES.fullmatch(name))
    y = sum(n for name, n in seen.items() if _Y_NAMES.fullmatch(name))
    first = ordered[0][:1].lower()
    if not ordered[0].isalpha() and first in ("r", "y"):
        y += 100
    elif ordered[0].isalpha() or (len(ordered[0]) > 1 and first in ("c", "x")):
        x += 100 if ordered[0].isalpha() else 1
    return Line(ordered, x, y)


def words_of_cells(names: Collection[str]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the columns and rows of cells named by a letter and a number, such as `c6`; None where they are not."""
    found = [match for name in names if (match := _WORDS.fullmatch(name))]
    columns, rows = {match[1] for match in found}, {match[2] for match in found}
    if len(columns) < 3 or len(rows) < 3 or len(found) < _MIN_WORDS * len(names):
        return None
    if len(columns) > MAX_SIDE or len(rows) > MAX_SIDE or len(found) < _MIN_FILLED * len(columns) * len(rows):
        return None
    return tuple(sorted(columns)), tuple(sorted(rows, key=int))


def _ordered(names: Collection[str]) -> tuple[str, ...] | None:
    if not 2 <= len(names) <= MAX_SIDE:
        return None
    numbered = [_NUMBERED.fullmatch(name) for name in names]
    if all(numbered) and len({match[1] for match in numbered if match}) == 1:
        return tuple(sorted(names, key=_number))
    return _letters(names)


def _number(name: str) -> tuple[int, str]:
    match = _NUMBERED.fullmatch(name)
    return (int(match[2]) if match else 0), name


def _letters(names: Collection[str]) -> tuple[str, ...] | None:
    """Return letters that follow one another in the alphabet."""
    ordered = sorted(names)
    if any(len(name) != 1 or not name.isascii() or not name.isalpha() for name in ordered):
        return None
    return tuple(ordered) if ord(ordered[-1]) - ord(ordered[0]) == len(ordered) - 1 else None


MAX_ARGUMENTS: Final = 8
_MAX_FLUENTS: Final = 200
_MAX_PATHS: Final = 64
_EMPTY_VALUES: Final = frozenset({"b", "blank", "empty", "e"})
_FLUENT_WORDS: Final = re.compile(r"[A-Z]?[a-z]+\d*|[A-Z]+(?![a-z])\d*|\d+")


def name_words(name: str) -> str:
    """Return the name of a relation as words.

    >>> name_words("captureCount"), name_words("in_hand"), name_words("east-speed1"), name_words("+")
    ('capture count', 'in hand', 'east speed1', '+')
    """
    words = " ".join(word if word.isupper() and len(word) > 1 else word.lower() for word in _FLUENT_WORDS.findall(name))
    return words or name


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a fluent: the names that it can have, none if any; and what they are as coordinates."""

    path: Path
    names: frozenset[str]
    variables: tuple[str, ...]
    line: Line | None
    words: tuple[tuple[str, ...], tuple[str, ...]] | None


@dataclass(frozen=True, slots=True)
class Fluent:
    """A kind of fluent: its name, and its arguments in their order, those inside terms too."""

    name: str
    arguments: tuple[Argument, ...]

    def pattern(self, variables: Mapping[Path, str]) -> str:
        """Return the fluent as a pattern: named arguments as said, the others as variables of their own."""
        names = {argument.path: f"?any{i}" for i, argument in enumerate(self.arguments)} | dict(variables)
        return _written(self.arguments, names, 1) if self.arguments else self.name


def fluents_of(domains: Domains) -> tuple[Fluent, ...]:
    """Return the fluents of a game, ordered by name."""
    ends: dict[tuple[str, int], list[Path]] = defaultdict(list)
    for path in domains.names:
        if path[0][0] == "true" and len(path) > 1:
            ends[path[1][:2]].append(path)
    found: list[Fluent] = []
    for (name, n_arguments), paths in sorted(ends.items())[:_MAX_FLUENTS]:
        found += _fluent(name, n_arguments, paths, domains)
    found += (Fluent(name, ()) for name in sorted(domains.names.get((("true", 0, 0),), ())))
    return tuple(found[:_MAX_FLUENTS])


def _fluent(name: str, n_arguments: int, paths: list[Path], domains: Domains) -> Iterator[Fluent]:
    """Yield the fluent where its arguments are names, or terms of one form."""
    if len(paths) > _MAX_PATHS:
        return
    leaves = sorted(path for path in paths if not any(other[: len(path)] == path != other for other in paths))
    forms = {path[:end]: path[end][:2] for path in leaves for end in range(1, len(path))}
    is_plain = all(forms[path[:end]] == path[end][:2] for path in leaves for end in range(1, len(path)))
    if is_plain and len(leaves) <= MAX_ARGUMENTS and n_arguments == len({path[1] for path in leaves}):
        yield Fluent(name, tuple(_argument(path, leaves, domains) for path in leaves))


def _argument(path: Path, leaves: list[Path], domains: Domains) -> Argument:
    names = frozenset() if path in domains.unbounded else frozenset(domains.names[path])
    if names:
        names = _declared(path, names, leaves, domains)
    variables = tuple(islice(domains.variables.get(path, ()), 200))
    return Argument(path, names, variables, line_of(names, variables), words_of_cells(names))


def _declared(path: Path, names: frozenset[str], leaves: list[Path], domains: Domains) -> frozenset[str]:
    """Return *names* without those that `base` leaves out, or that the first state does not have either.

    The first state says which cells there are where it lists the empty ones.
    """
    base = (("base", 0, 0), *path[1:])
    said = frozenset(_in_first_state(path, domains))
    declared = frozenset(domains.names.get(base, ())) if base not in domains.unbounded else frozenset()
    if declared & names and said <= declared:
        return declared & names
    is_listed = len(said) > 1 and any(_tells_empty_cells(leaf, domains) for leaf in leaves)
    return said & names if is_listed and len(names) > len(said) and line_of(said, ()) else names


def _in_first_state(path: Path, domains: Domains) -> set[str]:
    return domains.names.get((("init", 0, 0), *path[1:]), set())


def _tells_empty_cells(path: Path, domains: Domains) -> bool:
    """Return whether the first state has a name there for what is empty; `b` may also be a column."""
    names = _in_first_state(path, domains)
    return bool(names & _EMPTY_VALUES) and line_of(names, ()) is None


def _written(arguments: tuple[Argument, ...], names: Mapping[Path, str], depth: int) -> str:
    """Return the term whose leaves lie on the paths of *arguments*."""
    functor = arguments[0].path[depth][0]
    groups: dict[int, list[Argument]] = defaultdict(list)
    for argument in arguments:
        groups[argument.path[depth][2]].append(argument)
    inner = (
        names[group[0].path] if len(group[0].path) == depth + 1 else _written(tuple(group), names, depth + 1)
        for _, group in sorted(groups.items())
    )
    return f"({functor} {' '.join(inner)})"


_BOARDS: Final = re.compile(
    r"(cell|square|board|at|loc(ation)?|pos(ition)?|grid|mark(ed)?|place|piece|field|point|checker|tile|spot|cube"
    r"|cellholds|occupied|robot|player|stone|dis[ck]|token|contents|value|wall|queen|knight|num|box|hole|light|coin)"
    r"(s|ed)?_?(\d|small|r|b)?",
    re.IGNORECASE,
)
_OTHERS: Final = re.compile(
    r".*(height|score|count|step|moved|connected|goal|dist|number|time|turn|control|capture|guess|hand|heap|pile)",
    re.IGNORECASE,
)
_MIN_ROW: Final = 4
_MAX_BLOCKS: Final = 9
_MAX_LINED: Final = 4
"""More arguments in an order than that are no coordinates: an order of things, for example."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a fluent: which arguments are coordinates, under which variables; what `others` say is there."""

    fluent: Fluent
    variables: tuple[tuple[Argument, str], ...]
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    others: tuple[Argument, ...]
    score: int

    @property
    def places(self) -> dict[Path, str]:
        """The variables of coordinates, by where they stand."""
        return {argument.path: variable for argument, variable in self.variables}

    @property
    def is_matrix(self) -> bool:
        """Whether rows come before columns, as in a matrix, whose rows are read downwards."""
        return self.variables[0][1] in ("?y", "?by")


def readings_of(fluent: Fluent, roles: Collection[str]) -> Iterator[Reading]:
    """Yield the ways to read *fluent*, none where nothing in it is like a cell."""
    lined = [argument for argument in fluent.arguments if argument.line is not None]
    wordy = next((argument for argument in fluent.arguments if argument.words is not None), None)
    if wordy is not None and wordy.words is not None:
        yield _reading(fluent, {wordy: "?xy"}, *wordy.words, 1)
    elif 2 <= len(lined) <= _MAX_LINED:
        yield from _of_lines(fluent, lined, roles)
    elif len(lined) == 1 and len(fluent.arguments) == 2:
        names = _line(lined[0]).names
        if len(names) >= _MIN_ROW:
            yield _reading(fluent, {lined[0]: "?x"}, names, ("1",), -3)


def _of_lines(fluent: Fluent, lined: list[Argument], roles: Collection[str]) -> Iterator[Reading]:
    cell = _cell(fluent, lined)
    x, y = max(permutations(cell, 2), key=lambda order: _agreement(*order))
    blocks = _blocks(fluent, cell, roles)
    variables = {x: "?x", y: "?y"}
    columns, rows = _line(x).names, _line(y).names
    axes = ("?bx",) if len(blocks) == 1 else ("?bx", "?by") if (x, y) == tuple(cell) else ("?by", "?bx")
    for block, axis in zip(blocks, axes, strict=False):
        names = _line(block).names if block.line else tuple(sorted(block.names))
        variables[block] = axis
        if axis == "?bx":
            columns = tuple(f"{name} {inner}" for name in names for inner in columns)
        else:
            rows = tuple(f"{name} {inner}" for name in names for inner in rows)
    evidence = min(2, _line(x).x) + min(2, _line(y).y)
    is_relation = len(fluent.arguments) == 2 and all(name.isalpha() for name in (*columns, *rows))
    if len(columns) <= MAX_SIDE and len(rows) <= MAX_SIDE and not is_relation:
        yield _reading(fluent, variables, columns, rows, evidence - len(blocks))


def _cell(fluent: Fluent, lined: list[Argument]) -> list[Argument]:
    """Return the two arguments that are column and row, in their order."""
    named = [argument for argument in lined if _line(argument).x + _line(argument).y > 0]
    if len(named) == 2:
        return named
    if len(named) == 1:
        start = min(lined.index(named[0]), len(lined) - 2)
        return lined[start : start + 2]
    if len(lined) == 4 and len(fluent.arguments) > 4:
        return lined[2:]
    return lined[:2]


def _blocks(fluent: Fluent, cell: list[Argument], roles: Collection[str]) -> list[Argument]:
    """Return the arguments that say on which of several boards a cell is: something else must say what is there."""
    others = [argument for argument in fluent.arguments if argument not in cell]
    first = fluent.arguments.index(cell[0])
    found = [
        argument
        for argument in others[:-1]
        if 2 <= len(argument.names) <= _MAX_BLOCKS
        and not argument.names <= set(roles)
        and (fluent.arguments.index(argument) < first or _is_depth(argument))
    ]
    return found if len(found) <= 2 else []


def _is_depth(argument: Argument) -> bool:
    return argument.line is not None and any(name.startswith("?z") for name in argument.variables)


def _agreement(x: Argument, y: Argument) -> tuple[int, int]:
    """Return how well it fits that *x* is the column and *y* the row; where nothing tells, a matrix has rows first."""
    return _line(x).x + _line(y).y - _line(x).y - _line(y).x, int(y.path < x.path)


def _line(argument: Argument) -> Line:
    assert argument.line is not None
    return argument.line


def _reading(
    fluent: Fluent, variables: dict[Argument, str], columns: tuple[str, ...], rows: tuple[str, ...], score: int
) -> Reading:
    others = tuple(argument for argument in fluent.arguments if argument not in variables)
    score += 4 if _BOARDS.fullmatch(fluent.name) else 0
    score -= 6 if _OTHERS.match(fluent.name) else 0
    score += 2 if others else 0
    ordered = sorted(variables.items(), key=lambda pair: pair[0].path)
    return Reading(fluent, tuple(ordered), columns, rows, others, score)
