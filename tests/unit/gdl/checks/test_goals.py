"""What goal values can be is said only where the whole file tells it."""

from __future__ import annotations

import pytest

from gdl.checks import check
from gdl.diagnostics import Source

GAME = """
(role white) (init (at 1)) (legal white go) (<= terminal (true (at 1)))
(worth 200) (<= (goal white ?x) (worth ?x))
"""
TOO_DEEP = f"(<= (worth 50) (role ?x) (distinct ?x {'(s ' * 101}?x{')' * 101}))"


@pytest.mark.parametrize(
    ("rest", "codes"),
    [
        ("", ["gdl/goal-not-in-range"]),
        ("(worth ())", ["gdl/empty-list"]),
        (TOO_DEEP, ["gdl/rule-too-large"]),
    ],
)
def test_a_rule_that_cannot_be_read_or_run_may_give_what_goals_lack(rest: str, codes: list[str]) -> None:
    assert [one.code.name for one in check(Source("game.kif", GAME + rest))] == codes
