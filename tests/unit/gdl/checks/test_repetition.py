"""A report says once what the text tells and plays show again."""

from __future__ import annotations

import pytest

from gdl.checks.repetition import repetitions
from gdl.diagnostics import Diagnostic, Source, Span, diagnostic

TEXT = "(role x) (init (cell 1)) (next (Cell 2)) cell (role y)"


def at(code: str, place: str) -> Diagnostic:
    start = TEXT.index(place)
    return diagnostic(code, Span(Source("game.kif", TEXT), start, start + len(place)), "a message")


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
    one, other = at(code, place), at(better, its_place)
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
    assert repetitions([at(code, place), at(other, its_place)]) == {}
