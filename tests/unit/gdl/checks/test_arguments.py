"""Conditions that never hold, by what stands as an argument, and hints that say what does."""

from __future__ import annotations

import pytest

from gdl.checks import check
from gdl.diagnostics import Source

GAME = """
(role white) (init (at (pos 1 2))) (init (size big)) (legal white go)
(<= terminal (true (at (pos 1 2))) (true (size big)))
(goal white 50)
"""


@pytest.mark.parametrize(
    ("condition", "message", "hint"),
    [
        (
            "(true (at (pos 2)))",
            "argument 1 of `at` is never pos with 1 argument: this never holds",
            "facts and rules give pos with 2 arguments there",
        ),
        (
            "(true (at Pos))",
            "argument 1 of `at` is never Pos with no argument: this never holds",
            "facts and rules give Pos with 2 arguments there",
        ),
        ("(true (size bg))", "argument 1 of `size` is never bg: this never holds", "did you mean big?"),
        ("(true (size 1))", "argument 1 of `size` is never 1: this never holds", "facts and rules give big there"),
    ],
)
def test_an_argument_that_nothing_gives_is_reported_with_what_is_given_there(
    condition: str, message: str, hint: str
) -> None:
    found = check(Source("game.kif", f"{GAME}(<= terminal {condition})"))
    assert [(one.message, one.hint) for one in found if one.code.name == "gdl/unmatched-condition"] == [(message, hint)]
