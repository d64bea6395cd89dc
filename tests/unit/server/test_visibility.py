"""What may be known of a match before those with the same seeds are over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from server.match.exchange import Message
from server.records.entries import AbortedEntry, CompletedEntry, FailedEntry, SentEntry, entry_of
from server.spectating.events import PublicEnd, PublicQuestion
from server.spectating.public_journal import PublicJournal
from server.visibility import Aspect, Secrecy, Viewer, may_see
from tests.kit.server.scripted import CIRCUMSTANCES, TURNS_MOVES, events, turns

OPEN = Secrecy(is_imperfect=False, is_scrambled=False, has_ended=False, is_set_open=True)
FAILED = "NoLegalMoveError: white has no legal move in (at 3: noon)"


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


def test_a_match_that_is_over_stays_so_where_its_row_is_read_too_early() -> None:
    first = entry_of(next(events(turns(), TURNS_MOVES)), CIRCUMSTANCES)
    live = replace(OPEN, is_scrambled=True, is_set_open=False)
    journal = PublicJournal(first, live)
    journal.public(CompletedEntry(9, 2, (100, 0)))
    journal.renew(live)
    assert journal.public(SentEntry(10, 2, "b", Message.STOP, "(STOP match.m1 nil)")) == PublicQuestion(
        10, 2, 1, Message.STOP, "b", 10 + 5_000 + 1_000, 1_000
    )


KINDS = {
    "P": replace(OPEN, is_set_open=False),
    "T": replace(OPEN, is_set_open=False, shows_insight=True),
    "I": replace(OPEN, is_set_open=False, shows_insight=True, is_imperfect=True),
    "S": replace(OPEN, is_set_open=False, shows_insight=True, is_scrambled=True),
    "E": replace(OPEN, is_set_open=False, is_imperfect=True, is_scrambled=True, has_ended=True),
    "O": replace(OPEN, is_imperfect=True, is_scrambled=True, has_ended=True),
}
"""Matches that are played, where nothing is hidden (P), what players think is shown (T), information is imperfect (I),
or names are scrambled (S); one of both kinds that is over (E), and one of an open set (O)."""


def test_each_viewer_sees_of_each_kind_of_match_what_the_table_of_this_test_says() -> None:
    found = [["", *Viewer]] + [
        [aspect, *("".join(kind for kind in KINDS if may_see(aspect, viewer, KINDS[kind])) or "-" for viewer in Viewer)]
        for aspect in Aspect
    ]
    table = Path(__file__).with_name("visibility.txt").read_text("utf-8")
    assert "".join("".join(f"{cell:<11}" for cell in row).rstrip() + "\n" for row in found) == table


def test_what_every_role_knows_is_no_secret_of_imperfect_information() -> None:
    assert replace(OPEN, is_imperfect=True, is_scrambled=True).where_known() == replace(OPEN, is_scrambled=True)
