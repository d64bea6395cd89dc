"""The Pygments lexer: every kind of token, and no character lost."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, Whitespace, _TokenType

from gdl.editing.grammar import GdlLexer
from gdl.games.library import find_game, game_names


def lexed(text: str) -> list[tuple[_TokenType, str]]:
    """Return the tokens of *text* with their kinds."""
    return [(kind, word) for _, kind, word in GdlLexer().get_tokens_unprocessed(text)]


def kinds(text: str) -> list[tuple[_TokenType, str]]:
    """Return the tokens of *text* that are neither blank nor a parenthesis."""
    return [(kind, word) for kind, word in lexed(text) if kind not in (Whitespace, Punctuation)]


def test_each_kind_of_token_is_distinguished() -> None:
    assert lexed("(<= (NEXT (cell ?x 10)) ; why\r\n(not open))") == [
        (Punctuation, "("),
        (Operator, "<="),
        (Whitespace, " "),
        (Punctuation, "("),
        (Keyword, "NEXT"),
        (Whitespace, " "),
        (Punctuation, "("),
        (Name.Function, "cell"),
        (Whitespace, " "),
        (Name.Variable, "?x"),
        (Whitespace, " "),
        (Number.Integer, "10"),
        (Punctuation, ")"),
        (Punctuation, ")"),
        (Whitespace, " "),
        (Comment.Single, "; why"),
        (Whitespace, "\r\n"),
        (Punctuation, "("),
        (Operator.Word, "not"),
        (Whitespace, " "),
        (Name, "open"),
        (Punctuation, ")"),
        (Punctuation, ")"),
    ]


@pytest.mark.parametrize("name", ["not", "or", "And", "DISTINCT"])
def test_connectives_begin_a_list(name: str) -> None:
    assert kinds(f"({name} {name})") == [(Operator.Word, name), (Name, name)]


@pytest.mark.parametrize("name", ["role", "Base", "terminal", "sees", "random"])
def test_relations_of_the_language_are_known_in_any_case_and_place(name: str) -> None:
    assert kinds(f"({name} {name})") == [(Keyword, name)] * 2


@pytest.mark.parametrize("name", ["roles", "next2", "10x", "-", "+", "not-open", "<=>", "é", "\0"])
def test_names_that_begin_like_something_else_are_names(name: str) -> None:
    assert kinds(f"({name} {name})") == [(Name.Function, name), (Name, name)]


def test_comments_and_blanks_may_stand_before_the_head_of_a_list() -> None:
    assert kinds("( ; c\n move 1)") == [(Comment.Single, "; c"), (Name.Function, "move"), (Number.Integer, "1")]


def test_a_variable_or_a_list_in_the_place_of_a_head_is_no_head() -> None:
    assert kinds("(?p a) ((f) b) () c") == [
        (Name.Variable, "?p"), (Name, "a"), (Name.Function, "f"), (Name, "b"), (Name, "c")
    ]  # fmt: skip


@given(st.text() | st.text(alphabet="()<=?; \n\r\tnot1a\v"))
def test_the_tokens_make_up_the_text_again(text: str) -> None:
    assert "".join(word for _, word in lexed(text)) == text


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", game_names())
def test_nothing_in_our_games_is_an_error(name: str) -> None:
    text = find_game(name).path.read_text(encoding="utf-8")
    found = list(GdlLexer(stripnl=False, ensurenl=False).get_tokens(text))
    assert "".join(word for _, word in found) == text
    assert [word for kind, word in found if "Error" in kind] == []


def test_pygments_finds_the_lexer_by_name() -> None:
    registered = {point.name: point.value for point in entry_points(group="pygments.lexers")}
    assert registered.get("gdl") == "gdl.editing.grammar:GdlLexer"
