"""Hints for relations that nobody gives."""

from __future__ import annotations

import pytest

from gdl.checks import check
from gdl.source import Source

GAME = """
(role white) (init (control white)) (legal white go) (goal white 50)
(adjacent 1 2) (<= terminal (true (control white)) (adjacent 1 2))
"""


@pytest.mark.parametrize(
    ("condition", "hint"),
    [
        ("(adjcent 1 ?x)", "did you mean adjacent?"),
        ("(control ?x)", "did you mean (true (control ?x))?"),
        ("(somewhere ?x)", "add facts or rules for `somewhere`, or delete this condition"),
    ],
)
def test_the_hint_says_what_is_likely_meant(condition: str, hint: str) -> None:
    found = check(Source("game.kif", f"{GAME}(<= (legal white (go ?x)) {condition})"))
    assert [one.hint for one in found if one.code.name == "gdl/undefined-relation"] == [hint]


def test_a_name_in_a_form_that_cannot_be_read_counts_as_given_and_used() -> None:
    rules = "(<= (blocked ?x) (closed ()) (role ?x)) (<= (legal white wait) (blocked 1))"
    found = check(Source("game.kif", GAME + rules))
    assert [one.code.name for one in found] == ["gdl/empty-list"]
