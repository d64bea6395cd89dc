"""How the engine works beside the event loop."""

from __future__ import annotations

import threading
from functools import partial

from server.match.position import Position
from server.match.referee import AdaptiveEvaluator

POSITION = Position(0, None, "", None, None, (), None)


async def test_what_is_quick_is_worked_out_in_the_loop_and_what_was_slow_beside_it() -> None:
    now_s = 0.0

    def work_s() -> float:
        return now_s

    evaluator, threads = AdaptiveEvaluator(quick_s=1.0, work_s=work_s), list[bool]()

    def working(cost_s: float) -> Position:
        nonlocal now_s
        now_s += cost_s
        threads.append(threading.current_thread() is threading.main_thread())
        return POSITION

    for cost_s in (0.5, 0.5, 1.05, 0.5, 0.5):
        assert await evaluator(partial(working, cost_s)) is POSITION
    assert threads == [False, True, True, False, True]
    assert evaluator.now(partial(working, 1.05)) is POSITION
    assert evaluator.now(partial(working, 0.5)) is None
    assert threads == [False, True, True, False, True, True]
