"""Deadlines and budgets, by a clock of the test's own."""

from __future__ import annotations

from players.deadline import Deadline, SearchBudget
from tests.kit.clocks import Stopwatch


def test_a_deadline_counts_down_to_zero_and_not_below() -> None:
    clock = Stopwatch()
    deadline = Deadline.after(2.0, clock)
    assert (deadline.remaining_s, deadline.has_passed) == (2.0, False)
    clock.now_s = 102.0
    assert (deadline.remaining_s, deadline.has_passed) == (0.0, True)
    clock.now_s = 200.0
    assert deadline.remaining_s == 0.0


def test_a_margin_brings_a_deadline_forward() -> None:
    clock = Stopwatch()
    assert Deadline(110.0, clock).earlier(1.5) == Deadline(108.5, clock)


def test_at_most_takes_the_earlier_of_two_ends() -> None:
    clock = Stopwatch()
    deadline = Deadline(110.0, clock)
    assert (deadline.at_most(3.0), deadline.at_most(30.0)) == (Deadline(103.0, clock), deadline)


def test_a_budget_ends_by_iterations_or_by_time_whichever_is_first() -> None:
    clock = Stopwatch()
    budget = SearchBudget(5, Deadline(101.0, clock))
    assert [budget.is_spent(n) for n in (0, 4, 5)] == [False, False, True]
    clock.now_s = 101.0
    assert budget.is_spent(0)
    assert budget.is_out_of_time


def test_a_budget_without_a_deadline_never_runs_out_of_time() -> None:
    assert not SearchBudget(max_iterations=1).is_out_of_time
    assert not SearchBudget().is_spent(10**9)


def test_a_budget_is_spent_when_the_search_is_not_wanted_any_more() -> None:
    answers = iter([True, False])
    budget = SearchBudget(is_wanted=lambda: next(answers))
    assert [budget.is_spent(1), budget.is_spent(1)] == [False, True]
