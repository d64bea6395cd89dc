"""What is asked too early is told once, at the relation that asks it, and not again for those that ask this one."""

from __future__ import annotations

import pytest

from gdl.checks import check
from gdl.diagnostics import Source

GAME = """
(role white) (init (at 1)) (<= (legal ?r go) (role ?r)) (<= (base (at 1)) (role white)) (<= terminal (legal white go))
(<= (goal ?r 50) (legal ?r go)) (<= (next (at 1)) (does white go) (true (at 1)))
"""


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("(<= (role black) (true (at 1)))", ["(role black): gdl/role-by-rule"]),
        ("(<= (goal white 1) (next (at 1)))", ["(next (at 1)): gdl/reserved-body"]),
        ("(<= (init (at 1)) (base (at 1))) (<= (base (at 2)) (next (at 1)))", [
            "(base (at 1)): gdl/reserved-body", "(next (at 1)): gdl/reserved-body"]),
        ("(<= (legal white go) (does white go))", ["(does white go): gdl/legal-depends-on-move"]),
        ("(<= (goal white 1) p) (<= p q) (<= q (next (at 1)))", ["(next (at 1)): gdl/reserved-body"]),
        ("(<= (init (at 1)) (goal white 50))", ["(goal white 50): gdl/init-depends-on-state"]),
        ("(<= (legal white go) p) (<= p q) (<= q (does white go))", ["p: gdl/legal-depends-on-move"]),
    ],
)  # fmt: skip
def test_what_is_asked_too_early_is_told_where_it_is_asked(rule: str, told: list[str]) -> None:
    found = [one for one in check(Source("game.kif", GAME + rule)) if one.is_error]
    assert [f"{one.span.text}: {one.code.name}" for one in found] == told


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ("(<= (legal white go) p{0}) (<= p{0} (does white go))", "gdl/legal-depends-on-move"),
        ("(<= p{0} (not p{0}))", "gdl/negative-cycle"),
        ("(<= (p{0} 1) (not (p{0} 2)))", "gdl/negative-cycle-of-names"),
    ],
)
def test_of_very_many_the_first_fifty_are_told(rules: str, code: str) -> None:
    found = check(Source("game.kif", GAME + "".join(map(rules.format, range(52)))))
    assert [one.code.name for one in found].count(code) == 50


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ("(<= p (not p)) (<= q (not q))", ["p: gdl/negative-cycle", "q: gdl/negative-cycle"]),
        (
            "(<= (p 1) (not (q 1))) (<= (r 1) (not (s 1))) (<= (q 2) (not (p 2))) (<= (s 2) (not (r 2)))",
            ["(q 1): gdl/negative-cycle-of-names", "(s 1): gdl/negative-cycle-of-names"],
        ),
    ],
)
def test_a_cycle_through_not_is_told_once(rules: str, told: list[str]) -> None:
    found = check(Source("game.kif", GAME + rules))
    assert [f"{one.span.text}: {one.code.name}" for one in found if "cycle" in one.code.name] == told
