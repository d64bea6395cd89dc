"""Child processes for rules from outside: only so many at once, whatever becomes of who asked."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from gdl.worker import ChildLimits, NotWanted, run_limited
from server.refusals import RequestError
from server.validating.checker import ChildSlots
from tests.kit.gdl import child_functions
from tests.kit.polling import until
from tests.kit.server.processes import is_running


class Work:
    """Work that goes on until it is let go, whether it is wanted or not."""

    def __init__(self) -> None:
        self.has_begun, self.may_end = threading.Event(), threading.Event()
        self.is_wanted: Callable[[], bool] = lambda: True

    def __call__(self, is_wanted: Callable[[], bool]) -> str:
        self.is_wanted = is_wanted
        self.has_begun.set()
        assert self.may_end.wait(60)
        return "done"


async def test_a_caller_that_hangs_up_frees_its_place_only_when_its_child_is_gone() -> None:
    slots, first, second = ChildSlots(1, 5), Work(), Work()
    caller = asyncio.create_task(slots.run(first))
    await until(first.has_begun.is_set)
    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)
    assert not first.is_wanted()
    waiting = asyncio.create_task(slots.run(second))
    await asyncio.sleep(0.5)
    assert not second.has_begun.is_set()
    first.may_end.set()
    await until(second.has_begun.is_set)
    second.may_end.set()
    assert await waiting == "done"


async def test_the_child_of_a_caller_that_hangs_up_is_ended() -> None:
    numbers: list[object] = []

    def work(is_wanted: Callable[[], bool]) -> None:
        with pytest.raises(NotWanted):
            run_limited(child_functions.tell_number_and_sleep, (), ChildLimits(600.0), numbers.append, is_wanted)

    caller = asyncio.create_task(ChildSlots(1, 1).run(work))
    await until(lambda: numbers)
    caller.cancel()
    await until(lambda: not is_running(int(str(numbers[0]))))


async def test_who_comes_when_all_places_are_taken_and_waited_for_is_refused() -> None:
    slots, work = ChildSlots(1, 1), Work()
    callers = [asyncio.create_task(slots.run(work)) for _ in range(2)]
    await until(work.has_begun.is_set)
    with pytest.raises(RequestError) as refused:
        await slots.run(work)
    assert (refused.value.code, refused.value.status) == ("busy", 503)
    work.may_end.set()
    assert await asyncio.gather(*callers) == ["done", "done"]


async def test_work_in_the_background_leaves_a_place_to_others() -> None:
    slots, long, other = ChildSlots(2, 1), Work(), Work()
    other.may_end.set()
    callers = [asyncio.create_task(slots.run(long, is_background=True)) for _ in range(3)]
    await until(long.has_begun.is_set)
    assert await slots.run(other) == "done"
    long.may_end.set()
    assert await asyncio.gather(*callers) == ["done"] * 3


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), BlockingIOError(11, "try again")])
async def test_a_thread_that_cannot_be_started_takes_no_place(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(_: threading.Thread) -> None:
        raise error

    slots = ChildSlots(1, 1)
    with monkeypatch.context() as crowded:
        crowded.setattr(threading.Thread, "start", fail)
        for _ in range(3):
            with pytest.raises(OSError, match=r"try again|new thread"):
                await slots.run(lambda _: "done")
    assert await slots.run(lambda _: "done") == "done"
