"""What may be known of a match before those with the same seeds are over."""

from __future__ import annotations

from dataclasses import replace

import pytest

from server.records.entries import AbortedEntry, FailedEntry, entry_of
from server.spectating.events import PublicJournal
from server.spectating.public import PublicEnd
from server.visibility import Secrecy
from tests.kit.server.scripted import CIRCUMSTANCES, TURNS_MOVES, events, turns

OPEN = Secrecy(is_imperfect=False, is_scrambled=False, has_ended=False, is_set_open=True)
FAILED = "NoLegalMoveError: white has no legal move in (at 3)"


@pytest.mark.parametrize(
    ("secrecy", "failed", "aborted"),
    [
        (OPEN, FAILED, "white is away"),
        (replace(OPEN, is_imperfect=True), "NoLegalMoveError", "white is away"),
        (replace(OPEN, is_scrambled=True), "", ""),
        (replace(OPEN, is_scrambled=True, is_set_open=False), FAILED, "white is away"),
    ],
)
def test_the_reason_of_an_end_names_no_state_and_no_role_that_is_secret(
    secrecy: Secrecy, failed: str, aborted: str
) -> None:
    first = entry_of(next(events(turns(), TURNS_MOVES)), CIRCUMSTANCES)
    ends = FailedEntry(9, 1, FAILED), AbortedEntry(9, 1, "white is away")
    assert [PublicJournal(first, secrecy).public(end) for end in ends] == [
        PublicEnd("failed", 9, 1, reason=failed),
        PublicEnd("aborted", 9, 1, reason=aborted),
    ]
