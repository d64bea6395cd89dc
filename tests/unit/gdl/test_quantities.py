"""Numbers with what they are of."""

from __future__ import annotations

from gdl.quantities import quantity


def test_numbers_agree_with_their_nouns() -> None:
    assert [quantity(n, "step") for n in (0, 1, 2500)] == ["0 steps", "1 step", "2,500 steps"]


def test_a_plural_of_its_own_is_given() -> None:
    assert [quantity(n, "match", "matches") for n in (1, 2)] == ["1 match", "2 matches"]
