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
