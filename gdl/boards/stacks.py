"""Pieces in piles: stacks that stand side by side, and trays beside the board, such as hands of cards."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gdl.boards.layout import Layout, Stacks
from gdl.boards.matching import Matcher
from gdl.boards.pieces import Mark, is_number, marks_of

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
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in _NUMBERS.split(text) if part]


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
