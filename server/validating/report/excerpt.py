"""Excerpts of a rule file: the lines that a diagnostic points at, with a mark under every place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len

from gdl.diagnostics import Diagnostic
from gdl.source import Source, Span

_WIDTH: Final = 120
_BEFORE: Final = 50
"""How much is shown before the first place in a line that is too long to be shown from its beginning."""
_BEHIND: Final = 20
MAX_RELATED: Final = 8


@dataclass(frozen=True, slots=True)
class Row:
    """A row of an excerpt: the number of the line in `margin`, its text; or marks with what is to be said of them."""

    margin: str
    text: str
    marks: str = ""
    label: str = ""
    is_main: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    line: int
    column: int
    n_columns: int
    label: str
    is_main: bool


def plain(text: str) -> str:
    """Return *text* with everything escaped that a terminal might take for an order, or not show at all."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def excerpt(found: Diagnostic) -> Iterator[Row]:
    """Yield the lines that *found* points at, the main place marked with `^`, related places with `-`."""
    source = found.span.source
    places = [_place(found.span, "", is_main=True)]
    places += [_place(one.span, one.message, is_main=False) for one in found.related[:MAX_RELATED]]
    width = max(len(str(place.line)) for place in places)
    last_line = 0
    for line, first_column, group in _groups(places):
        if last_line and line > last_line + 1:
            yield Row("." * width, "")
        yield from _rows(source, line, first_column, group, width)
        last_line = line


def _place(span: Span, label: str, *, is_main: bool) -> _Place:
    line, column = span.source.line_column(span.start)
    left = len(span.source.line_text(line)) - column + 1
    return _Place(line, column, max(1, min(span.end - span.start, left)), label, is_main)


def _groups(places: list[_Place]) -> Iterator[tuple[int, int, Sequence[_Place]]]:
    """Yield places that one picture of a line shows together, with that line and the first column shown."""
    left = sorted(places, key=lambda place: (place.line, place.column, not place.is_main))
    while left:
        line, column = left[0].line, left[0].column
        first_column = 1 if column + _BEHIND <= _WIDTH else column - _BEFORE
        group = [place for place in left if place.line == line and place.column < first_column + _WIDTH]
        left = left[len(group) :]
        yield line, first_column, sorted(group, key=lambda place: not place.is_main)


def _rows(source: Source, line: int, first_column: int, places: Sequence[_Place], width: int) -> Iterator[Row]:
    text = source.line_text(line)
    window = text[first_column - 1 : first_column - 1 + _WIDTH]
    shown = "".join(char if char.isprintable() else " " for char in window)
    yield Row(str(line).rjust(width), shown.rstrip())
    for place in places:
        start = place.column - first_column
        marked = shown[start : start + place.n_columns]
        marks = ("^" if place.is_main else "-") * max(1, cell_len(marked))
        yield Row(" " * width, " " * cell_len(shown[:start]), marks, plain(place.label), place.is_main)
