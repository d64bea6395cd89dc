"""The types of the values in the TOML description of a game: names, patterns, symbols, colours, each within bounds."""

import re
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from gdl.errors import KifSyntaxError
from gdl.language.kif import ReadLimits, read_term
from gdl.language.terms import Variable, variables

MAX_SIDE: Final = 100
"""The most rows, and the most columns, of a board."""

MAX_ENTRIES: Final = 100
"""The most entries of one list of a layout."""

_RANGE: Final = re.compile(r"(-?\d{1,6})\.\.(-?\d{1,6})")
_PATTERN_LIMITS: Final = ReadLimits(max_characters=500, max_depth=20)


def _names(value: object) -> object:
    """Return the names that `"1..8"` stands for; a list stays what it is."""
    if not isinstance(value, str):
        return value
    found = _RANGE.fullmatch(value)
    if found is None:
        raise ValueError(f'{value!r} is no range; write "1..8" or a list of names')
    first, last = int(found[1]), int(found[2])
    if not 0 <= last - first < MAX_SIDE:
        raise ValueError(f"{value!r} does not name between 1 and {MAX_SIDE} rows or columns")
    return tuple(str(n) for n in range(first, last + 1))


def _distinct(value: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(value)) < len(value):
        raise ValueError("a name occurs twice")
    return value


def _pattern(value: str) -> str:
    try:
        term = read_term(value, _PATTERN_LIMITS)
    except KifSyntaxError as error:
        raise ValueError(f"{value!r} is no pattern of a fluent: {error.message}") from error
    if isinstance(term, Variable):
        raise ValueError("a variable alone would match every fluent")
    return value


def _printable(value: str) -> str:
    if not value.isprintable():
        raise ValueError(f"{value!r} holds characters that cannot be printed")
    return value


def _shown(value: str) -> str:
    if any(letter in value for letter in "<>&") or not value.isprintable():
        raise ValueError(f"the sign {value!r} holds characters that cannot be shown")
    return value


def _ascii(value: str) -> str:
    if not value.isascii():
        raise ValueError(f"the symbol {value!r} is not plain ASCII")
    return _printable(value)


_COLOURS: Final = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")


def _colour(value: str) -> str:
    if value.removeprefix("bright_") not in _COLOURS:
        raise ValueError(f"{value!r} is no colour: {', '.join(_COLOURS)}, or one of these after bright_")
    return value


Name = Annotated[str, Field(min_length=1, max_length=40), AfterValidator(_printable)]
Names = Annotated[
    tuple[Name, ...], Field(min_length=1, max_length=MAX_SIDE), BeforeValidator(_names), AfterValidator(_distinct)
]
Pattern = Annotated[str, AfterValidator(_pattern)]
Symbol = Annotated[str, Field(min_length=1, max_length=3), AfterValidator(_ascii)]
Sign = Annotated[str, Field(min_length=1, max_length=3), AfterValidator(_shown)]
ShapeName = Literal[
    "disc", "stone", "man", "crowned", "card", "back", "die", "seeds", "bar",
    "ring", "cross", "square", "block", "diamond", "triangle", "star", "dot", "token", "tile",
    "pawn", "knight", "bishop", "rook", "queen", "king",
    "person", "robot", "zombie", "mummy", "door", "flag",
]  # fmt: skip
Side = Literal["north", "south", "east", "west"]
Colour = Annotated[str, AfterValidator(_colour)]
Line = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_printable)]


def variables_of(pattern: Pattern) -> frozenset[str]:
    """Return the names of the variables in *pattern*."""
    return frozenset(variable.name for variable in variables(read_term(pattern, _PATTERN_LIMITS)))
