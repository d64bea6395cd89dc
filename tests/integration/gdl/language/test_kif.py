"""The reader: every text is read or refused with a place, in linear time at any depth."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.diagnostics import Source
from gdl.errors import KifSyntaxError
from gdl.language.kif import BINARY, DEFAULT_LIMITS, TOKEN, ReadLimits, read_forms, read_term, term_of, tokens
from gdl.language.terms import Term
from tests.kit.gdl.forms import TERMS
from tests.kit.gdl.public_rules import public_files

ROOT: Final = Path(__file__).resolve().parents[4]
CORPUS: Final = ROOT / os.environ.get("GGP_SHARED", "../shared") / "conformance" / "rules"
BINARY_CHARACTERS: Final = re.compile(f"[{BINARY}]")
BLANKS: Final = st.sampled_from([" ", "\n", "\t", "\r\n", "\f", "\v", " ; a comment ( )\n", " ;\n  "])


def texts(text: str) -> list[str]:
    return [str(term_of(form)) for form in read_forms(Source("<text>", text))]


@given(st.lists(TERMS), st.data())
def test_what_is_printed_with_any_blanks_and_comments_is_read_back(terms: list[Term], data: st.DataObject) -> None:
    text = "".join(f"{data.draw(BLANKS)}{term}" for term in terms) + data.draw(BLANKS)
    assert texts(text) == [str(term) for term in terms]


@given(st.text() | st.text(alphabet="()ab?;\n \0"))
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    refused = refusal_of(text)
    if refused is not None:
        assert refused.span is not None
        assert str(refused).startswith(f"<text>:{refused.span.line}:{refused.span.column}: ")


def refusal_of(text: str) -> KifSyntaxError | None:
    """Return why *text* is refused; None where it is read."""
    try:
        texts(text)
    except KifSyntaxError as error:
        return error
    return None


@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no conformance material at {CORPUS}; GGP_SHARED names its parent")
def test_every_public_rule_file_reads_back_from_its_print() -> None:
    different = []
    for path in public_files():
        found = texts(path.read_text(encoding="utf-8", errors="replace"))
        if texts("\n".join(found)) != found:
            different.append(path.name)
    assert different == []


def test_every_token_has_its_place() -> None:
    found = [(token.start, token.end, token.text) for token in tokens(Source("", "(ab\n?c) ;x\n d"))]
    assert found == [(0, 1, "("), (1, 3, "ab"), (4, 6, "?c"), (6, 7, ")"), (8, 10, ";x"), (12, 13, "d")]


def test_every_form_has_its_place() -> None:
    (form,) = read_forms(Source("", " (a (b c)\n d)"))
    assert form.children is not None
    assert [child.span.text for child in (form, *form.children)] == ["(a (b c)\n d)", "a", "(b c)", "d"]


def test_a_name_may_hold_anything_but_blanks_parentheses_and_semicolons() -> None:
    assert texts("?n++ a=b 'x' \"y\" <= [1,2] grün \N{NO-BREAK SPACE} a;c\nb") == [
        "?n++", "a=b", "'x'", '"y"', "<=", "[1,2]", "grün", "\N{NO-BREAK SPACE}", "a", "b",
    ]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("depth", [1, 100, 20_000, 25_000])
def test_parentheses_nest_as_deep_as_the_limit_says(depth: int) -> None:
    assert read_term("(f " * depth + "a" + ")" * depth).depth == depth


@pytest.mark.parametrize("text", ["(f " * 25_001 + "a" + ")" * 25_001, "(" * 1_000_000])
def test_parentheses_that_nest_deeper_are_refused_where_they_do(text: str) -> None:
    with pytest.raises(KifSyntaxError, match="deeper than the limit of 25,000") as raised:
        read_term(text)
    assert raised.value.span is not None
    assert raised.value.span.text == "("


def test_a_text_longer_than_the_limit_is_refused_unread() -> None:
    with pytest.raises(KifSyntaxError, match="11,000,000 characters, more than the limit of 10,000,000"):
        read_forms(Source("<text>", "(a b) " * (11_000_000 // 6) + " " * (11_000_000 % 6)))


def test_the_limits_are_the_callers_to_choose() -> None:
    with pytest.raises(KifSyntaxError, match="more than the limit of 3"):
        read_term("long", ReadLimits(max_characters=3))
    assert ReadLimits(max_characters=10_000_000, max_depth=25_000) == DEFAULT_LIMITS


@pytest.mark.parametrize("text", ["", "a b", "; nothing", "(a) (b)"])
def test_one_term_is_exactly_one(text: str) -> None:
    with pytest.raises(KifSyntaxError, match="one term expected"):
        read_term(text)


@given(st.text() | st.text(alphabet="()ab?;\n \0"))
def test_a_search_for_tokens_finds_those_that_the_reader_finds(text: str) -> None:
    if BINARY_CHARACTERS.search(text) is None:
        assert TOKEN.findall(text) == [token.text for token in tokens(Source("<text>", text))]
