"""How fast a search goes, by an injected clock."""

from __future__ import annotations

from players.deadline import Deadline, SearchBudget
from players.search.kernel_calls import MAX_LOADS, BatchSizer


class Clock:
    """A clock that moves only when the test moves it."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def round_of(pace: BatchSizer, clock: Clock, budget: SearchBudget, walk_s: float, play_s: float) -> None:
    with pace.batch(budget):
        clock.now_s += walk_s
        with pace.plays(budget):
            clock.now_s += play_s


def test_a_round_that_would_end_too_late_is_not_allowed() -> None:
    clock, pace = Clock(), BatchSizer()
    budget = SearchBudget(deadline=Deadline(10.0, clock))
    ended_s: list[float] = []
    while pace.allows(budget) and len(ended_s) < 100:
        round_of(pace, clock, budget, 1.0, 2.0)
        ended_s.append(clock.now_s)
    assert ended_s == [3.0, 6.0, 9.0]


def test_one_slow_round_does_not_end_all_later_searches() -> None:
    clock, pace = Clock(), BatchSizer()
    round_of(pace, clock, SearchBudget(deadline=Deadline(100.0, clock)), 10.0, 10.0)
    budget = SearchBudget(deadline=Deadline(clock.now_s + 8.0, clock))
    assert not pace.allows(budget)
    pace.rest()
    pace.rest()
    assert pace.allows(budget)


def test_plays_get_a_quarter_to_a_half_of_the_time() -> None:
    clock, pace = Clock(), BatchSizer()
    budget = SearchBudget(deadline=Deadline(1e9, clock))
    loads: list[int] = []
    for _ in range(6):
        loads.append(pace.n_loads)
        round_of(pace, clock, budget, 1.0, pace.n_loads * 0.1)
    assert loads == [1, 2, 4, 4, 4, 4]
    round_of(pace, clock, budget, 1.0, 2.0)
    assert pace.n_loads == 2


def test_loads_have_limits_and_batches_without_plays_teach_nothing() -> None:
    clock, pace = Clock(), BatchSizer()
    budget = SearchBudget(deadline=Deadline(1e9, clock))
    for _ in range(20):
        with pace.batch(budget):
            clock.now_s += 1.0
    assert pace.n_loads == 1
    for _ in range(20):
        round_of(pace, clock, budget, 1.0, 0.001)
    assert pace.n_loads == MAX_LOADS


def test_without_a_deadline_there_is_always_time() -> None:
    pace = BatchSizer()
    with pace.batch(SearchBudget(max_iterations=1)):
        pass
    assert pace.allows(SearchBudget(max_iterations=1))
