"""What is said of roles, and what is left unsaid where roles cannot all be made out."""

from __future__ import annotations

import pytest

from gdl.checks import check
from gdl.diagnostics import Source

GAME = "(role white) (init (at 1)) (legal white go) (<= terminal (true (at 1))) (goal white 50)"


@pytest.mark.parametrize("rule", ["(role (black ()))", "(<= (role black) (rule ()))"])
def test_a_form_that_cannot_be_read_may_declare_a_role(rule: str) -> None:
    found = check(Source("game.kif", f"{GAME} {rule} (legal black go) (goal black 50)"))
    assert [one.code.name for one in found] == ["gdl/empty-list"]


OF_CHANCE = """
(role white) (role random) (init (round 1)) (legal white go) (legal random heads) (legal random tails)
(<= (next (coin ?side)) (does random ?side)) (<= (sees white ?side) (does random ?side))
(<= terminal (true (coin heads))) (<= (goal white 50) (true (round 1)))
"""


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("role random", "role ramdom", "undeclared-role: should ramdom be random?"),
        (
            "random",
            "ramdom",
            "role-without-goal: should ramdom be random? Otherwise add a fact or a rule for (goal ramdom ...)",
        ),
        ("role white", "role whit", "undeclared-role: should whit be white?"),
        ("role random", "role chance", "undeclared-role: should chance be random?"),
    ],
)
def test_a_role_that_is_misspelt_is_told_once(right: str, wrong: str, told: str) -> None:
    found = check(Source("game.kif", OF_CHANCE.replace(right, wrong)))
    assert [f"{one.code.name.removeprefix('gdl/')}: {one.hint}" for one in found] == [told]
