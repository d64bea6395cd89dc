"""The equilibrium benchmark: a strategy that is known, and a player that is asked again and again."""

from __future__ import annotations

import pytest

from benchmarks.equilibrium import TooLargeError, exploitability


def test_the_tree_search_loses_nothing_in_kuhn_poker() -> None:
    alice, bob = exploitability("kuhnpoker", "mcts", start_s=1e6, seed=1, n_draws=1)
    assert (alice.role, bob.role) == ("alice", "bob")
    assert (alice.value, bob.value) == pytest.approx((0.5 - 1 / 72, 0.5 + 1 / 72), abs=1e-3)
    assert max(alice.loss, bob.loss) < 1e-3


def test_a_player_without_a_strategy_is_measured_by_its_moves() -> None:
    """To take the first legal move is to bet and to call always: against that the best bob folds his jacks."""
    alice, _ = exploitability("kuhnpoker", "legal", start_s=1.0, seed=1, n_draws=1)
    assert alice.worst == pytest.approx(0.5 - 0.25 / 3)


def test_a_game_of_one_player_is_refused() -> None:
    with pytest.raises(TooLargeError, match="not a game of two"):
        list(exploitability("montyhall", "mcts", 1.0, 1, 1))
