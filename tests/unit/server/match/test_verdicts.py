"""What answers are worth, whatever they are."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.language.kif import read_term
from gdl.language.terms import Term
from server.match.exchange import Answer, ReplyEnding
from server.match.link import MAX_REPLY_BYTES
from server.match.verdicts import LegalChoice, Verdict, judge_acknowledgement, judge_move
from tests.kit.server.plays import LEFT
from tests.kit.tracing import lines_of

MOVES = tuple(map(read_term, ("(mark 1 1)", "(mark 1 2)", "(say Yes)", "(say YES)", "noop")))


def itself(term: Term) -> Term:
    return term


CHOICE = LegalChoice(MOVES, itself, itself)


def answer(raw: bytes, ending: ReplyEnding = ReplyEnding.REPLIED, detail: str = "") -> Answer:
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


def test_the_hint_of_a_link_follows_the_error_of_a_reply_that_did_not_come() -> None:
    late = Answer(0, 1, LEFT, ReplyEnding.TIMED_OUT, b"", 1200, "is it\nthere?")
    assert judge_acknowledgement(late) == Verdict(None, "TO", "no reply within 1.2 s; nothing had come: is it there?")


@pytest.mark.parametrize("ending", [ReplyEnding.TIMED_OUT, ReplyEnding.FAILED])
def test_a_move_that_came_before_things_went_wrong_counts(ending: ReplyEnding) -> None:
    assert judge_move(answer(b"noop", ending), CHOICE) == Verdict(MOVES[-1])


@pytest.mark.parametrize(
    ("said", "error", "detail"),
    [
        ("(mark 9 9)", "IL (mark 9 9)", "no legal move"),
        ("done", "IL done", "no legal move: that answers STOP"),
        (
            "MARK 1 1",
            "IL MARK",
            "no legal move: a move of several words stands in parentheses, else its first word alone is read",
        ),
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


def test_the_only_legal_move_is_named_as_where_another_role_is_to_move() -> None:
    turn_of_another = replace(CHOICE, legal_moves=(read_term("noop"),))
    told = "no legal move: the only one is noop"
    assert judge_move(answer(b"(mark 1 1)"), turn_of_another) == Verdict(None, "IL (mark 1 1)", told)


@pytest.mark.parametrize(
    ("ending", "detail", "verdict"),
    [
        (ReplyEnding.TIMED_OUT, "", Verdict(None, "TO", "no reply within 1.2 s; 4 bytes without an end had come")),
        (ReplyEnding.FAILED, "connection refused", Verdict(None, "CE", "connection refused")),
    ],
)
def test_silence_and_broken_connections_have_their_words(ending: ReplyEnding, detail: str, verdict: Verdict) -> None:
    late = answer(b"(mar", ending, detail)
    assert judge_acknowledgement(late) == judge_move(late, CHOICE) == verdict


def test_acknowledgements_may_say_anything() -> None:
    assert judge_acknowledgement(answer(b")\0(")) == Verdict()


@given(
    st.one_of(st.binary(max_size=60), st.text("() ;?nopmark12\0é\ud7ff", max_size=40).map(str.encode)),
    st.sampled_from(ReplyEnding),
)
def test_whatever_comes_there_is_a_verdict(raw: bytes, ending: ReplyEnding) -> None:
    verdict = judge_move(answer(raw, ending), CHOICE)
    if verdict.move is None:
        assert verdict.error[:2] in {"TO", "CE", "IL"}
        assert verdict.detail
        assert verdict.error.isprintable()
    else:
        assert verdict == Verdict(verdict.move)
        assert verdict.move in MOVES


LONG = "(tell " + "(a b) " * 3_000 + ")"
ENORMOUS = [b"(a ", b"a ", b"(", b"()", b"(a)", b"; a\n", b";\n", b"(a;)\n", b" ", b"a", b"\xff", b")", b"?x "]


@pytest.mark.parametrize("ending", ReplyEnding)
@pytest.mark.parametrize("piece", ENORMOUS)
@pytest.mark.parametrize("head", [b"", b"("])
def test_the_work_for_an_enormous_reply_is_that_for_a_small_one(head: bytes, piece: bytes, ending: ReplyEnding) -> None:
    reply = answer((head + piece * MAX_REPLY_BYTES)[:MAX_REPLY_BYTES], ending)
    found: list[Verdict] = []
    assert lines_of(lambda: found.append(judge_move(reply, CHOICE))) < 10_000
    assert [verdict.move for verdict in found] == [None]


def test_a_legal_move_may_be_long() -> None:
    move = read_term(LONG)
    assert judge_move(answer(LONG.encode()), LegalChoice((*MOVES, move), itself, itself)) == Verdict(move)


def test_what_is_longer_than_every_legal_move_is_shown_as_it_came() -> None:
    said = b"(mark " + b"1 " * 200 + b")"
    error = "IL (mark " + "1 " * 147 + "\N{HORIZONTAL ELLIPSIS}"
    assert judge_move(answer(said), CHOICE) == Verdict(None, error, "no move: longer than every legal move")
