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
        ("(<= (init (at 1)) (goal white 50))", ["(goal white 50): gdl/init-depends-on-state"]),
        ("(<= (legal white go) (p)) (<= (p) (q)) (<= (q) (does white go))", ["(p): gdl/legal-depends-on-move"]),
    ],
)  # fmt: skip
def test_what_is_asked_too_early_is_told_where_it_is_asked(rule: str, told: list[str]) -> None:
    found = [one for one in check(Source("game.kif", GAME + rule)) if one.is_error]
    assert [f"{one.span.text}: {one.code.name}" for one in found] == told
