"""Ids that cannot be guessed, and moves by chance."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from gdl.language.terms import Constant
from server.match.chance import move_by_chance, new_match_id

MOVES = tuple(map(Constant, "abcde"))
ROLE = Constant("random")


def test_choices_are_the_same_on_every_machine() -> None:
    chosen = [str(move_by_chance(MOVES, 42, step, ROLE)) for step in range(10)]
    assert "".join(chosen) == "dbecaddaad"


def test_choices_are_even() -> None:
    counts = Counter(move_by_chance(MOVES, 1, step, ROLE) for step in range(5000))
    assert set(counts) == set(MOVES)
    assert all(900 < n < 1100 for n in counts.values())


@pytest.mark.parametrize("prefix", ["amazons", "123", "", "a b/(c);", "é"])
def test_match_ids_are_letters_digits_and_dots_and_no_number(prefix: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9.]*\.[a-z][a-z0-9]{11}", new_match_id(prefix))
