"""Moves by chance."""

from __future__ import annotations

from collections import Counter

from gdl.language.terms import Constant
from server.match.setup import move_by_chance

MOVES = tuple(map(Constant, "abcde"))
ROLE = Constant("random")


def test_choices_are_the_same_on_every_machine() -> None:
    chosen = [str(move_by_chance(MOVES, 42, step, ROLE)) for step in range(10)]
    assert "".join(chosen) == "dbecaddaad"


def test_choices_are_even() -> None:
    counts = Counter(move_by_chance(MOVES, 1, step, ROLE) for step in range(5000))
    assert set(counts) == set(MOVES)
    assert all(900 < n < 1100 for n in counts.values())
