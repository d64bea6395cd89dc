"""Some random games are interpreted as their rules mean them; test_fuzz.py tries more of them on all engines."""

from __future__ import annotations

from random import Random

import pytest

from tests.fuzz.generator import random_game
from tests.fuzz.interpretation import compare_interpreted

SEEDS = (5, 6, 10, 14, 22, 26, 29, 31, 36, 41, 44)
"""Small games that have, together, all features of random games."""


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_game_is_interpreted_as_a_naive_evaluator_finds(seed: int) -> None:
    compare_interpreted(random_game(seed).text, Random(seed))
