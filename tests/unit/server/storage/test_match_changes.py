"""The changes of a match that wait to be written: events, progress, what they follow on, and how the match went."""

from __future__ import annotations

from dataclasses import replace

import pytest

from server.match.exchange import Message
from server.records.entries import AbortedEntry, ClosedEntry, CompletedEntry, Entry, SentEntry, StepEntry
from server.storage.journals import line_of
from server.storage.match_changes import MatchChanges, MatchEnding, summary_of
from server.storage.rows import MatchStatus, MatchSummary, SeatResult
from tests.kit.server.storage.samples import journal


def part_of(first: int = 0) -> MatchChanges:
    """Return the part with the whole journal, whose first entry has the number *first*."""
    part = MatchChanges("m")
    for number, entry in enumerate(journal(), first):
        part.add(number, entry)
    return part


def test_each_entry_is_a_row() -> None:
    told = [(row["number"], row["kind"], row["at_ms"], row["step"], row["role"]) for row in part_of(3).rows]
    assert told == [
        (3, "started", 100, None, None),
        (4, "state", 101, 0, None),
        (5, "step", 102, 0, None),
        (6, "answered", 110, 0, "x"),
        (7, "step", 120, 0, None),
        (8, "state", 121, 1, None),
        (9, "completed", 122, 1, None),
        (10, "closed", 130, None, None),
    ]
    assert [(row["match_id"], row["body"]) for row in part_of().rows] == [("m", line_of(entry)) for entry in journal()]


def test_a_row_has_the_line_that_was_made_before_and_a_role_that_can_be_kept() -> None:
    part = MatchChanges("m")
    part.add(0, SentEntry(1, 0, "x\0\ud800", Message.PLAY, "(PLAY m NIL)"), "made before")
    assert [(row["body"], row["role"]) for row in part.rows] == [("made before", "x\ufffd\ufffd")]


def test_the_progress_of_a_match_is_that_of_all_entries_together() -> None:
    part = part_of()
    part.add(8, journal()[4])
    assert part.progress == {"key": "m", "n": 1, "errors": 2, "started": 100}


def test_what_is_no_progress_is_none() -> None:
    part = MatchChanges("m")
    part.add(0, SentEntry(1, 0, "x", Message.PLAY, "(PLAY m NIL)"))
    part.add(1, ClosedEntry(2))
    assert part.progress is None


@pytest.mark.parametrize(("last", "follows"), [(1, False), (2, True), (3, False)])
def test_a_part_follows_the_entry_before_its_first(last: int, follows: bool) -> None:
    assert part_of(3).follows(last) is follows


def test_a_part_with_a_gap_follows_nothing_and_one_without_entries_anything() -> None:
    part = MatchChanges("m")
    empty = part.follows(7)
    for number in (0, 2):
        part.add(number, ClosedEntry(1))
    assert (empty, part.follows(-1)) == (True, False)


def test_events_are_needed_where_a_match_has_ended_and_its_journal_was_not_read() -> None:
    part, found = MatchChanges("m"), []
    for ending in (None, MatchEnding(summary_of(journal()), None), MatchEnding(summary_of(journal()), None, b"")):
        part.ending = ending
        found.append(part.needs_events)
    assert found == [False, True, False]


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
