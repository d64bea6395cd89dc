"""All that every viewer may know of a journal, entry by entry: one file for each kind of match, a line for each event.

A line has the kind of an event and its data, in JSON.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from gdl.wire.insights import Insight
from server.match.exchange import Message, MoveOrigin
from server.records.entries import (
    AbortedEntry,
    AnsweredEntry,
    ClosedEntry,
    CompletedEntry,
    Entry,
    JournalSeat,
    SentEntry,
    StartedEntry,
    StateEntry,
    StepEntry,
)
from server.records.errors import MatchRecordError
from server.spectating.public_journal import public_events
from server.visibility import Secrecy

FOLDER: Final = Path(__file__).with_name("public_events")
PLAIN: Final = Secrecy(is_imperfect=False, is_scrambled=False, has_ended=False)
KINDS: Final = {
    "plain": PLAIN,
    "plain-insight": replace(PLAIN, shows_insight=True),
    "imperfect": replace(PLAIN, is_imperfect=True, shows_insight=True),
    "scrambled": replace(PLAIN, is_scrambled=True, shows_insight=True),
}
SEATS: Final = (
    JournalSeat("deep", is_human=False, is_scrambled=False, dialect="gdl2", case="lower", grace_ms=250),
    JournalSeat("human", is_human=True, is_scrambled=False, dialect="gdl2-percepts", case="lower"),
)
STARTED: Final = StartedEntry(
    1_000, "match.m1", "token", "turns", "http://turns", None, "(role a)", "5ha", True, ("a", "b"), SEATS,
    30, 20, 40, 7, 8, {"a": "zog"}, "random", {"ggp": "1"},
)  # fmt: skip
THOUGHT: Final = Insight(9, 8, 2.0, 50.0, ("( muse 1 )",))
PLAYER, SUBSTITUTE = MoveOrigin.PLAYER, MoveOrigin.SUBSTITUTE


def exchanged(at_ms: int, step: int, role: str, message: Message) -> tuple[Entry, ...]:
    """Return that *message* was sent to *role* and answered."""
    sent = SentEntry(at_ms, step, role, message, f"( {message.value} secret )")
    reply = "( wire 1 )", 7, "", "( detail )", "( move 1 )"
    return sent, AnsweredEntry(at_ms + 7, step, role, message, *reply, "broken", THOUGHT)


JOURNAL: Final[tuple[Entry, ...]] = (
    STARTED,
    *exchanged(1_100, 0, "a", Message.PREVIEW),
    StateEntry(1_200, 0, "( ( at 0 ) )", None, is_common=True),
    *exchanged(1_300, 0, "a", Message.START),
    *exchanged(1_400, 0, "b", Message.START),
    StepEntry(1_500, 0, None, ("", "TO"), ("", "late"), (7, None), ()),
    *exchanged(1_600, 0, "a", Message.PLAY),
    StepEntry(
        1_700, 0, ("( go 1 )", "noop"), ("IL ( go 9 )", ""), ("( go 9 )", ""), (5, 6), (SUBSTITUTE, PLAYER),
        ("", ""), (THOUGHT, None),
    ),
    StateEntry(1_800, 1, "( ( at 1 ) )", (("( seen 1 )",), ()), is_common=True),
    StepEntry(1_900, 1, ("noop", "( go 2 )"), ("", "IL ( go 8 )"), ("", ""), (5, 6), (PLAYER, SUBSTITUTE)),
    StateEntry(2_000, 2, "( ( at 2 ) )", (("( seen 2 )",), ("( seen 3 )",)), is_common=True),
    StepEntry(2_100, 2, ("( go 3 )", "noop"), ("", ""), ("", ""), (5, 6), (PLAYER, PLAYER)),
    StateEntry(2_200, 3, "( ( at 3 ) )", (("( seen 4 )",), ()), is_common=True),
    CompletedEntry(2_300, 3, (100, None)),
    *exchanged(2_400, 3, "b", Message.STOP),
    ClosedEntry(2_500),
)  # fmt: skip


def told(journal: tuple[Entry, ...], secrecy: Secrecy) -> list[str]:
    return [f"{event.kind} {json.dumps(event.data)}" for event in public_events(journal, secrecy)]


@pytest.mark.parametrize("kind", KINDS)
def test_viewers_know_of_each_entry_what_the_kind_of_the_match_allows(kind: str) -> None:
    expected = (FOLDER / f"{kind}.txt").read_text("utf-8").splitlines()
    assert told(JOURNAL, KINDS[kind]) == expected


def test_every_file_is_that_of_a_kind() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(KINDS)


@pytest.mark.parametrize("kind", ["imperfect", "scrambled"])
@pytest.mark.parametrize("is_set_open", [False, True])
def test_after_the_end_what_was_hidden_is_told_unless_its_set_is_open(kind: str, is_set_open: bool) -> None:
    entries = STARTED, AbortedEntry(1_100, 0, "host"), StateEntry(1_200, 0, "( ( at 0 ) )", None)
    after = told(entries, replace(KINDS[kind], is_set_open=is_set_open))[1:]
    reason = "" if is_set_open and kind == "scrambled" else "host"
    state = "" if is_set_open else ', "state": "( ( at 0 ) )"'
    assert after == [
        f'aborted {{"at": 1100, "step": 0, "reason": "{reason}"}}',
        f'state {{"at": 1200, "step": 0{state}}}',
    ]


@pytest.mark.parametrize(
    ("has_ended", "is_set_open", "is_told"), [(False, False, False), (True, True, False), (True, False, True)]
)
def test_what_players_tell_of_their_code_is_told_after_the_end(
    has_ended: bool, is_set_open: bool, is_told: bool
) -> None:
    failed = StepEntry(1_100, 0, ("go", "noop"), ("", ""), ("", ""), (1, 2), (PLAYER, PLAYER), ("ValueError", ""))
    secrecy = replace(PLAIN, is_imperfect=True, has_ended=has_ended, is_set_open=is_set_open)
    *_, step = public_events((STARTED, failed), secrecy)
    assert step.data.get("failures") == (["ValueError", ""] if is_told else None)


def test_a_journal_begins_with_the_start_of_a_match() -> None:
    with pytest.raises(MatchRecordError, match=r"^there is no entry that starts a match$"):
        told(JOURNAL[1:], PLAIN)


@pytest.mark.parametrize("secrecy", KINDS.values())
def test_an_abort_or_a_farewell_is_answered_within_the_play_clock_at_most(secrecy: Secrecy) -> None:
    entries = replace(STARTED, play_clock_s=3), AbortedEntry(1_100, 0, "host"), *exchanged(2_000, 0, "b", Message.ABORT)
    asked = [event.data["deadlineMs"] for event in public_events(entries, secrecy) if event.kind == "asked"]
    assert asked == [5_000]
