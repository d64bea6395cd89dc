"""What the row of a match and those of its seats say of how it went."""

from __future__ import annotations

from dataclasses import replace

import pytest

from server.records.entries import AbortedEntry, CompletedEntry, Entry, StepEntry
from server.storage.rows import MatchStatus, MatchSummary, SeatResult
from server.storage.summaries import summary_of
from tests.kit.server.storage.samples import journal


def ended(*ends: Entry) -> list[Entry]:
    """Return the journal of a match with *ends* in place of its own."""
    kept = [entry for entry in journal() if not isinstance(entry, CompletedEntry)]
    return [*kept[:-1], *ends]


@pytest.mark.parametrize("goals", [(None, 100), (100, None), (0, None), (0, 0)])
def test_a_role_without_a_goal_has_none_and_not_zero(goals: tuple[int | None, ...]) -> None:
    summary = summary_of(ended(CompletedEntry(122, 1, goals)))
    assert summary.goals == goals
    assert {role: seat.goal for role, seat in summary.seats.items()} == dict(zip("xo", goals, strict=True))


def test_a_match_that_was_not_completed_has_no_goals() -> None:
    for ends in ((), (AbortedEntry(122, 1, "enough"),)):
        summary = summary_of(ended(*ends))
        assert (summary.status, summary.goals) == (MatchStatus.ABORTED, None)
        assert [seat.goal for seat in summary.seats.values()] == [None, None]


def test_a_match_is_summed_up() -> None:
    seats = {"x": SeatResult(100, 0, 9, 1), "o": SeatResult(0, 1, 20, 1)}
    assert summary_of(journal()) == MatchSummary(MatchStatus.COMPLETED, 122, 1, 1, (100, 0), seats)


def test_a_journal_that_broke_off_ended_with_its_last_entry() -> None:
    seats = {"x": SeatResult(None, 0, 0, 0), "o": SeatResult(None, 0, 0, 0)}
    assert summary_of(journal()[:4]) == MatchSummary(MatchStatus.ABORTED, 110, 0, 0, None, seats)


def test_a_failure_of_a_player_s_code_is_an_error_of_its_seat_and_of_the_match() -> None:
    """A step in which both went wrong counts once; one without an answer is no move, and took no time."""
    steps = [
        replace(entry, failures=("KeyError", "KeyError"), elapsed_ms=(9, None))
        if isinstance(entry, StepEntry)
        else entry
        for entry in journal()
    ]
    summary = summary_of(steps)
    assert (summary.n_errors, summary.seats) == (4, {"x": SeatResult(100, 2, 9, 1), "o": SeatResult(0, 2, 0, 0)})
