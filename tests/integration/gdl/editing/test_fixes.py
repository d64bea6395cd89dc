"""Mechanical fixes: what they change, and that they change nothing else.

`fixes/` holds rule files `x.kif` beside what becomes of them, `x.fixed.kif`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.checks import check
from gdl.checks.subject import Subject, examine
from gdl.diagnostics import Source, Span, codes, diagnostic
from gdl.editing.edits import edited
from gdl.editing.fixes import FIXERS, Draft, Fix, apart, fix_rules, fixes, without_rules
from gdl.games.library import find_game, game_names
from gdl.language.kif import DEFAULT_LIMITS
from gdl.language.rules import read_file, read_rules
from gdl.language.syntax import And, Atom, Condition, Distinct, Not, Or, Rule
from gdl.language.terms import signature
from tests.kit.gdl.public_rules import N_PARTS, SHARED, public_files

CASES: Final = sorted(path for path in (Path(__file__).parent / "fixes").glob("*.kif") if "." not in path.stem)


def fixed(text: str) -> str:
    return fix_rules(Source("<rules>", text)).source.text


def meaning(rules: Iterable[Rule]) -> list[str]:
    """Return *rules* as texts in which upper and lower case are the same."""
    return [" ".join(map(text_of, (rule.head, *rule.body))).lower() for rule in rules]


def kept(before: Iterable[Rule], after: Iterable[Rule]) -> list[Rule]:
    """Return those rules of *before* whose relation is still there *after*."""
    heads = {str(signature(rule.head.term)).lower() for rule in after}
    return [rule for rule in before if str(signature(rule.head.term)).lower() in heads]


def text_of(condition: Condition) -> str:
    match condition:
        case Atom(term):
            return str(term)
        case Distinct(left, right):
            return f"(distinct {left} {right})"
        case Not(inner):
            return f"(not {text_of(inner)})"
        case And(parts) | Or(parts):
            return f"({type(condition).__name__} {' '.join(map(text_of, parts))})"


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_file_becomes_the_one_beside_it_and_stays_that(path: Path) -> None:
    expected = path.with_suffix(".fixed.kif").read_text(encoding="utf-8")
    assert (fixed(path.read_text(encoding="utf-8")), fixed(expected)) == (expected, expected)


@pytest.mark.parametrize("line_end", ["\r", "\r\n"])
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_file_is_mended_the_same_whatever_ends_its_lines(path: Path, line_end: str) -> None:
    before, after = (one.read_text(encoding="utf-8") for one in (path, path.with_suffix(".fixed.kif")))
    assert fixed(before.replace("\n", line_end)) == after.replace("\n", line_end)


@pytest.mark.parametrize("code", FIXERS)
def test_every_code_that_is_mended_is_one_that_exists(code: str) -> None:
    assert code in codes()


@pytest.mark.parametrize("name", sorted(FIXERS))
def test_the_wrong_example_of_a_code_is_mended(name: str) -> None:
    source = Source("<example>", codes()[name].wrong)
    ended = fix_rules(source)
    assert name in {one.code.name for one in ended.fixed}
    assert name not in {one.code.name for one in ended.left}


def subject_of(text: str) -> Subject:
    return examine(Source("<rules>", text), DEFAULT_LIMITS)


def without_the_rules_at(text: str, at: int) -> str:
    subject = subject_of(text)
    found = diagnostic("empty-body", Span(subject.source, at, at + 1), "no rule uses it")
    return edited(subject.source, without_rules(Draft(subject), found))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(p 1)\n(q)\n(p 2)\n", "(q)\n"),
        ("(q)\n  (p 1) (p 2)\t\n(r)\n", "(q)\n(r)\n"),
        ("(q) (p 1) (p 2) (r)", "(q) (r)"),
        ("(q) (p 1) ; which\n(p 2)", "(q) ; which\n"),
        ("q(p 1)r", "q r"),
        ("(p 1 2)\n(<= (p ?x)\n    (p ?x))\n(p 3)\n", "(p 1 2)\n"),
        ("; before\n\n(p 1)\n\n; behind\n", "; before\n\n\n; behind\n"),
    ],
)
def test_all_rules_of_a_relation_go_with_the_lines_that_they_fill(text: str, expected: str) -> None:
    assert without_the_rules_at(text, text.rindex("(p ") + 1) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("; ggp: allow gdl/empty-body -- why\n(<= (p 1))\n(q)\n", "(q)\n"),
        ("(q)\n(p 1) ; ggp: allow gdl/empty-body -- why\n(q)\n", "(q)\n(q)\n"),
        ("; kept\n; ggp: allow gdl/empty-body -- why\n\n(p 1)\n(q)\n", "; kept\n(q)\n"),
        ("(<= (p 1) ; ggp: allow gdl/empty-body -- why\n)\n(q)\n", "(q)\n"),
        ("(p 1) (q) ; ggp: allow gdl/empty-body -- why\n", "(q) ; ggp: allow gdl/empty-body -- why\n"),
        ("; ggp: allow gdl/empty-body -- why\n(q)\n(p 1)\n", "; ggp: allow gdl/empty-body -- why\n(q)\n"),
    ],
)
def test_with_a_rule_goes_the_comment_that_allows_something_in_it_alone(text: str, expected: str) -> None:
    assert without_the_rules_at(text, text.rindex("(p ") + 1) == expected


def test_a_file_that_cannot_be_read_stays_as_it_is() -> None:
    texts = ["(<= (p a))\n(q", "(<= (p a))\n(?x)", "(<= (p a))\n((q))", "\0(<= (p a))"]
    assert [fixed(text) for text in texts] == texts


def test_what_a_comment_allows_is_not_mended() -> None:
    text = "; ggp: allow gdl/empty-body -- as in the book\n(<= (init a))\n(<= (init b))\n"
    assert fixed(text) == text.replace("(<= (init b))", "(init b)")


GAPS: Final = st.sampled_from(["", " ", "\n", " ; a comment (\n", "\n; (p)\n\t"])
FORMS: Final = (
    "(~p~)", "p ", "(~<=~ p~)", "(<=~(~q~)~)", "(<=~(~role~ x~)~)", "(role x)", "(init (at~(~home~)~))",
    "(init (At home))", "(<= (legal x (~move~))~(~p~)~(~q~))", "(<= (P ?x) (true (at ?x))(not(~p~)))", "(unused x)",
    "(<= (unused ?x) (P ?x))",
)  # fmt: skip


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Draw rules that stand in need of fixes, with blanks and comments wherever the tilde is."""
    pieces = "~".join(draw(st.lists(st.sampled_from(FORMS), max_size=8))).split("~")
    return "".join(piece + draw(GAPS) for piece in pieces)


@given(texts())
def test_whatever_is_mended_has_the_same_rules_but_for_their_spelling(text: str) -> None:
    try:
        before = read_rules(text)
    except ValueError:
        assert fixed(text) == text
        return
    after = read_rules(fixed(text))
    assert meaning(after.rules) == meaning(kept(before.rules, after.rules))


@given(texts())
def test_fixes_that_are_made_together_do_not_overlap(text: str) -> None:
    source = Source("<rules>", text)
    chosen = apart(fixes(source, check(source)))
    edited(source, (edit for fix in chosen for edit in fix.edits))


def test_of_two_fixes_that_overlap_the_first_is_made() -> None:
    source = Source("<rules>", "(<= (p)) (<= (legal x m) p)")
    outer, inner = fixes(source, check(source))
    assert apart([outer, inner, Fix(inner.diagnostic, inner.edits)]) == [outer]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", game_names())
def test_our_games_need_no_fix(name: str) -> None:
    text = find_game(name).path.read_text(encoding="utf-8")
    assert fixed(text) == text


@pytest.mark.sampled(3)
@pytest.mark.skipif(not public_files(), reason=f"no public rule files at {SHARED}; GGP_SHARED names their folder")
@pytest.mark.parametrize("part", range(N_PARTS))
def test_public_files_keep_their_rules_but_for_spelling_and_unused_ones(part: int) -> None:
    for path in public_files()[part::N_PARTS]:
        try:
            before = read_file(path)
        except ValueError:
            continue
        after = fix_rules(before.source).source
        if after.text == before.source.text:
            continue
        rules = read_rules(after.text).rules
        assert (path.name, meaning(rules)) == (path.name, meaning(kept(before.rules, rules)))
