"""A live display of work that goes on: in a terminal replaced in place, else a line on standard error now and then."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Self

from rich.console import Console, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from players.learning.learner import TrainingReport

_REFRESH_S: Final = 0.5
_LINE_S: Final = 10.0


class LiveDisplay:
    """Shows the newest of what it is given: twice a second at most in a terminal, else a line every ten seconds.

    *Units*: seconds of *now_s*, a clock that never goes back.
    """

    def __init__(self, console: Console | None = None, now_s: Callable[[], float] = time.monotonic) -> None:
        self._console = console or Console(stderr=True)
        self._now_s = now_s
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._shown_s = float("-inf")

    @property
    def is_terminal(self) -> bool:
        """Whether a terminal shows it."""
        return self._console.is_terminal

    def __enter__(self) -> Self:
        """Begin to show."""
        if self.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_error: object) -> None:
        """Remove what is live."""
        if self.is_terminal:
            self._live.stop()

    def is_fresh(self) -> bool:
        """Return whether what was shown last need not be replaced yet; False before anything is shown."""
        pause_s = _REFRESH_S if self.is_terminal else _LINE_S
        return self._now_s() - self._shown_s < pause_s

    def show(self, live: Callable[[], RenderableType], line: Callable[[], str]) -> None:
        """Show *live* in a terminal, else *line*; only the one that is needed is made."""
        self._shown_s = self._now_s()
        if self.is_terminal:
            self._live.update(live(), refresh=True)
        else:
            self._console.print(Text(line()), soft_wrap=True)


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
