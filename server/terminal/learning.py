"""Learning in a terminal: a live table of figures, or a line on standard error now and then."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from server.terminal.live import LiveDisplay

if TYPE_CHECKING:
    from players.learning.learner import TrainingReport


class LearningDisplay(LiveDisplay):
    """Shows reports of learning while the block runs: a table in a terminal, else a line every ten seconds."""

    def __init__(
        self, seconds: float, console: Console | None = None, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(console, now_s)
        self._seconds = seconds

    def __call__(self, report: TrainingReport) -> None:
        """Show *report*, unless the last one is still fresh."""
        if not self.is_fresh():
            self.show(lambda: _table(report, self._seconds), lambda: line_of(report, self._seconds))


def line_of(report: TrainingReport, seconds: float) -> str:
    """Return a report as a line of text."""
    return ", ".join(f"{name} {value}" for name, value in _figures(report, seconds) if value)


def _figures(report: TrainingReport, seconds: float) -> list[tuple[str, str]]:
    rung = "random moves" if report.rung == 0 else f"rung {report.rung}"
    return [
        ("minutes", f"{report.seconds / 60:.1f} of {seconds / 60:g}"),
        ("games", f"{report.plays:,}"),
        ("moves", f"{report.moves:,}"),
        ("positions", f"{report.positions:,}"),
        ("steps", f"{report.steps:,}"),
        ("policy loss", "" if report.policy_loss is None else f"{report.policy_loss:.3f}"),
        ("value loss", "" if report.value_loss is None else f"{report.value_loss:.3f}"),
        ("strength", f"rung {report.rung}"),
        ("score", "" if report.score is None else f"{report.score:.0%} against {rung}"),
    ]


def _table(report: TrainingReport, seconds: float) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column("figure", style="bold")
    table.add_column("value", justify="right", no_wrap=True)
    for name, value in _figures(report, seconds):
        table.add_row(name, value)
    return table
