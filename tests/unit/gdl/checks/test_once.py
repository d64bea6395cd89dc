"""A mistake in a head is told once, and not again for all that lacks what the head was to give."""

from __future__ import annotations

import pytest

from gdl.checks import check
from gdl.diagnostics import Source

GAME = """
(role white) (role black) (init (at 1)) (<= (next (at 2)) (true (at 1))) (<= (next (got key)) (true (at 2)))
(legal white go) (legal black stay) (<= (next (at 3)) (does black stay)) (<= terminal (true (at 3)) (true (got key)))
(goal white 50) (goal black 50)
"""


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("(role black)", "(rol black)", "rol: gdl/unused-relation"),
        ("(role black)", "(role balck)", "black: gdl/undeclared-role"),
        ("(next (at 2))", "(nxet (at 2))", "nxet: gdl/unused-relation"),
        ("(next (got key))", "(nextt (got key))", "nextt: gdl/unused-relation"),
        ("(init (at 1))", "(innit (at 1))", "innit: gdl/missing-init"),
        ("(legal black stay)", "(legl black stay)", "legl: gdl/unused-relation"),
        ("(goal black 50)", "(gaol black 50)", "gaol: gdl/unused-relation"),
        ("(next (at 2))", "(next (true (at 2)))", "true: gdl/keyword-as-function"),
        ("(next (got key))", "(next (init (got key)))", "init: gdl/keyword-as-function"),
        ("(legal black stay)", "(legal black (does stay))", "does: gdl/keyword-as-function"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_head_is_told_once(right: str, wrong: str, told: str) -> None:
    assert right in GAME
    found = check(Source("game.kif", GAME.replace(right, wrong, 1)))
    assert [f"{one.span.text}: {one.code.name}" for one in found] == [told]


def test_what_is_meant_for_no_word_silences_nothing() -> None:
    found = check(Source("game.kif", f"{GAME}(left-over 1) (<= terminal (true (at 9))) (legal red go)"))
    assert [f"{one.span.text}: {one.code.name}" for one in found] == [
        "left-over: gdl/unused-relation",
        "9: gdl/unmatched-condition",
        "red: gdl/undeclared-role",
    ]
