"""Where something stands in a text, and what is wrong there: sources, spans, and diagnostics with a code and a hint."""

import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, cached_property
from importlib.resources import files
from typing import Final, Self
from unicodedata import combining, east_asian_width

LINE_END: Final = re.compile(r"\r\n|\r|\n")
"""What ends a line, and with it a comment: editors of three systems have three ways."""

_PICTURE_COLUMNS: Final = 120


@dataclass(frozen=True, eq=False)
class Source:
    """A text with a name: the path of a rule file, or what else it was read from."""

    name: str
    text: str = field(repr=False)

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """The offsets at which the lines begin."""
        return (0, *(found.end() for found in LINE_END.finditer(self.text)))

    def line_column(self, offset: int) -> tuple[int, int]:
        """Return line and column of *offset*, both counted from 1."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        """Return the text of a line, counted from 1, without its end."""
        start = self.line_starts[line - 1]
        end = LINE_END.search(self.text, start)
        return self.text[start : end.start()] if end else self.text[start:]


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
        before = shown[: column - 1 - first]
        marked = shown[len(before) : len(before) + self.end - self.start]
        margin = f"{line} | "
        return f"{margin}{shown}\n{' ' * (len(margin) + _n_cells(before))}{'^' * max(1, _n_cells(marked))}"


def escaped(text: str) -> str:
    """Return *text* in one line, with all that a terminal might take for an order, or not show, written as escapes."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text)


def _n_cells(text: str) -> int:
    """Return how many cells of a terminal *text* takes: wide characters take two, marks on others none."""
    return sum(1 + (east_asian_width(each) in ("F", "W")) for each in text if not combining(each))


class Severity(StrEnum):
    """How bad it is: an error makes a file unfit to play, a warning is likely a mistake, a note is information."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of defect: `gdl/unsafe-variable`.

    `check` is its number in the list of checks of the language's reference; `wrong` and `right` are rule files, or what
    else the *notation* says.
    """

    name: str
    severity: Severity
    title: str
    explanation: str
    check: int
    wrong: str
    right: str
    notation: str = "lisp"


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that matters for a diagnostic, with what is there."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One defect at one place: what is wrong, and what to do about it.

    `meant` is the name that is likely meant by the one that stands, or begins the list, at `span`.
    """

    code: Code
    span: Span
    message: str
    hint: str | None = None
    related: tuple[Related, ...] = ()
    meant: str | None = None

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return self.code.severity

    @property
    def is_error(self) -> bool:
        """Whether it makes the file unfit to play."""
        return self.severity is Severity.ERROR

    def as_error(self) -> Self:
        """Return the same diagnostic, taken strictly: a warning becomes an error."""
        strict = Severity.ERROR if self.severity is Severity.WARNING else self.severity
        return replace(self, code=replace(self.code, severity=strict))


@cache
def codes() -> Mapping[str, Code]:
    """Return all codes by name."""
    table = tomllib.loads(files("gdl").joinpath("codes.toml").read_text("utf-8"))
    return {
        f"gdl/{name}": Code(name=f"gdl/{name}", **{**entry, "severity": Severity(entry["severity"])})
        for name, entry in table.items()
    }


def diagnostic(  # noqa: PLR0913 -- the attributes of a diagnostic
    name: str,
    span: Span,
    message: str,
    hint: str | None = None,
    related: Iterable[Related] = (),
    *,
    meant: str | None = None,
) -> Diagnostic:
    """Return a diagnostic of the code of that name, such as `unsafe-variable`."""
    return Diagnostic(codes()[f"gdl/{name}"], span, message, hint, tuple(related), meant)


def in_order(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield diagnostics by place, worst first where they share one, each once."""
    rank = {severity: number for number, severity in enumerate(Severity)}
    seen: set[tuple[str, int, int, str]] = set()
    for found in sorted(diagnostics, key=lambda d: (d.span.start, rank[d.severity], d.code.name)):
        key = (found.code.name, found.span.start, found.span.end, found.message)
        if key not in seen:
            seen.add(key)
            yield found
