"""Names of arguments as an axis of a board: columns or rows in their order; or as words for cells, such as `c6`."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from gdl.boards.field_types import MAX_SIDE

_X_NAMES: Final = re.compile(r"\?(x\d*|xx?|[a-z0-9]*col(umn)?s?\d*|[a-z]*file\d*|x[a-z]{0,4}\d*)", re.IGNORECASE)
_Y_NAMES: Final = re.compile(r"\?(y\d*|yy?|[a-z0-9]*rows?\d*|[a-z]*rank\d*|y[a-z]{0,4}\d*)", re.IGNORECASE)
_NUMBERED: Final = re.compile(r"([A-Za-z_]{0,10})(-?\d{1,6})")
_WORDS: Final = re.compile(r"([a-z])(\d{1,2})", re.IGNORECASE)
_MIN_FILLED: Final = 0.4
"""Which part of the cells of a grid must have a name, where cells are named by one word."""
_MIN_WORDS: Final = 0.7
"""Which part of the names must be such words."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Names in their order, and how much speaks for their being columns (`x`) or rows (`y`)."""

    names: tuple[str, ...]
    x: int
    y: int


def axis_of(names: Collection[str], variables: Iterable[str]) -> Axis | None:
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
    return Axis(ordered, x, y)


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
