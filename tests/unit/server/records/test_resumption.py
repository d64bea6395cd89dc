"""What the entries of a match that broke off say of where it goes on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gdl.language.kif import read_term
from gdl.language.terms import Constant
from gdl.wire.insights import Insight
from server.match.exchange import Aborted, Answered, Completed, Failed, Message, MoveOrigin, ResumeState
from server.match.verdicts import BUSY
from server.records.entries import (
    AbortedEntry,
    AnsweredEntry,
    CompletedEntry,
    Entry,
    FailedEntry,
    SentEntry,
    StateEntry,
    StepEntry,
)
from server.records.errors import MatchRecordError
from server.records.resumption import resume_state_of

STATE = StateEntry(1, 0, "((at 0))", None)
READY = StepEntry(3, 0, None, ("", ""), ("", ""), (1, 1), ())
MOVED = StepEntry(6, 1, ("a", "b"), ("", ""), ("", ""), (1, 1), (MoveOrigin.PLAYER, MoveOrigin.PLAYER))
MOVES = ((Constant("a"), Constant("b")),)


def sent(role: str, message: Message = Message.PLAY, step: int = 0) -> SentEntry:
    return SentEntry(4, step, role, message, "")


def answered(role: str, move: str = "a", message: Message = Message.PLAY) -> AnsweredEntry:
    return AnsweredEntry(5, 0, role, message, move, 1, "", "", move)


def answer(role: str, move: str = "a", message: Message = Message.PLAY) -> Answered:
    return Answered(5, 0, Constant(role), message, move, 1, "", "", read_term(move), "")


BEGUN: tuple[Entry, ...] = (STATE, sent("x", Message.START), sent("y", Message.START), READY)


def test_before_anything_was_sent_nothing_is_asked_again() -> None:
    assert resume_state_of([STATE]) == ResumeState(n_states=1)


def test_after_a_whole_step_no_message_and_no_answer_is_left() -> None:
    entries = [*BEGUN, sent("x"), sent("y"), answered("x", "a"), answered("y", "b"), MOVED]
    assert resume_state_of(entries) == ResumeState(MOVES, 1, was_anything_sent=True)


def test_after_the_start_no_message_and_no_answer_is_left() -> None:
    entries = [*BEGUN[:-1], answered("x", "a", Message.START), READY]
    assert resume_state_of(entries) == ResumeState(n_states=1, was_anything_sent=True)


def test_the_answers_of_a_step_count_for_that_step_alone() -> None:
    entries = [*BEGUN, sent("x"), sent("y"), answered("x"), answered("y", "b"), MOVED, sent("x", step=1)]
    assert resume_state_of(entries) == ResumeState(MOVES, 1, Message.PLAY, was_anything_sent=True)


def test_the_answers_to_one_message_are_none_to_the_next() -> None:
    entries: list[Entry] = [
        STATE,
        sent("x", Message.PREVIEW),
        answered("x", "a", Message.PREVIEW),
        sent("x", Message.START),
    ]
    assert resume_state_of(entries) == ResumeState(n_states=1, message=Message.START, was_anything_sent=True)


def test_an_answer_stays_when_the_others_are_asked_again() -> None:
    entries = [*BEGUN, sent("x"), sent("y"), answered("x"), sent("y")]
    assert resume_state_of(entries) == ResumeState((), 1, Message.PLAY, {"x": answer("x")}, was_anything_sent=True)


def test_what_a_player_thought_before_its_answer_stays_with_it() -> None:
    thought = Insight(9, 8, 1.5, 62.5, ("a",))
    entries = [*BEGUN, sent("x"), sent("y"), replace(answered("x"), insight=thought)]
    assert resume_state_of(entries).answers == {"x": replace(answer("x"), insight=thought)}


def test_after_the_end_goodbyes_are_asked_again() -> None:
    played = [*BEGUN, sent("x"), answered("x")]
    completed = resume_state_of([*played, MOVED, CompletedEntry(7, 1, (None, 50))])
    assert completed == ResumeState(MOVES, 1, Message.STOP, outcome=Completed(7, 1, (None, 50)), was_anything_sent=True)
    aborted = resume_state_of([*played, AbortedEntry(7, 0, "enough")])
    assert aborted == ResumeState((), 1, Message.ABORT, outcome=Aborted(7, 0, "enough"), was_anything_sent=True)
    failed = resume_state_of([*played, FailedEntry(7, 0, "LimitExceeded: too much: 5 s")])
    outcome = Failed(7, 0, "LimitExceeded", "too much: 5 s")
    assert failed == ResumeState((), 1, Message.ABORT, outcome=outcome, was_anything_sent=True)


@pytest.mark.parametrize("entry", [replace(MOVED, moves=("a", "(")), answered("x", ")")])
def test_a_move_that_is_no_term_is_refused(entry: Entry) -> None:
    with pytest.raises(MatchRecordError, match=r"^an entry that cannot be understood: KifSyntaxError"):
        resume_state_of([*BEGUN, entry])


def test_who_was_busy_at_the_start_is_known_to_the_end() -> None:
    busy = AnsweredEntry(5, 0, "x", Message.START, "busy", 1, BUSY, "", None)
    entries: list[Entry] = [STATE, sent("x", Message.START), busy, READY, AbortedEntry(7, 0, "did not come about")]
    assert resume_state_of(entries).busy == frozenset({"x"})
