"""What a validator says of a rule file: diagnostics, each with a stable code, a place, a sentence and a hint.

The codes are data, in `gdl/codes.toml`: severity, title, explanation, a wrong and a right example of each.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib.resources import files

from gdl.source import Span


class Severity(StrEnum):
    """How bad it is: an error makes a file unfit to play, a warning is likely a mistake, a note is information."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of defect: `gdl/unsafe-variable`.

    `check` is its number in the list of checks of the language's reference; `wrong` and `right` are rule files.
    """

    name: str
    severity: Severity
    title: str
    explanation: str
    check: int
    wrong: str
    right: str


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that matters for a diagnostic, with what is there."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One defect at one place: what is wrong, and what to do about it."""

    code: Code
    span: Span
    message: str
    hint: str | None = None
    related: tuple[Related, ...] = ()

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return self.code.severity

    @property
    def is_error(self) -> bool:
        """Whether it makes the file unfit to play."""
        return self.severity is Severity.ERROR

    def as_error(self) -> Diagnostic:
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


def diagnostic(
    name: str, span: Span, message: str, hint: str | None = None, related: Iterable[Related] = ()
) -> Diagnostic:
    """Return a diagnostic of the code of that name, such as `unsafe-variable`."""
    return Diagnostic(codes()[f"gdl/{name}"], span, message, hint, tuple(related))


def in_order(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield diagnostics by place, worst first where they share one, each once."""
    rank = {severity: number for number, severity in enumerate(Severity)}
    seen: set[tuple[str, int, int, str]] = set()
    for found in sorted(diagnostics, key=lambda d: (d.span.start, rank[d.severity], d.code.name)):
        key = (found.code.name, found.span.start, found.span.end, found.message)
        if key not in seen:
            seen.add(key)
            yield found
