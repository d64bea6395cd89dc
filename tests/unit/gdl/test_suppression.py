"""Comments that allow a warning on a rule: where they stand, what they allow, and what is said of wrong ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from gdl.checks.suppression import sift
from gdl.diagnostics import Diagnostic, Severity, Source, Span, codes

WARNING: Final = "gdl/empty-body"
ERROR: Final = "gdl/open-fact"
RULES: Final = "(role x)\n(<= (p a))\n(<= (q a)\n    b)\n"


def at(source: Source, text: str, code: str = WARNING) -> Diagnostic:
    start = source.text.index(text)
    return Diagnostic(codes()[code], Span(source, start, start + len(text)), "something is wrong")


def sifted(text: str, *places: str, is_played: bool = False) -> tuple[list[str], list[tuple[str, str]]]:
    """Return what is left of warnings at *places* of *text*, and what is allowed, with the reasons."""
    source = Source("a.kif", text)
    done = sift(source, [at(source, place) for place in places], is_played=is_played)
    left = [f"{found.span.place}: {found.code.name}" for found in done.diagnostics]
    return left, [(one.diagnostic.span.text, one.reason) for one in done.allowed]


@pytest.mark.parametrize(
    "text",
    [
        "; ggp: allow gdl/empty-body -- because\n(<= (p a))\n",
        ";; ggp:allow   gdl/empty-body   --   because  \n(<= (p a))\n",
        "; ggp: allow gdl/empty-body -- because\n; more words\n\n(<= (p a))\n",
        "(<= (p a)) ; ggp: allow gdl/empty-body -- because\n",
        "(role x) (<= (p a)) ; ggp: allow gdl/empty-body -- because\n",
        "(<= (p a)\n    b) ; ggp: allow gdl/empty-body -- because\n(<= (q a))\n",
        "; ggp: allow gdl/empty-body -- because\n(role x) (<= (p a))\n",
        "(<= (p a) ; ggp: allow gdl/empty-body -- because\n    b)\n",
        "(<= (p a)\n    ; ggp: allow gdl/empty-body -- because\n    b)\n",
        "; ggp: allow gdl/empty-body -- because\r\n(<= (p a))\r\n",
    ],
)
def test_a_comment_allows_a_warning_on_the_rule_behind_or_before_it(text: str) -> None:
    assert sifted(text, "(p a)") == ([], [("(p a)", "because")])


@pytest.mark.parametrize(
    "text",
    [
        "; ggp: allow gdl/empty-body -- because\n(<= (q a))\n(<= (p a))\n",
        "(<= (q a)) ; ggp: allow gdl/empty-body -- because\n(<= (p a))\n",
        "(<= (p a))\n; ggp: allow gdl/empty-body -- because\n",
        "; ggp: allow gdl/capitalised -- because\n(<= (p a))\n",
    ],
)
def test_a_comment_allows_nothing_on_other_rules(text: str) -> None:
    left, allowed = sifted(text, "(p a)")
    assert allowed == []
    assert any(line.endswith("gdl/empty-body") for line in left)


def test_one_comment_may_allow_several_codes() -> None:
    text = "; ggp: allow gdl/relation-arities, gdl/empty-body -- because\n(<= (p a))\n"
    source = Source("a.kif", text)
    done = sift(source, [at(source, "(p a)"), at(source, "p a", "gdl/relation-arities")])
    assert done.diagnostics == ()
    assert [one.diagnostic.code.name for one in done.allowed] == ["gdl/empty-body", "gdl/relation-arities"]


def test_an_error_cannot_be_allowed() -> None:
    source = Source("a.kif", f"; ggp: allow {ERROR} -- because\n(p ?x)\n")
    done = sift(source, [at(source, "(p ?x)", ERROR)])
    assert [found.code.name for found in done.diagnostics] == ["gdl/error-allowed", ERROR]


def test_a_warning_taken_strictly_is_allowed_all_the_same() -> None:
    source = Source("a.kif", "; ggp: allow gdl/empty-body -- because\n(<= (p a))\n")
    assert sift(source, [at(source, "(p a)").as_error()]).diagnostics == ()


@pytest.mark.parametrize(
    ("comment", "complaint"),
    [
        ("; ggp: allow gdl/empty-body", "gdl/allowed-without-reason"),
        ("; ggp: allow gdl/empty-body --", "gdl/allowed-without-reason"),
        ("; ggp: allow gdl/empty-body -- ", "gdl/allowed-without-reason"),
        ("; ggp: alow gdl/empty-body -- because", "gdl/unknown-comment"),
        ("; ggp: allow -- because", "gdl/unknown-comment"),
        ("; ggp:", "gdl/unknown-comment"),
        ("; ggp: allow gdl/empty-bodies -- because", "gdl/unknown-code"),
        ("; ggp: allow empty-body -- because", "gdl/unknown-code"),
        ("; ggp: allow gdl/relation-arities -- because", "gdl/allowed-in-vain"),
    ],
)
def test_a_comment_that_is_wrong_is_reported_where_it_stands(comment: str, complaint: str) -> None:
    left, _ = sifted(f"(role x)\n{comment}\n(<= (p a))\n")
    assert f"a.kif:2:1: {complaint}" in left


def test_a_warning_allowed_without_a_reason_is_silent_but_for_the_comment() -> None:
    assert sifted("; ggp: allow gdl/empty-body\n(<= (p a))\n", "(p a)") == (
        ["a.kif:1:1: gdl/allowed-without-reason"],
        [("(p a)", "")],
    )


def test_a_misspelt_code_gets_a_suggestion() -> None:
    (found,) = sift(Source("a.kif", "(role x) ; ggp: allow empty-body -- because"), []).diagnostics
    assert found.hint == "did you mean `gdl/empty-body`?"


@pytest.mark.parametrize(("is_played", "left"), [(False, []), (True, ["a.kif:1:1: gdl/allowed-in-vain"])])
def test_what_shows_only_in_play_is_in_vain_only_after_play(
    monkeypatch: pytest.MonkeyPatch, is_played: bool, left: list[str]
) -> None:
    in_play = replace(codes()["gdl/empty-body"], name="gdl/no-end", check=17, severity=Severity.WARNING)
    monkeypatch.setattr("gdl.checks.suppression.codes", lambda: {**codes(), "gdl/no-end": in_play})
    assert sifted("; ggp: allow gdl/no-end -- because\n(role x)\n", is_played=is_played) == (left, [])


@pytest.mark.parametrize(
    "text", ["", "; ggp: allow gdl/empty-body -- x", "(((; ggp: allow gdl/empty-body -- x", "\0; ggp:"]
)
def test_any_text_is_read_or_left_alone(text: str) -> None:
    assert [found.code.severity for found in sift(Source("a.kif", text), []).diagnostics] in ([], [Severity.NOTE])
