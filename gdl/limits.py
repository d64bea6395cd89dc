"""How much work one question to an engine may cost, so that no rule file can take a machine down."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from gdl.errors import LimitExceeded
from gdl.terms import Term


@dataclass(frozen=True, slots=True)
class EvaluationLimits:
    """What one question may cost. *Units*: tuples in one relation or join, levels of nesting, names, seconds."""

    max_rows: int = 10_000_000
    max_term_depth: int = 1_000
    max_term_symbols: int = 100_000
    max_seconds: float | None = None


DEFAULT_LIMITS: Final = EvaluationLimits()


class Budget:
    """The limits of one question, with the time at which it began."""

    def __init__(self, limits: EvaluationLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        self._clock = clock
        self._end_s = None if limits.max_seconds is None else clock() + limits.max_seconds

    def check_rows(self, n_rows: int) -> None:
        """Raise LimitExceeded when a relation or join of *n_rows* tuples is too large."""
        if n_rows > self.limits.max_rows:
            raise LimitExceeded("facts in one relation or join", self.limits.max_rows)

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return self._end_s is not None and self._clock() > self._end_s

    def check_time(self) -> None:
        """Raise LimitExceeded when the time is up."""
        if self.is_over:
            raise LimitExceeded("seconds for one question", self.limits.max_seconds or 0)

    def check_terms(self, terms: Iterable[Term]) -> None:
        """Raise LimitExceeded when one of *terms*, which were derived, nests too deep or is too large."""
        terms = tuple(terms)
        if max((term.depth for term in terms), default=0) > self.limits.max_term_depth:
            raise LimitExceeded("levels of nesting in a derived term", self.limits.max_term_depth)
        self.check_symbols(terms)

    def check_symbols(self, terms: Iterable[Term]) -> None:
        """Raise LimitExceeded when one of *terms* is too large to be printed."""
        if max((term.n_symbols for term in terms), default=0) > self.limits.max_term_symbols:
            raise LimitExceeded("names in one term", self.limits.max_term_symbols)
