"""The end of the process: which matches are finished, parked or aborted, and when."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from server.operation.shutdown import Shutdown, ShutdownMode, end


class Matches:
    """Some matches, one of which is over after every wait."""

    def __init__(self, n_running: int) -> None:
        self.n_left, self.told = n_running, list[str]()

    def stop_starting(self) -> None:
        self.told.append("start no more")

    def n_running(self) -> int:
        return self.n_left

    async def close(self, *, parking: bool) -> None:
        self.told.append(f"{'park' if parking else 'abort'} {self.n_left}")

    async def sleep(self, _seconds: float) -> None:
        self.n_left -= 1


@pytest.mark.parametrize(
    ("mode", "limit_s", "expected"),
    [
        (ShutdownMode.PARK, 60.0, "park 3"),
        (ShutdownMode.ABORT, 60.0, "abort 3"),
        (ShutdownMode.FINISH, 60.0, "park 0"),
        (ShutdownMode.FINISH, 0.0, "park 3"),
    ],
)
async def test_no_match_is_begun_any_more_and_then_they_end_as_was_chosen(
    mode: ShutdownMode, limit_s: float, expected: str
) -> None:
    matches = Matches(3)
    await end(matches, mode, limit_s, matches.sleep)
    assert matches.told == ["start no more", expected]


async def test_sigterm_asks_for_the_end() -> None:
    ending = Shutdown()
    with ending.on_signals():
        os.kill(os.getpid(), signal.SIGTERM)
        await ending.requested()
    assert (ending.has_begun, ending.reason) == (True, "SIGTERM")


async def test_a_second_ctrl_c_is_the_end() -> None:
    left: list[int] = []
    ending = Shutdown(left.append)
    ending.take_signal(signal.SIGINT)
    assert left == []
    ending.take_signal(signal.SIGINT)
    assert left == [130]


async def test_a_second_sigterm_changes_nothing() -> None:
    left: list[int] = []
    ending = Shutdown(left.append)
    ending.take_signal(signal.SIGTERM)
    ending.take_signal(signal.SIGTERM)
    assert left == []


async def test_work_is_waited_for_and_its_failure_raised_unless_the_end_is_requested() -> None:
    ending, never = Shutdown(), asyncio.Event()
    done: list[str] = []

    async def short() -> None:
        done.append("short")

    async def wrong() -> None:
        raise ValueError("wrong")

    async def endless() -> None:
        try:
            await never.wait()
        finally:
            done.append("cancelled")

    await ending.unless_requested(short())
    with pytest.raises(ValueError, match=r"^wrong$"):
        await ending.unless_requested(wrong())
    waiting = asyncio.create_task(ending.unless_requested(endless()))
    await asyncio.sleep(0)
    ending.request("SIGTERM")
    await waiting
    assert done == ["short", "cancelled"]
