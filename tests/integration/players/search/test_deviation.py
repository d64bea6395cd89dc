"""Exploration is as wide as the goals of walks lie apart, and no wider than for wins and losses."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from gdl.compiler.kernels.words import addresses
from players.search.evaluator import compiled_game_of
from players.search.tree.deviation import NARROWEST, find_deviation, note_goals
from players.search.tree.nodes import RuleFacts, rule_facts
from players.search.tree.walks import Walks, walks_for
from tests.kit.players.games import compiled


def _spread(facts: RuleFacts, walks: Walks, n_batches: int) -> None:
    """Add the goals of *walks* so many times, and find how far they lie apart."""
    f, w = addresses(facts), addresses(walks)
    for _ in range(n_batches):
        note_goals(f, w, 512)
    find_deviation(f, w)


njit: Any = numba.njit  # whose types do not know what functions become
spread = njit(_spread)


def spread_of(goals: NDArray[np.int64], n_batches: int = 1) -> list[float]:
    """Return the shares for two roles whose goals are *goals* (512,), and what is left of a hundred."""
    game = compiled_game_of(compiled("tictactoe"))
    walks = walks_for(2, 1, 1, seed=1, number=0)
    walks.goals[:] = np.stack([goals, 100 - goals], axis=1)
    spread(rule_facts(game.rules, game.roles, is_opposed=True), walks, n_batches)
    found: list[float] = walks.deviation.tolist()
    return found


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("n_wins", "share"),
    [
        pytest.param(256, 1.0, id="half of them"),
        pytest.param(64, 1.0, id="an eighth"),
        pytest.param(8, np.sqrt(8 / 512 * 504 / 512) * 100 / 25, id="one in 64"),
        pytest.param(0, NARROWEST, id="none"),
    ],
)
def test_bounds_are_as_wide_as_goals_lie_apart(n_wins: int, share: float) -> None:
    goals = np.where(np.arange(512) < n_wins, 100, 0)
    assert spread_of(goals, n_batches=3) == pytest.approx([share, share], rel=1e-6)


def test_few_walks_say_nothing() -> None:
    assert spread_of(np.zeros(512, np.int64), n_batches=0) == [1.0, 1.0]
