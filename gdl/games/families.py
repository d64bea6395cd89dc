"""What the generators of game families share: the generated game, checks of sizes, and facts as lines."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from gdl.editing.formatting import LINE_COLUMNS
from gdl.errors import SizeError

Cell: TypeAlias = tuple[int, int]
"""Column and row, both from 1."""


@dataclass(frozen=True, slots=True)
class GeneratedGame:
    """The text of a rule file, and that of its TOML description."""

    rules: str
    metadata: str


def check_size(family: str, what: str, number: int, least: int, most: int) -> None:
    """Check that a game of *family* has as many of *what* as it may.

    Raises:
        SizeError: it has fewer or more.
    """
    if not least <= number <= most:
        raise SizeError(family, what, number, least, most)


def fact(name: str, *arguments: object) -> str:
    """Return the fact *name* of *arguments*."""
    return f"({name} {' '.join(str(argument) for argument in arguments)})"


def lines_of(facts: Iterable[str]) -> str:
    """Return *facts* in as few lines as they fit in."""
    lines = [""]
    for each in facts:
        if lines[-1] and len(lines[-1]) + 1 + len(each) > LINE_COLUMNS:
            lines.append("")
        lines[-1] += f" {each}" if lines[-1] else each
    return "\n".join(lines)


def unary(name: str, numbers: Iterable[object]) -> str:
    """Return a fact *name* for each of *numbers*, as lines."""
    return lines_of(fact(name, number) for number in numbers)


def chain(name: str, numbers: Iterable[int]) -> str:
    """Return facts that say of each of *numbers* which one follows, as lines."""
    return lines_of(fact(name, *pair) for pair in pairwise(numbers))
