"""Lines of logs whose stream takes nothing for a while."""

from __future__ import annotations

import io
import logging
import threading
from collections.abc import Iterator

import pytest

from server.operation.logs import LogQueue


class Stuck(io.StringIO):
    """A stream that says when it was first written to, and takes nothing before it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.is_asked, self.is_let_go = threading.Event(), threading.Event()

    def write(self, text: str) -> int:
        self.is_asked.set()
        self.is_let_go.wait()
        return super().write(text)


@pytest.fixture
def stuck() -> Iterator[Stuck]:
    stream = Stuck()
    yield stream
    stream.is_let_go.set()


def test_lines_that_find_no_room_are_left_out_and_counted(stuck: Stuck) -> None:
    lines = LogQueue(stuck, capacity=2)
    log = logging.Logger("test")
    log.addHandler(lines)
    log.info("0")
    stuck.is_asked.wait()
    for number in range(1, 6):
        log.info("%d", number)
    stuck.is_let_go.set()
    lines.flush()
    log.info("6")
    lines.flush()
    left_out = "3 log lines were left out here, since they were not read in time"
    assert stuck.getvalue().splitlines() == ["0", "1", "2", left_out, "6"]


def test_the_end_does_not_wait_for_a_stream_that_takes_nothing(stuck: Stuck, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.operation.logs.FLUSH_S", 0.01)
    lines = LogQueue(stuck)
    lines.handle(logging.LogRecord("test", logging.INFO, "", 0, "begun", None, None))
    lines.flush()
    assert stuck.getvalue() == ""
