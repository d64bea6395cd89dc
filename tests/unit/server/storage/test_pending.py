"""What waits to be written of a match: rows of events, how far the match is, and what follows what is there."""

from __future__ import annotations

import pytest

from server.match.exchange import Message
from server.records.entries import ClosedEntry, SentEntry
from server.storage.journals import line_of
from server.storage.pending import MatchEnding, MatchPart
from server.storage.summaries import summary_of
from tests.kit.server.storage.samples import journal


def part_of(first: int = 0) -> MatchPart:
    """Return the part with the whole journal, whose first entry has the number *first*."""
    part = MatchPart("m")
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
    part = MatchPart("m")
    part.add(0, SentEntry(1, 0, "x\0\ud800", Message.PLAY, "(PLAY m NIL)"), "made before")
    assert [(row["body"], row["role"]) for row in part.rows] == [("made before", "x\ufffd\ufffd")]


def test_the_progress_of_a_match_is_that_of_all_entries_together() -> None:
    part = part_of()
    part.add(8, journal()[4])
    assert part.progress == {"key": "m", "n": 1, "errors": 2, "started": 100}


def test_what_is_no_progress_is_none() -> None:
    part = MatchPart("m")
    part.add(0, SentEntry(1, 0, "x", Message.PLAY, "(PLAY m NIL)"))
    part.add(1, ClosedEntry(2))
    assert part.progress is None


@pytest.mark.parametrize(("last", "follows"), [(1, False), (2, True), (3, False)])
def test_a_part_follows_the_entry_before_its_first(last: int, follows: bool) -> None:
    assert part_of(3).follows(last) is follows


def test_a_part_with_a_gap_follows_nothing_and_one_without_entries_anything() -> None:
    part = MatchPart("m")
    empty = part.follows(7)
    for number in (0, 2):
        part.add(number, ClosedEntry(1))
    assert (empty, part.follows(-1)) == (True, False)


def test_events_are_needed_where_a_match_has_ended_and_its_journal_was_not_read() -> None:
    part, found = MatchPart("m"), []
    for ending in (None, MatchEnding(summary_of(journal()), None), MatchEnding(summary_of(journal()), None, b"")):
        part.ending = ending
        found.append(part.needs_events)
    assert found == [False, True, False]
