"""What an engine does otherwise than the naive evaluator."""

from __future__ import annotations


class DifferenceError(Exception):
    """An engine gives another answer than the naive evaluator; `kind` says what was asked of which engine."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(kind, detail)
        self.kind, self.detail = kind, detail

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"


class NotComparableError(Exception):
    """There is nothing to compare: no game, or one beyond the interpreter's limits or the naive evaluator."""


def same(kind: str, where: object, found: object, expected: object) -> None:
    """Raise DifferenceError where *found* is not what is *expected* of *where*."""
    if found != expected:
        raise DifferenceError(kind, f"{where}: {found} instead of {expected}")
