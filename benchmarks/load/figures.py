"""The figures of the benchmark: what was measured, what is promised, and both as a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MARKS: Final = "<!-- figures -->", "<!-- end of figures -->"


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: subject, value and unit; `at_most` is the promised bound, None where there is none."""

    name: str
    value: float
    unit: str
    at_most: float | None = None

    @property
    def is_kept(self) -> bool:
        """Whether the promise is kept."""
        return self.at_most is None or self.value <= self.at_most

    def as_json(self) -> dict[str, object]:
        """Return the figure as a JSON object."""
        return {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "atMost": self.at_most,
            "isKept": self.is_kept,
        }


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value that *share* of *values* do not exceed; not a number where there are none.

    Example:
        >>> quantile([4.0, 1.0, 3.0, 2.0], 0.5)
        2.0
    """
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def table(figures: Iterable[Figure]) -> str:
    """Return *figures* as a table in Markdown."""
    rows = [
        f"| {figure.name} | {_number(figure.value)} {figure.unit} | {_promise(figure)} |".replace("  ", " ")
        for figure in figures
    ]
    return "\n".join(["| what | measured | promised |", "| --- | ---: | --- |", *rows])


def _number(value: float) -> str:
    if math.isnan(value):
        return "nothing"
    return f"{value:,.0f}" if value >= 100 or value == round(value) else f"{value:.3g}"


def _promise(figure: Figure) -> str:
    if figure.at_most is None:
        return ""
    promised = f"at most {_number(figure.at_most)} {figure.unit}".strip()
    return promised if figure.is_kept else f"**{promised}: missed**"


def with_figures(page: str, text: str) -> str:
    """Return *page* with *text* between its two marks."""
    begin, end = MARKS
    head, _, rest = page.partition(begin)
    _, _, tail = rest.partition(end)
    return f"{head}{begin}\n{text}\n{end}{tail}"


def write_figures(path: Path, text: str) -> None:
    """Put *text* between the marks of the page at *path*."""
    path.write_text(with_figures(path.read_text("utf-8"), text), "utf-8")
