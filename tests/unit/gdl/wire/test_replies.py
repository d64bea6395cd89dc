"""Replies of players: the first term, when it is complete, and the move it names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import MessageError
from gdl.language.kif import read_term
from gdl.wire.replies import decode, find_move, first_term, is_bare, is_complete

ODD = st.text(alphabet=st.sampled_from(list('()ab ;\n\0"{}:[]?1é')))


@pytest.mark.parametrize(
    ("reply", "term"),
    [
        ("noop", "noop"),
        ("  (mark 1 1)", "(mark 1 1)"),
        ('(mark 1 1) (explanation "...")', "(mark 1 1)"),
        ("(mark 1 1)) garbage ((", "(mark 1 1)"),
        ("noop(taunt x)", "noop"),
        ("; thinking\n( a  b )", "(a b)"),
        ("(noop)", "noop"),
        ("noop" + 200 * " ", "noop"),
    ],
)
def test_the_first_term_counts(reply: str, term: str) -> None:
    assert first_term(reply) == read_term(term)


@pytest.mark.parametrize("reply", ["", "  ", ";x", ")", "(", "(mark 1", "()", "((mark 1 1))", f"(f {'a ' * 50_000})"])
def test_a_reply_without_a_first_term_is_refused(reply: str) -> None:
    with pytest.raises(MessageError):
        first_term(reply)


@given(ODD, ODD)
def test_a_complete_reply_keeps_its_first_term_whatever_follows(reply: str, more: str) -> None:
    if is_complete(reply) and not reply.lstrip().startswith("{"):
        assert _first(reply) == _first(reply + more)


@given(ODD)
def test_a_reply_that_is_followed_by_a_blank_is_complete_if_it_has_a_first_term(reply: str) -> None:
    if not reply.lstrip().startswith("{") and _first(reply) is not None:
        assert is_complete(reply + "\n")


def _first(reply: str) -> object:
    try:
        return first_term(reply)
    except MessageError:
        return None


@pytest.mark.parametrize(
    ("reply", "complete"),
    [("", False), ("; (a)", False), ("a", False), ("a ", True), ("(a", False), ("(a)", True), (")", True),
     ("; (a)\n)", True), ('{"name": "x y"', False), ('{"name": "x y"}', True),
     (' {"name": "x y"', False), (' {"name": "x y"}', True)],
)  # fmt: skip
def test_when_a_reply_is_complete(reply: str, complete: bool) -> None:
    assert is_complete(reply) is complete


MOVES = tuple(map(read_term, ("(mark 1 a)", "(mark 1 A)", "(Mark 2 b)", "noop")))


@pytest.mark.parametrize(
    ("said", "move"),
    [("(mark 1 A)", MOVES[1]), ("(MARK 1 A)", None), ("(MARK 2 B)", MOVES[2]), ("NOOP", MOVES[3]), ("x", None)],
)
def test_a_move_is_found_exactly_or_in_another_case_if_unique(said: str, move: object) -> None:
    assert find_move(read_term(said), MOVES) is move


@pytest.mark.parametrize(
    ("reply", "expected"), [("mark 9 9", True), ("MARK", True), ("noop", False), ("x", False), ("(mark 9 9)", False)]
)
def test_a_reply_is_bare_that_lacks_the_parentheses_of_a_move(reply: str, expected: bool) -> None:
    assert is_bare(first_term(reply), MOVES) is expected


@given(st.binary())
def test_any_bytes_are_text(body: bytes) -> None:
    assert isinstance(decode(body), str)


def test_bytes_are_utf8_or_else_latin1() -> None:
    assert [decode("é".encode()), decode("é".encode("latin-1"))] == ["é", "é"]
