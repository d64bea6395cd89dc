"""Work in threads of their own."""

from __future__ import annotations

import asyncio
import threading

import pytest

from server.threads import in_own_thread


async def test_results_and_errors_come_back() -> None:
    assert await in_own_thread(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        await in_own_thread(lambda: 1 // 0)


async def test_a_thread_that_the_system_does_not_give_is_an_error_of_the_system(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(BlockingIOError, match="can't start new thread"):
        await in_own_thread(lambda: 7)


async def test_the_loop_runs_on_meanwhile() -> None:
    may_end = threading.Event()
    waiting = asyncio.create_task(in_own_thread(may_end.wait))
    await asyncio.sleep(0)
    may_end.set()
    assert await waiting


async def test_work_without_end_starves_no_other() -> None:
    may_end = threading.Event()
    stuck = [asyncio.create_task(in_own_thread(may_end.wait)) for _ in range(50)]
    assert await in_own_thread(lambda: "done") == "done"
    may_end.set()
    await asyncio.gather(*stuck)


def test_an_unawaited_result_is_dropped() -> None:
    may_end, has_ended = threading.Event(), threading.Event()

    def work() -> None:
        may_end.wait()
        has_ended.set()

    async def give_up() -> None:
        waiting = asyncio.create_task(in_own_thread(work))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    asyncio.run(give_up())
    may_end.set()
    assert has_ended.wait(10)
