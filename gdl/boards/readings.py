"""How fluents can be read as a board: which arguments are columns and rows, and which say what stands there."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Final, Literal

from gdl.boards.axes import Axis
from gdl.boards.field_types import MAX_SIDE
from gdl.boards.fluents import Argument, Fluent, Path
from gdl.boards.pieces import natural
from gdl.language.rules import Description
from gdl.language.syntax import And, Atom, Condition, Or
from gdl.language.terms import Compound, Term, Variable, signature

_EQUAL: Final = re.compile(r"(is_?)?(equals?|same|eq)", re.IGNORECASE)
_LINES: Final = frozenset({(1, 0), (-1, 0), (0, 1), (0, -1)})
_MAX_WAYS: Final = 16
_MAX_RULES: Final = 5_000


def diagonal(description: Description) -> Literal[-1, 0, 1]:
    """Return along which diagonal cells are neighbours, if some relation has one of them and both lines, as in hex.

    1: both coordinates rise together; -1: one rises where the other falls; 0: no relation is like that.
    """
    rising = _rising(description)
    steps: dict[tuple[str, int], set[tuple[int, int]]] = defaultdict(set)
    for rule in description.rules[:_MAX_RULES]:
        head = rule.head.term
        if isinstance(head, Compound) and len(head.arguments) == 4:
            for way in _ways(rule.body):
                steps[signature(head)] |= set(_steps(head.arguments, way, rising))
    for found in steps.values():
        for sign in (1, -1):
            if found | {(-x, -y) for x, y in found} == _LINES | {(1, sign), (-1, -sign)}:
                return 1 if sign == 1 else -1
    return 0


def _rising(description: Description) -> dict[str, int]:
    """Return of each relation of two names whether the second one follows the first (1) or comes before it (-1)."""
    found: dict[str, int] = {}
    for rule in description.rules:
        term = rule.head.term
        if not rule.body and isinstance(term, Compound) and len(term.arguments) == 2 and term.is_ground:
            first, second = (natural(str(argument)) for argument in term.arguments)
            found.setdefault(signature(term)[0], 1 if first < second else -1)
    return found


def _ways(body: Sequence[Condition]) -> Iterator[list[Term]]:
    """Yield the terms that must hold together, for each way in which the alternatives of *body* can."""
    choices = [tuple(_alternatives(condition)) for condition in body]
    for number, way in enumerate(product(*choices)):
        if number == _MAX_WAYS:
            return
        yield [term for part in way for term in part]


def _alternatives(condition: Condition) -> Iterator[Sequence[Term]]:
    match condition:
        case Atom():
            yield [condition.term]
        case Or(parts):
            yield from ([part.term] for part in parts if isinstance(part, Atom))
        case And(parts):
            yield [part.term for part in parts if isinstance(part, Atom)]
        case _:
            yield []


def _steps(arguments: Sequence[Term], way: Sequence[Term], rising: dict[str, int]) -> Iterator[tuple[int, int]]:
    x, y = (_along(arguments[axis], arguments[axis + 2], way, rising) for axis in (0, 1))
    if x is not None and y is not None and (x, y) != (0, 0):
        yield x, y


def _along(start: Term, end: Term, way: Sequence[Term], rising: dict[str, int]) -> int | None:
    """Return by how much *end* is further than *start*, None where the terms of *way* do not say it."""
    if start is end:
        return 0
    if not isinstance(start, Variable) or not isinstance(end, Variable):
        return None
    for term in way:
        if isinstance(term, Compound) and len(term.arguments) == 2:
            name = signature(term)[0]
            pair = tuple(term.arguments)
            if pair in ((start, end), (end, start)) and _EQUAL.fullmatch(name):
                return 0
            if name in rising and pair == (start, end):
                return rising[name]
            if name in rising and pair == (end, start):
                return -rising[name]
    return None


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
    lined = [argument for argument in fluent.arguments if argument.axis is not None]
    wordy = next((argument for argument in fluent.arguments if argument.words is not None), None)
    if wordy is not None and wordy.words is not None:
        yield _reading(fluent, {wordy: "?xy"}, *wordy.words, 1)
    elif 2 <= len(lined) <= _MAX_LINED:
        yield from _of_lines(fluent, lined, roles)
    elif len(lined) == 1 and len(fluent.arguments) == 2:
        names = _axis(lined[0]).names
        if len(names) >= _MIN_ROW:
            yield _reading(fluent, {lined[0]: "?x"}, names, ("1",), -3)


def _of_lines(fluent: Fluent, lined: list[Argument], roles: Collection[str]) -> Iterator[Reading]:
    cell = _cell(fluent, lined)
    x, y = max(permutations(cell, 2), key=lambda order: _agreement(*order))
    blocks = _blocks(fluent, cell, roles)
    variables = {x: "?x", y: "?y"}
    columns, rows = _axis(x).names, _axis(y).names
    axes = ("?bx",) if len(blocks) == 1 else ("?bx", "?by") if (x, y) == tuple(cell) else ("?by", "?bx")
    for block, axis in zip(blocks, axes, strict=False):
        names = _axis(block).names if block.axis else tuple(sorted(block.names))
        variables[block] = axis
        if axis == "?bx":
            columns = tuple(f"{name} {inner}" for name in names for inner in columns)
        else:
            rows = tuple(f"{name} {inner}" for name in names for inner in rows)
    evidence = min(2, _axis(x).x) + min(2, _axis(y).y)
    is_relation = len(fluent.arguments) == 2 and all(name.isalpha() for name in (*columns, *rows))
    if len(columns) <= MAX_SIDE and len(rows) <= MAX_SIDE and not is_relation:
        yield _reading(fluent, variables, columns, rows, evidence - len(blocks))


def _cell(fluent: Fluent, lined: list[Argument]) -> list[Argument]:
    """Return the two arguments that are column and row, in their order."""
    named = [argument for argument in lined if _axis(argument).x + _axis(argument).y > 0]
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
    return argument.axis is not None and any(name.startswith("?z") for name in argument.variables)


def _agreement(x: Argument, y: Argument) -> tuple[int, int]:
    """Return how well it fits that *x* is the column and *y* the row; where nothing tells, a matrix has rows first."""
    return _axis(x).x + _axis(y).y - _axis(x).y - _axis(y).x, int(y.path < x.path)


def _axis(argument: Argument) -> Axis:
    assert argument.axis is not None
    return argument.axis


def _reading(
    fluent: Fluent, variables: dict[Argument, str], columns: tuple[str, ...], rows: tuple[str, ...], score: int
) -> Reading:
    others = tuple(argument for argument in fluent.arguments if argument not in variables)
    score += 4 if _BOARDS.fullmatch(fluent.name) else 0
    score -= 6 if _OTHERS.match(fluent.name) else 0
    score += 2 if others else 0
    ordered = sorted(variables.items(), key=lambda pair: pair[0].path)
    return Reading(fluent, tuple(ordered), columns, rows, others, score)
