"""What stands on a board: facts that a layout's patterns match, as marks with a symbol and a shape, and as piles."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from gdl.boards.layout import Layout, PieceAppearance, Pieces, Stacks
from gdl.language.kif import read_term
from gdl.language.rules import Description
from gdl.language.terms import Compound, Term, Variable, signature

_MAX_LINE: Final = 200
"""How many characters of a term are shown."""


class Matcher:
    """Finds the facts of a state, or of a rule file, that a pattern matches."""

    def __init__(self, description: Description, facts: Iterable[Term]) -> None:
        self.state = tuple(sorted(facts, key=str))
        self._description = description
        self._found: dict[str, dict[tuple[str, int], list[Term]]] = {}

    def __call__(self, pattern: str, source: Literal["state", "rules"]) -> Iterator[dict[str, str]]:
        """Yield what the variables of *pattern* stand for in each fact that it matches."""
        term = read_term(pattern)
        if source not in self._found:
            self._found[source] = _by_signature(self.state if source == "state" else facts_of(self._description))
        for fact in self._found[source].get(signature(term), ()):
            bound = _bound(term, fact)
            if bound is not None:
                yield {name: shown(value) for name, value in bound.items()}


def _bound(pattern: Term, fact: Term) -> dict[str, Term] | None:
    """Return what the variables of *pattern* stand for where it is *fact*, which has none; None where it is not."""
    found: dict[str, Term] = {}
    todo = [(pattern, fact)]
    while todo:
        left, right = todo.pop()
        if isinstance(left, Variable):
            if found.setdefault(left.name, right) is not right:
                return None
        elif isinstance(left, Compound) and not left.is_ground:
            if signature(left) != signature(right):
                return None
            assert isinstance(right, Compound)
            todo += zip(left.arguments, right.arguments, strict=True)
        elif left is not right:
            return None
    return found


def _by_signature(facts: Iterable[Term]) -> dict[tuple[str, int], list[Term]]:
    found: dict[tuple[str, int], list[Term]] = {}
    for fact in facts:
        found.setdefault(signature(fact), []).append(fact)
    return found


def facts_of(description: Description) -> Iterator[Term]:
    """Yield the facts of the rules, in their order."""
    return (rule.head.term for rule in description.rules if not rule.body and rule.head.term.is_ground)


def shown(term: Term) -> str:
    """Return the text of *term*, cut to a line and without characters that would move a terminal's cursor."""
    return printed(str(term))


def printed(whole: str) -> str:
    """Return *whole* cut to a line, without characters that would move a terminal's cursor."""
    return printable(whole[:_MAX_LINE])


def printable(text: str) -> str:
    """Return *text* without characters that would move a terminal's cursor."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else "?" for character in text)


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


def marks_of(pieces: PieceAppearance, values: list[str], n_columns: int = 1) -> Iterator[Mark]:
    """Yield how *values* of `?piece` are shown in one place; a board of *n_columns* may grade their colours."""
    shown = [(_symbol(pieces, value), value) for value in values]
    if isinstance(pieces, Pieces) and pieces.count and len(shown) > 1:
        value = values[0]
        yield _mark(pieces, str(min(len(values), 9)), value, len(values))
        return
    for symbol, value in shown:
        if symbol is not None:
            yield _mark(pieces, symbol, value, 1, n_columns)


def _mark(pieces: PieceAppearance, symbol: str, value: str, count: int, n_columns: int = 1) -> Mark:
    grade = _grade(pieces, value, n_columns)
    colour = pieces.colours.get(value, grade or pieces.colour)
    shape, fill = pieces.shapes.get(value, pieces.shape), pieces.fills.get(value, grade or pieces.fill)
    is_between = isinstance(pieces, Pieces) and pieces.between
    sign = pieces.signs.get(value, pieces.sign)
    return Mark(
        symbol=symbol, value=value, colour=colour, count=count, shape=shape, fill=fill, is_between=is_between, sign=sign
    )


_GRADES: Final = (
    "bright_white", "white", "bright_yellow", "yellow", "bright_red", "red", "bright_magenta", "magenta",
    "bright_blue", "blue", "bright_cyan", "cyan", "bright_green", "green", "bright_black", "black",
)  # fmt: skip
_ROWS: Final = ("bright_red", "bright_yellow", "bright_green", "bright_cyan", "bright_blue", "bright_magenta")


def _grade(pieces: PieceAppearance, value: str, n_columns: int) -> str | None:
    """Return the colour of a number among others."""
    if pieces.graded is None or not is_number(value) or int(value) == 0:
        return None
    if pieces.graded == "doubling":
        return _GRADES[min(int(value).bit_length() - 1, len(_GRADES)) - 1]
    return _ROWS[(int(value) - 1) // n_columns % len(_ROWS)]


def _symbol(pieces: PieceAppearance, value: str) -> str | None:
    if pieces.symbol is not None:
        return pieces.symbol
    if pieces.symbols is not None:
        return pieces.symbols.get(value)
    return value if is_number(value) else value[:3]


def is_number(text: str) -> bool:
    """Return whether *text* is a number of at most nine digits."""
    return text.isascii() and text.isdecimal() and len(text) < 10


_MAX_PILES: Final = 100
_MAX_MARKS: Final = 100
_NUMBERS: Final = re.compile(r"([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Pile:
    """Pieces that lie together under one name: of a stack the lowest first, of a tray from the left."""

    name: str
    marks: tuple[Mark, ...]


def natural(text: str) -> list[tuple[int, int, str]]:
    """Return a key that sorts texts with their numbers in order."""
    return [(0, int(part), "") if is_number(part) else (1, 0, part) for part in _NUMBERS.split(text) if part]


def trays_of(layout: Layout, match: Matcher) -> tuple[Pile, ...]:
    """Return what lies in the trays of *layout*, those of one entry ordered by name."""
    found: dict[str, list[Mark]] = {}
    for tray in layout.trays:
        matched = list(match(tray.fluent, tray.source))
        for values in sorted(matched, key=lambda values: (natural(values.get("?tray", "")), natural(_piece(values)))):
            name = " ".join(filter(None, (tray.label, values.get("?tray"))))
            pile = found.setdefault(name, [])
            pile += list(marks_of(tray, [_piece(values)] * _count(values)))[: _MAX_MARKS - len(pile)]
    return tuple(Pile(name, tuple(marks)) for name, marks in list(found.items())[:_MAX_PILES])


def _piece(values: Mapping[str, str]) -> str:
    return values.get("?piece", "")


def _count(values: Mapping[str, str]) -> int:
    count = values.get("?count", "1")
    return min(int(count), _MAX_MARKS) if is_number(count) else 1


def piles_of(layout: Layout, match: Matcher) -> tuple[Pile, ...]:
    """Return the stacks of *layout*, those that are always there first."""
    if layout.kind != "stacks":
        return ()
    stacks: dict[str, list[tuple[Stacks, str]]] = {name: [] for name in layout.columns or ()}
    above: dict[str, list[tuple[Stacks, str]]] = {}
    for entry, values in sorted(_matched(layout, match), key=_height):
        piece = (entry, _piece(values))
        if "?below" in values:
            above.setdefault(values["?below"], []).append(piece)
        else:
            stacks.setdefault(values.get("?stack", _piece(values)), []).append(piece)
    for name, pile in stacks.items():
        _pile_up(pile, name, above)
    shown = list(stacks.items())[:_MAX_PILES]
    return tuple(
        Pile(name, tuple(mark for entry, value in pile for mark in marks_of(entry, [value]))) for name, pile in shown
    )


def _matched(layout: Layout, match: Matcher) -> Iterator[tuple[Stacks, dict[str, str]]]:
    return ((entry, values) for entry in layout.stacks for values in match(entry.fluent, entry.source))


def _height(found: tuple[Stacks, Mapping[str, str]]) -> tuple[int, list[tuple[int, int, str]]]:
    """Return a key that sorts the lowest piece of a stack to the front."""
    values = found[1]
    if "?level" in values:
        return 0, natural(values["?level"])
    return 1, [(kind, -number, text) for kind, number, text in natural(_piece(values))]


def _pile_up(pile: list[tuple[Stacks, str]], name: str, above: dict[str, list[tuple[Stacks, str]]]) -> None:
    """Put on *pile* what lies on its name, or on its top, and on that, and so on; each piece once."""
    todo = [piece for _, piece in pile] or [name]
    while todo and len(pile) < _MAX_MARKS:
        found = above.pop(todo.pop(), [])
        pile += found
        todo += [piece for _, piece in found]
