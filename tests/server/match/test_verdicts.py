"""What answers are worth, whatever they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.kif import read_term
from gdl.terms import Term
from server.match.exchange import Answer, Ending
from server.match.verdicts import Choice, Verdict, judge_courtesy, judge_move
from tests.server.plays import LEFT

MOVES = tuple(map(read_term, ("(mark 1 1)", "(mark 1 2)", "(say Yes)", "(say YES)", "noop")))


def itself(term: Term) -> Term:
    return term


CHOICE = Choice(MOVES, itself, itself)


def answer(raw: bytes, ending: Ending = Ending.REPLIED, detail: str = "") -> Answer:
    return Answer(0, 1, LEFT, ending, raw, 1250, detail)


@pytest.mark.parametrize(
    ("said", "move"),
    [
        ("(mark 1 1)", "(mark 1 1)"),
        (" ( MARK\n1  2 )", "(mark 1 2)"),
        ("(mark 1 1) (mark 1 2)", "(mark 1 1)"),
        ("noop because", "noop"),
        ("(noop)", "noop"),
        ("; thinking\nNOOP", "noop"),
        ("(say YES)", "(say YES)"),
    ],
)
def test_moves_are_found(said: str, move: str) -> None:
    assert judge_move(answer(said.encode()), CHOICE) == Verdict(read_term(move))


@pytest.mark.parametrize("ending", [Ending.TIMED_OUT, Ending.FAILED])
def test_a_move_that_came_before_things_went_wrong_counts(ending: Ending) -> None:
    assert judge_move(answer(b"noop", ending), CHOICE) == Verdict(MOVES[-1])


@pytest.mark.parametrize(
    ("said", "error", "detail"),
    [
        ("(mark 9 9)", "IL (mark 9 9)", "no legal move"),
        ("done", "IL done", "no legal move: that answers STOP"),
        (
            "(say yes)",
            "IL (say yes)",
            "no legal move: it names 2 legal moves that differ in upper and lower case alone",
        ),
        ("(mark ?x 1)", "IL (mark ?x 1)", "no legal move"),
        ("  \n", "IL", "no move: nothing was said"),
        ("(mark", "IL (mark", "no move: a parenthesis is never closed"),
        ("()", "IL ()", "no move: an empty pair of parentheses"),
    ],
)
def test_what_is_no_move_is_explained(said: str, error: str, detail: str) -> None:
    assert judge_move(answer(said.encode()), CHOICE) == Verdict(None, error, detail)


@pytest.mark.parametrize(
    ("ending", "verdict"),
    [
        (Ending.TIMED_OUT, Verdict(None, "TO", "no reply within 1.2 s; 4 bytes without an end had come")),
        (Ending.FAILED, Verdict(None, "CE", "connection refused")),
    ],
)
def test_silence_and_broken_connections_have_their_words(ending: Ending, verdict: Verdict) -> None:
    late = answer(b"(mar", ending, "connection refused")
    assert judge_courtesy(late) == judge_move(late, CHOICE) == verdict


def test_courtesies_may_say_anything() -> None:
    assert judge_courtesy(answer(b")\0(")) == Verdict()


@given(
    st.one_of(st.binary(max_size=60), st.text("() ;?nopmark12\0é\ud7ff", max_size=40).map(str.encode)),
    st.sampled_from(Ending),
)
def test_whatever_comes_there_is_a_verdict(raw: bytes, ending: Ending) -> None:
    verdict = judge_move(answer(raw, ending), CHOICE)
    if verdict.move is None:
        assert verdict.error[:2] in {"TO", "CE", "IL"}
        assert verdict.detail
        assert verdict.error.isprintable()
    else:
        assert verdict == Verdict(verdict.move)
        assert verdict.move in MOVES
