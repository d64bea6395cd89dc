"""Work in a thread of its own."""

from __future__ import annotations

import threading

import pytest

from players.search.background_task import BackgroundTask


def test_a_result_is_there_once_the_work_has_ended() -> None:
    begun = threading.Event()
    task = BackgroundTask(lambda: begun.wait(60.0), "wait")
    assert (task.get(0.0), task.has_ended) == (None, False)
    begun.set()
    assert task.get(60.0) is True
    assert task.get(0.0) is True


@pytest.mark.parametrize("error", [MemoryError(), ValueError("no way")])
def test_work_that_fails_is_logged_and_ends_without_a_result(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise error

    task = BackgroundTask(fail, "tree")
    assert (task.get(60.0), task.has_ended) == (None, True)
    assert len(caplog.records) == 1
