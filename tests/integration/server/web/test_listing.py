"""Rule files as listings: kinds of words, problems in their places, and text from anybody that stays text."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gdl.diagnostics import LINE_END, Source
from server.validating.formats import file_report
from server.validating.validation import ValidationOptions, check_source
from server.web.rule_listing import MAX_LISTED_CHARACTERS, Remark, listing, remark_of, report_remarks

HOSTILE = "</span></li><script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;"


def text_of(markup: str) -> str:
    """Return what a browser would show of the lines."""
    lines = re.findall(r'<span class="line">(.*?)</span>(?:<div|</li>)', markup, re.DOTALL)
    return "\n".join(html.unescape(re.sub(r"<[^>]*>", "", line)) for line in lines)


def remark(start: int, end: int, severity: str = "error", hint: str = "") -> Remark:
    return Remark(start, end, 1, start + 1, severity, "gdl/some-code", "something is wrong", hint)


def test_words_have_the_class_of_their_kind() -> None:
    assert listing("(role x) ; who plays") == (
        '<li id="L1"><span class="line"><span class="p">(</span><span class="k">role</span> <span class="n">x</span>'
        '<span class="p">)</span> <span class="c1">; who plays</span></span></li>\n'
    )


def test_a_problem_is_underlined_where_it_is_and_told_below() -> None:
    found = listing("(rle x)", (remark(1, 4, hint="did you mean role?"),))
    assert '<mark class="error"><span class="nf">rle</span></mark>' in found
    assert found.count("<mark") == 1
    assert (
        '<div class="said error"><strong>something is wrong</strong>'
        '<div class="hint">did you mean role?</div> <code>gdl/some-code</code></div>'
    ) in found


@pytest.mark.parametrize(
    ("severity", "told"),
    [("error", "something is wrong"), ("warning", "Warning: something is wrong"), ("note", "Note: something is wrong")],
)
def test_how_bad_it_is_is_told_in_words(severity: str, told: str) -> None:
    assert f'<div class="said {severity}"><strong>{told}</strong>' in listing("(a)", (remark(0, 3, severity),))


def test_what_is_quoted_in_a_problem_is_shown_as_code() -> None:
    found = Remark(0, 1, 1, 1, "error", "gdl/some-code", "`a` is <wrong>", "write `b`")
    assert (
        '<div class="said error"><strong><code>a</code> is &lt;wrong&gt;</strong>'
        '<div class="hint">write <code>b</code></div> <code>gdl/some-code</code></div>'
    ) in listing("x", (found,))


def test_where_problems_overlap_the_worst_is_shown() -> None:
    found = listing("abcdef", (remark(0, 6, "note"), remark(2, 4, "warning"), remark(3, 4, "error")))
    assert re.findall(r'<mark class="(\w+)"><span class="n">(\w+)</span>', found) == [
        ("note", "ab"),
        ("warning", "c"),
        ("error", "d"),
        ("note", "ef"),
    ]


def test_a_problem_over_several_lines_is_underlined_in_each() -> None:
    found = listing("(a\nb)", (remark(0, 5),))
    assert [line.count("<mark") for line in found.splitlines()] == [2, 2]


@example("a\rb\r", [])
@example("a\r\nb", [(1, 2)])
@given(st.text(max_size=200), st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), max_size=5))
def test_any_text_is_listed_whole_and_nothing_of_it_becomes_an_element(
    text: str, places: list[tuple[int, int]]
) -> None:
    remarks = tuple(remark(min(place), max(place)) for place in places)
    found = listing(text, remarks)
    assert set(re.findall(r"<(\w+)", found)) <= {"li", "span", "mark", "div", "strong", "code"}
    shown = "".join(c if c.isprintable() or c in "\t\n" else "\ufffd" for c in LINE_END.sub("\n", text))
    assert text_of(found) == shown


@pytest.mark.parametrize("severity", ["error", "warning", "note"])
def test_messages_are_escaped(severity: str) -> None:
    found = listing("x", (Remark(0, 1, 1, 1, severity, "gdl/c", HOSTILE, HOSTILE),))
    assert "<script" not in found
    assert "<img" not in found


def test_characters_that_turn_text_round_are_shown_as_what_they_are() -> None:
    assert "\u202e" not in listing("a\u202eb")


@pytest.mark.exhaustive
def test_no_more_is_listed_than_a_page_holds() -> None:
    found = listing("x\n" * MAX_LISTED_CHARACTERS)
    assert found.count("<li") <= MAX_LISTED_CHARACTERS // 2 + 1


def test_a_stored_report_makes_the_same_remarks_as_the_validation() -> None:
    source = Source("rules", "(role x)\n(init (cell 1 ?y))\n(<= (legal x (mark ?z)) (true (cel ?x 1)))\n")
    found = check_source(source, ValidationOptions())
    assert len(found.diagnostics) > 3
    stored = file_report(found)["diagnostics"]
    assert report_remarks(source.text, stored) == tuple(map(remark_of, found.diagnostics))
