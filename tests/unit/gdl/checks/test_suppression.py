"""Comments that allow a warning on a rule, and what is said of wrong ones; findings that repeat others."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from gdl.checks.suppression import comments_in, repetitions, sift
from gdl.diagnostics import Diagnostic, Severity, Source, Span, codes, diagnostic
from gdl.language.kif import ReadLimits

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


@pytest.mark.parametrize(
    ("text", "places", "allowed"),
    [
        ("(q a)\n(<= (p a) ; ggp: allow gdl/empty-body -- why\n    b)\n(r a)\n", ["(q a)", "b", "(r a)"], ["b"]),
        ("(q a) (p a) ; ggp: allow gdl/empty-body -- why\n(r a)\n", ["(q a)", "(p a)", "(r a)"], ["(q a)", "(p a)"]),
        ("(q a) (p a); ggp: allow gdl/empty-body -- why\n(r a)\n", ["(q a)", "(p a)", "(r a)"], ["(q a)", "(p a)"]),
        ("b ; ggp: allow gdl/empty-body -- why\n(r a)\n", ["b", "(r a)"], ["b"]),
        ("(q a)\n; ggp: allow gdl/empty-body -- why\n", ["(q a)"], []),
        ("(q a)\n) ; ggp: allow gdl/empty-body -- why\n(r a)\n", ["(q a)", "(r a)"], []),
    ],
)  # fmt: skip
def test_a_comment_is_for_what_it_stands_in_or_else_for_its_line(
    text: str, places: list[str], allowed: list[str]
) -> None:
    assert sifted(text, *places)[1] == [(place, "why") for place in allowed]


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


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("empty-body", "did you mean `gdl/empty-body`?"),
        ("no-rul", "did you mean `gdl/no-rules`?"),
        ("gdl/empty-bodies", "did you mean `gdl/empty-body`?"),
        ("gdl/of-my-own", "`ggp validate` shows the code behind each message"),
    ],
)
def test_a_code_that_there_is_not_gets_a_suggestion(code: str, hint: str) -> None:
    (found,) = sift(Source("a.kif", f"(role x) ; ggp: allow {code} -- because"), []).diagnostics
    assert (found.message, found.hint) == (f"there is no code `{code}` to allow", hint)
    assert found.span.text == f"; ggp: allow {code} -- because"


def test_of_a_long_code_the_beginning_is_shown() -> None:
    (found,) = sift(Source("a.kif", f"(role x) ; ggp: allow {'x' * 101} -- because"), []).diagnostics
    assert found.message == f"there is no code `{'x' * 100}` to allow"


@pytest.mark.parametrize(("limit", "n_allowed"), [(40, 0), (50, 1)])
def test_comments_of_a_text_beyond_the_limits_allow_nothing(limit: int, n_allowed: int) -> None:
    source = Source("a.kif", "; ggp: allow gdl/empty-body -- because\n(<= (p a))\n")
    done = sift(source, [at(source, "(p a)")], ReadLimits(max_characters=limit))
    assert len(done.allowed) == n_allowed


def test_of_very_many_comments_the_first_are_read() -> None:
    source = Source("a.kif", "; ggp: allow gdl/empty-body -- because\n" * 1_001)
    assert len(comments_in(source)) == 1_000


def test_what_shows_only_in_play_may_be_allowed_where_nothing_is_played() -> None:
    assert codes()["gdl/never-wins"].check >= 17
    assert sift(Source("a.kif", "; ggp: allow gdl/never-wins -- because\n(role x)\n"), []).diagnostics == ()


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


TOLD_TWICE: Final = "(role x) (init (cell 1)) (next (Cell 2)) cell (role y)"


def told_at(code: str, place: str) -> Diagnostic:
    start = TOLD_TWICE.index(place)
    return diagnostic(code, Span(Source("game.kif", TOLD_TWICE), start, start + len(place)), "a message")


@pytest.mark.parametrize(
    ("code", "place", "better", "its_place"),
    [
        ("undeclared-fluent", "(cell 1)", "fluent-without-base", "(cell 1)"),
        ("undeclared-fluent", "(Cell 2)", "fluent-without-base", "(cell 1)"),
        ("undeclared-move", "cell ", "move-without-input", "cell "),
        ("no-such-role", "cell ", "undeclared-role", "cell "),
        ("role-without-goal", "(role x)", "no-goal", "(role x)"),
        ("role-without-legal", "(role y)", "no-legal-move", "(role y)"),
    ],
)
def test_of_two_findings_about_the_same_one_says_it_better(code: str, place: str, better: str, its_place: str) -> None:
    one, other = told_at(code, place), told_at(better, its_place)
    assert repetitions([one, other]) == repetitions([other, one]) == {one: other}


@pytest.mark.parametrize(
    ("code", "place", "other", "its_place"),
    [
        ("undeclared-fluent", "(cell 1)", "fluent-without-base", "cell "),
        ("undeclared-fluent", "(cell 1)", "move-without-input", "(cell 1)"),
        ("role-without-goal", "(role x)", "no-goal", "(role y)"),
        ("role-without-goal", "(role x)", "role-without-legal", "(role x)"),
    ],
)
def test_findings_about_two_things_are_told_both(code: str, place: str, other: str, its_place: str) -> None:
    assert repetitions([told_at(code, place), told_at(other, its_place)]) == {}
