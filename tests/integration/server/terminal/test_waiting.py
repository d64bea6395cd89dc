"""The bar that says that a match waits for its players."""

from __future__ import annotations

import io
import threading

import pytest
from rich.console import Console

from server.terminal.commentary import Waiting
from tests.kit.server.scripted import TURNS_MOVES, events, turns

HOUR_S = 3600.0


@pytest.fixture
def screen() -> io.StringIO:
    return io.StringIO()


def waiting(screen: io.StringIO, delay_s: float = 0.0) -> Waiting:
    return Waiting(Console(file=screen, force_terminal=True, width=80), delay_s)


def test_players_that_answer_soon_are_not_waited_for_visibly(screen: io.StringIO) -> None:
    with waiting(screen, HOUR_S) as observer:
        for event in events(turns(), TURNS_MOVES):
            observer(event)
    assert screen.getvalue() == ""


def test_the_bar_comes_with_a_question_and_is_gone_before_a_step_is_printed(screen: io.StringIO) -> None:
    seen: list[tuple[str, bool]] = []
    with waiting(screen, HOUR_S) as observer:
        assert observer.is_waiting
        for event in events(turns(), TURNS_MOVES):
            observer(event)
            seen.append((type(event).__name__, observer.is_waiting))
    asked = [("Sent", True), ("Answered", True)] * 2
    told = [("StepFinished", False), ("StateReached", False)]
    assert seen[:2] == [("Started", False), ("StateReached", False)]
    assert seen[2:] == [*asked, told[0], *(asked + told) * 2, ("Completed", False), ("Closed", False)]


@pytest.mark.parametrize("n", range(12))
def test_however_the_match_ends_the_bar_goes(screen: io.StringIO, n: int) -> None:
    observer = waiting(screen, HOUR_S)

    def fail() -> None:
        with observer:
            for event in [*events(turns(), TURNS_MOVES)][:n]:
                observer(event)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not observer.is_waiting
    assert [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)] == []
