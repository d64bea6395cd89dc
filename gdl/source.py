"""Where something stands in a text: a source, a span, and the picture that points at it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

_PICTURE_COLUMNS: Final = 120


@dataclass(frozen=True, eq=False)
class Source:
    """A text with a name: the path of a rule file, or what else it was read from."""

    name: str
    text: str = field(repr=False)

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """The offsets at which the lines begin."""
        return (0, *(i + 1 for i, character in enumerate(self.text) if character == "\n"))

    def line_column(self, offset: int) -> tuple[int, int]:
        """Return line and column of *offset*, both counted from 1."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        """Return the text of a line, counted from 1, without its end."""
        start = self.line_starts[line - 1]
        end = self.text.find("\n", start)
        return self.text[start:] if end < 0 else self.text[start:end]


@dataclass(frozen=True, slots=True)
class Span:
    """The characters from `start` up to and without `end` of a source."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        """The line, counted from 1."""
        return self.source.line_column(self.start)[0]

    @property
    def column(self) -> int:
        """The column, counted from 1."""
        return self.source.line_column(self.start)[1]

    @property
    def place(self) -> str:
        """`name:line:column`, as editors and terminals understand it."""
        line, column = self.source.line_column(self.start)
        return f"{self.source.name}:{line}:{column}"

    @property
    def text(self) -> str:
        """The characters themselves."""
        return self.source.text[self.start : self.end]

    @property
    def picture(self) -> str:
        """The line with carets under the span, cut to what fits on a screen."""
        line, column = self.source.line_column(self.start)
        text = self.source.line_text(line)
        first = max(0, column - 1 - _PICTURE_COLUMNS // 2)
        window = text[first : first + _PICTURE_COLUMNS]
        shown = "".join(character if character.isprintable() else " " for character in window)
        width = max(1, min(self.end - self.start, len(text) - column + 1, len(shown) - (column - 1 - first)))
        margin = f"{line} | "
        return f"{margin}{shown}\n{' ' * (len(margin) + column - 1 - first)}{'^' * width}"
