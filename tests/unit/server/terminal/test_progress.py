"""`progress`: a bar for what takes long, and nothing for what does not."""

from __future__ import annotations

import io
import math
import threading

import pytest
from rich.console import Console

from server.terminal.progress import progress

HOUR_S = 3600.0


class Screen(io.StringIO):
    """A screen that says when something is first written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_written = threading.Event()

    def write(self, text: str) -> int:
        self.is_written.set()
        return super().write(text)


def terminal() -> tuple[Console, Screen]:
    screen = Screen()
    return Console(file=screen, force_terminal=True, width=80), screen


@pytest.mark.parametrize("delay_s", [HOUR_S, math.inf])
def test_work_that_is_over_before_the_delay_shows_nothing(delay_s: float) -> None:
    console, screen = terminal()
    with progress("counting", 2, delay_s=delay_s, console=console) as advance:
        advance()
    assert screen.getvalue() == ""


def test_long_work_shows_what_is_done_and_how_much() -> None:
    console, screen = terminal()
    with progress("counting", 7, delay_s=0.0, console=console) as advance:
        advance()
        assert screen.is_written.wait(10)
    assert "counting" in screen.getvalue()
    assert "/7" in screen.getvalue()


def test_names_are_no_markup() -> None:
    console, screen = terminal()
    with progress("drawing games[/old]", 7, delay_s=0.0, console=console) as advance:
        advance()
        assert screen.is_written.wait(10)
    assert "drawing games[/old]" in screen.getvalue()


def test_nothing_is_written_where_there_is_no_terminal() -> None:
    screen = io.StringIO()
    with progress("counting", 1, delay_s=0.0, console=Console(file=screen, force_terminal=False)) as advance:
        advance()
    assert screen.getvalue() == ""


@pytest.mark.parametrize("delay_s", [0.0, HOUR_S])
def test_no_timer_is_left_when_the_work_fails(delay_s: float) -> None:
    with pytest.raises(ZeroDivisionError), progress("dividing", delay_s=delay_s, console=terminal()[0]):
        _ = 1 / 0
    assert [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)] == []
