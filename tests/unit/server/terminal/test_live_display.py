"""How learning stands, in a terminal and elsewhere."""

from __future__ import annotations

import io
import itertools

import pytest
from rich.console import Console

from server.terminal.live_display import LearningDisplay, line_of

pytest.importorskip("torch", reason="PyTorch is not installed (the extra `learn`)")

from players.learning.learner import TrainingReport

REPORT = TrainingReport(90.0, 1200, 34000, 8500, 40, 0.25, 0.125, 1, 0.5)
LINE = (
    "minutes 1.5 of 10, games 1,200, moves 34,000, positions 8,500, steps 40, policy loss 0.250, value loss 0.125, "
    "strength rung 1, score 50% against rung 1\n"
)


def shown(*, is_terminal: bool, ticks: int) -> str:
    """Return what is shown of three reports, each so many seconds after the one before."""
    out, clock = io.StringIO(), itertools.count(0, ticks)
    console = Console(file=out, force_terminal=is_terminal, width=200)
    with LearningDisplay(600, console, lambda: float(next(clock))) as display:
        for _ in range(3):
            display(REPORT)
    return out.getvalue()


def test_a_line_has_all_figures() -> None:
    assert line_of(REPORT, 600) + "\n" == LINE


def test_what_is_not_known_yet_is_left_out() -> None:
    assert (
        line_of(TrainingReport(0.0), 60) == "minutes 0.0 of 1, games 0, moves 0, positions 0, steps 0, strength rung 0"
    )


def test_elsewhere_a_line_is_shown_now_and_then() -> None:
    assert shown(is_terminal=False, ticks=1) == LINE
    assert shown(is_terminal=False, ticks=20) == 3 * LINE


def test_a_terminal_has_a_table_that_goes_at_the_end() -> None:
    text = shown(is_terminal=True, ticks=1)
    assert ("policy loss" in text, "50% against rung 1" in text) == (True, True)
