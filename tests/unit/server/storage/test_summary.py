"""What the row of a match and those of its seats say of how it went."""

from __future__ import annotations

import pytest

from server.records.entries import AbortedEntry, CompletedEntry, Entry
from server.storage.parts import summary_of
from server.storage.rows import MatchStatus
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
