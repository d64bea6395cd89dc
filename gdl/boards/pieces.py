"""What stands somewhere on a board: values of facts as marks with symbol, colour and shape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gdl.boards.layout import Looks, Pieces

_NUMBERED: Final = re.compile(r"[A-Za-z_]{0,10}([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Mark:
    """What stands in a cell: the symbol to draw, the value it stands for, a colour, and how many there are.

    Pictures draw the shape, if it has one, in the colour `fill`, if that is not the terminal's. One that is between
    cells stands amid its own, those of the next column and the next row, and the one across.
    """

    symbol: str
    value: str
    colour: str | None
    count: int
    shape: str | None = None
    fill: str | None = None
    is_between: bool = False
    sign: str | None = None

    @property
    def number(self) -> int | None:
        """The number that it stands for, if it is one, or a letter and one: `7`, `s7`, `disc7`."""
        digits = _NUMBERED.fullmatch(self.value)
        return int(digits[1]) if digits else None


def marks_of(pieces: Looks, values: list[str], n_columns: int = 1) -> Iterator[Mark]:
    """Yield how *values* of `?piece` are shown in one place; a board of *n_columns* may grade their colours."""
    shown = [(_symbol(pieces, value), value) for value in values]
    if isinstance(pieces, Pieces) and pieces.count and len(shown) > 1:
        value = values[0]
        yield _mark(pieces, str(min(len(values), 9)), value, len(values))
        return
    for symbol, value in shown:
        if symbol is not None:
            yield _mark(pieces, symbol, value, 1, n_columns)


def _mark(pieces: Looks, symbol: str, value: str, count: int, n_columns: int = 1) -> Mark:
    grade = _grade(pieces, value, n_columns)
    colour = pieces.colours.get(value, grade or pieces.colour)
    shape, fill = pieces.shapes.get(value, pieces.shape), pieces.fills.get(value, grade or pieces.fill)
    is_between = isinstance(pieces, Pieces) and pieces.between
    sign = pieces.signs.get(value, pieces.sign)
    return Mark(symbol, value, colour, count, shape, fill, is_between, sign)


_GRADES: Final = (
    "bright_white", "white", "bright_yellow", "yellow", "bright_red", "red", "bright_magenta", "magenta",
    "bright_blue", "blue", "bright_cyan", "cyan", "bright_green", "green", "bright_black", "black",
)  # fmt: skip
_ROWS: Final = ("bright_red", "bright_yellow", "bright_green", "bright_cyan", "bright_blue", "bright_magenta")


def _grade(pieces: Looks, value: str, n_columns: int) -> str | None:
    """Return the colour of a number among others."""
    if pieces.graded is None or not is_number(value) or int(value) == 0:
        return None
    if pieces.graded == "doubling":
        return _GRADES[min(int(value).bit_length() - 1, len(_GRADES)) - 1]
    return _ROWS[(int(value) - 1) // n_columns % len(_ROWS)]


def _symbol(pieces: Looks, value: str) -> str | None:
    if pieces.symbol is not None:
        return pieces.symbol
    if pieces.symbols is not None:
        return pieces.symbols.get(value)
    return value if is_number(value) else value[:3]


def is_number(text: str) -> bool:
    """Return whether *text* is a number of at most nine digits."""
    return text.isascii() and text.isdecimal() and len(text) < 10
