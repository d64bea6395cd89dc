"""Learning in a terminal: a live table of figures, or a line on standard error now and then."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from players.learning.learner import TrainingReport

_REFRESH_S: Final = 0.5
_LINE_S: Final = 10.0


class LearningDisplay:
    """Shows reports of learning while the block runs: a table in a terminal, else a line every ten seconds."""

    def __init__(
        self, seconds: float, console: Console | None = None, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds, self._now_s = seconds, now_s
        self._console = console or Console(stderr=True)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._shown_s = -_LINE_S

    def __enter__(self) -> LearningDisplay:
        """Begin to show."""
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_error: object) -> None:
        """Remove the table."""
        if self._console.is_terminal:
            self._live.stop()

    def __call__(self, report: TrainingReport) -> None:
        """Show *report*, unless the last one is still fresh."""
        if self._now_s() - self._shown_s < (_REFRESH_S if self._console.is_terminal else _LINE_S):
            return
        self._shown_s = self._now_s()
        if self._console.is_terminal:
            self._live.update(_table(report, self._seconds), refresh=True)
        else:
            self._console.print(Text(line_of(report, self._seconds)), soft_wrap=True)


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
