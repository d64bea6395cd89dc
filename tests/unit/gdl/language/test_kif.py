"""What is wrong with a text of KIF is said with its place, its code and what to do; what is right is not refused."""

from __future__ import annotations

import pytest

from gdl.diagnostics import Related, Source, Span
from gdl.errors import KifSyntaxError
from gdl.language.kif import (
    Form,
    Nesting,
    ReadLimits,
    Token,
    list_problem,
    nested,
    read_forms,
    read_term,
    tokens,
    unclosed,
    unopened,
    words,
)
from gdl.language.terms import Compound, Constant, Variable

LIMITS = ReadLimits(max_characters=20, max_depth=2)
NAME_FIRST = "a list begins with a name: (name argument ...)"


def told(error: KifSyntaxError) -> tuple[str, str, int, int, str | None]:
    """Return code, message, place and hint of *error*."""
    assert error.span is not None
    assert error.code is not None
    return error.code, error.message, error.span.start, error.span.end, error.hint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "(a b c d e f g h i j)",
            (
                "too-large", "the text has 21 characters, more than the limit of 20", 0, 1,
                "say it with rules that have variables in place of long lists of facts, or allow more characters",
            ),
        ),
        ("(a \0)", ("no-text", "a NUL character: this is no text", 3, 4, "save it as UTF-8 text")),
        ("(a \ud800)", ("no-text", "half of a character: this is no text", 3, 4, "save it as UTF-8 text")),
        ("(b \udfff)", ("no-text", "half of a character: this is no text", 3, 4, "save it as UTF-8 text")),
        ("a ) b", ("unopened-parenthesis", "a closing parenthesis that nothing opened", 2, 3, "delete it")),
        ("(a (b)", ("unclosed-parenthesis", "this parenthesis is never closed", 0, 1, "add a closing parenthesis")),
        ("(a) ((b)", ("unclosed-parenthesis", "this parenthesis is never closed", 4, 5, "add a closing parenthesis")),
        (
            "((a (b)))",
            (
                "too-deep", "parentheses nest deeper than the limit of 2", 4, 5,
                "count with numbers in place of terms inside terms",
            ),
        ),
    ],
)  # fmt: skip
def test_a_text_that_is_no_forms_is_refused_where_it_is_wrong(text: str, expected: tuple[object, ...]) -> None:
    with pytest.raises(KifSyntaxError) as raised:
        read_forms(Source("x.kif", text), LIMITS)
    assert told(raised.value) == expected


@pytest.mark.parametrize("text", ["(a b c d e f g h i j)", "(a \0)", "a ) b", "(a (b)", "((a (b)))"])
def test_what_is_wrong_is_wrong_in_the_source_that_was_read(text: str) -> None:
    source = Source("x.kif", text)
    with pytest.raises(KifSyntaxError) as raised:
        read_forms(source, LIMITS)
    assert raised.value.span is not None
    assert raised.value.span.source is source


def test_a_text_may_be_as_long_and_as_deep_as_the_limits_say() -> None:
    assert [form.span.text for form in read_forms(Source("x.kif", "((a)) ; b c d e f g h"[:20]), LIMITS)] == ["((a))"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "(a ())",
            ("empty-list", "an empty pair of parentheses", 3, 5,
             "write a name after the opening parenthesis, or delete the pair"),
        ),
        ("(a ((b) c))", ("list-before-name", "a list begins with a list", 4, 7, NAME_FIRST)),
        ("(a (?x c))", ("variable-before-name", "a list begins with a variable", 4, 6, NAME_FIRST)),
    ],
)  # fmt: skip
def test_a_list_without_a_name_is_no_term(text: str, expected: tuple[object, ...]) -> None:
    with pytest.raises(KifSyntaxError) as raised:
        read_term(text)
    assert told(raised.value) == expected


@pytest.mark.parametrize(("text", "n_found"), [("", 0), ("a b", 2), ("(a) (b) c", 3)])
def test_another_number_of_terms_than_one_is_counted(text: str, n_found: int) -> None:
    with pytest.raises(KifSyntaxError) as raised:
        read_term(text)
    span = raised.value.span
    assert raised.value.message == f"one term expected, {n_found} found"
    assert span is not None
    assert (span.start, span.end, span.source.name, span.source.text) == (0, len(text), "<term>", text)


def test_a_term_is_what_its_form_writes_and_a_name_in_parentheses_the_name() -> None:
    found = read_term("(a (b ?x 1) (c) d)")
    assert found == Compound("a", (Compound("b", (Variable("?x"), Constant("1"))), Constant("c"), Constant("d")))
    assert read_term("?x") == Variable("?x")


@pytest.mark.parametrize("text", ["a", "?x", "(a b)"])
def test_a_form_with_a_name_has_no_problem(text: str) -> None:
    (form,) = read_forms(Source("x.kif", text))
    assert list_problem(form) is None


def test_a_run_of_closing_parentheses_is_one_error_with_what_it_may_mean_and_what_it_hangs_on() -> None:
    source = Source("x.kif", "a ) ) b")
    related = (Related(Span(source, 0, 1), "after this"),)
    error = unopened(Span(source, 2, 5), ", or open two", related)
    assert told(error) == (
        "unopened-parenthesis", "2 closing parentheses that nothing opened", 2, 5, "delete them, or open two",
    )  # fmt: skip
    assert (tuple(error.related), tuple(unclosed(Span(source, 0, 1), related).related)) == (related, related)


def test_tokens_are_read_from_an_offset_on_with_places_in_the_whole_text() -> None:
    source = Source("x.kif", "(a ;c\n b)")
    every = [Token(0, 1, "("), Token(1, 2, "a"), Token(3, 5, ";c"), Token(7, 8, "b"), Token(8, 9, ")")]
    assert list(tokens(source)) == every
    assert list(tokens(source, start=1)) == every[1:]
    assert list(words(source.text)) == ["(", "a", "b", ")"]


@pytest.mark.parametrize("line_end", ["\n", "\r", "\r\n"])
def test_a_line_and_a_comment_end_in_whichever_way_the_editor_ends_lines(line_end: str) -> None:
    source = Source("x.kif", line_end.join(("(a) ; (b)", "", "(c) ;d", "e")))
    assert [(form.span.text, form.span.place) for form in read_forms(source)] == [
        ("(a)", "x.kif:1:1"), ("(c)", "x.kif:3:1"), ("e", "x.kif:4:1"),
    ]  # fmt: skip
    assert [source.line_text(line) for line in (1, 2, 3, 4)] == ["(a) ; (b)", "", "(c) ;d", "e"]


def test_forms_are_made_of_any_tokens() -> None:
    source = Source("x.kif", "(a b) c")
    found = nested(source, [token for token in tokens(source) if token.text != "b"])
    assert [(form.name, form.span.text, form.children is None) for form in found] == [
        ("", "(a b)", False), ("c", "c", True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(a (b c", ["(a (b c", ["a", ["(b c", ["b", "c"]]]]),
        ("(", ["(", []]),
        ("x (a b) (", ["(", []]),
        ("(a (b) ;c", ["(a (b)", ["a", ["(b)", ["b"]]]]),
        ("(a (bcd", ["(a (bcd", ["a", ["(bcd", ["bcd"]]]]),
    ],
)
def test_what_is_open_is_closed_where_the_last_form_ended_and_taken_away(text: str, expected: object) -> None:
    source = Source("x.kif", text)
    nesting = Nesting(source, LIMITS)
    for token in tokens(source):
        nesting.take(token)
    n_before = len(nesting.finished)
    form = nesting.give_up()
    assert (written(form), form.end) == (expected, len(text.partition(";")[0].rstrip()))
    assert (nesting.open_at, len(nesting.finished), form.name) == ([], n_before, "")


def written(form: Form) -> object:
    """Return the texts of *form* and of what is inside."""
    return form.name if form.children is None else [form.span.text, [written(child) for child in form.children]]


def test_a_form_is_walked_in_the_order_of_the_text() -> None:
    (form,) = read_forms(Source("<rules>", "(p (f ?x) a)"))
    assert [part.span.text for part in form.walk()] == ["(p (f ?x) a)", "p", "(f ?x)", "f", "?x", "a"]
