"""Events become entries of a journal with all that they tell, each in its place."""

from __future__ import annotations

import pytest

from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from gdl.language.terms import Constant
from gdl.wire.insights import Insight
from gdl.wire.messages import Dialect
from gdl.wire.scrambling import Scrambling
from server.match import exchange
from server.match.exchange import Message, MoveOrigin
from server.match.profiles import Case, Profile
from server.match.setup import MatchSetup, Seat, Substitute
from server.records import entries
from server.records.entries import Circumstances, JournalSeat, entry_of, versions

CIRCUMSTANCES = Circumstances("turns", "token", "http://here/turns/", "cup")
ORIGINS = (MoveOrigin.PLAYER, MoveOrigin.CHANCE)
THOUGHT = Insight(9, 8, 1.5, 62.5, ("a",))
X, GO = Constant("x"), read_term("(go 1)")
EVENTS: dict[str, tuple[exchange.Event, entries.Entry]] = {
    "sent": (
        exchange.Sent(1, 2, X, Message.PLAY, "(PLAY m NIL)"),
        entries.SentEntry(1, 2, "x", Message.PLAY, "(PLAY m NIL)"),
    ),
    "answered": (
        exchange.Answered(1, 2, X, Message.PLAY, "text", 3, "TO", "late", GO, "it fell", THOUGHT),
        entries.AnsweredEntry(1, 2, "x", Message.PLAY, "text", 3, "TO", "late", "( go 1 )", "it fell", THOUGHT),
    ),
    "answered without a move": (
        exchange.Answered(1, 2, X, Message.START, "ready", 3, "", "", None),
        entries.AnsweredEntry(1, 2, "x", Message.START, "ready", 3, "", "", None),
    ),
    "step": (
        exchange.StepFinished(
            1, 2, (GO, X), ("TO", ""), ("late", ""), (3, None), ORIGINS, ("it fell", ""), (THOUGHT, None)
        ),
        entries.StepEntry(
            1, 2, ("( go 1 )", "x"), ("TO", ""), ("late", ""), (3, None), ORIGINS, ("it fell", ""), (THOUGHT, None)
        ),
    ),
    "start": (
        exchange.StepFinished(1, 0, None, ("", ""), ("", ""), (3, 4), ()),
        entries.StepEntry(1, 0, None, ("", ""), ("", ""), (3, 4), ()),
    ),
    "state": (
        exchange.StateReached(1, 2, "( )", ((GO,), ()), is_common=True),
        entries.StateEntry(1, 2, "( )", (("( go 1 )",), ()), is_common=True),
    ),
    "first state": (exchange.StateReached(1, 0, "( )", None), entries.StateEntry(1, 0, "( )", None)),
    "completed": (exchange.Completed(1, 2, (100, None)), entries.CompletedEntry(1, 2, (100, None))),
    "aborted": (exchange.Aborted(1, 2, "enough"), entries.AbortedEntry(1, 2, "enough")),
    "failed": (
        exchange.Failed(1, 2, "LimitExceeded", "too much: 5 s"),
        entries.FailedEntry(1, 2, "LimitExceeded: too much: 5 s"),
    ),
    "closed": (exchange.Closed(1), entries.ClosedEntry(1)),
}


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_becomes_an_entry_with_all_that_it_tells(name: str) -> None:
    event, entry = EVENTS[name]
    assert entry_of(event, CIRCUMSTANCES) == entry


@pytest.mark.parametrize("is_scrambled", [True, False])
def test_a_journal_begins_with_all_that_was_agreed_on(is_scrambled: bool) -> None:
    rules = read_rules("(role x) (role random) (init (at 0)) (<= terminal (true (at 0))) (goal x 1)", is_gdl2=True)
    profile = Profile(Dialect.GDL2_PERCEPTS, Case.UPPER, 2.5, is_scrambled=is_scrambled)
    seats = (Seat(X, "Deep", profile, is_human=True),)
    setup = MatchSetup(seats, 10, 5, "m", 7, 8, Substitute.FIRST, 3)
    found = entry_of(exchange.Started(1, setup, rules, (X, Constant("random"))), CIRCUMSTANCES)
    names = Scrambling(rules, 8).names if is_scrambled else {}
    assert found == entries.StartedEntry(
        1, "m", "token", "turns", "http://here/turns/", "cup", rules.source.text, rules.sha256, True, ("x", "random"),
        (
            JournalSeat("Deep", True, is_scrambled, "gdl2-percepts", "upper", 2500),
            JournalSeat("random", False, False),
        ),
        10, 5, 3, 7, 8, names, "first", versions(),
    )  # fmt: skip
