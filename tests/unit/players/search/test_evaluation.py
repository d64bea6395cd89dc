"""What a position is worth without looking further."""

from __future__ import annotations

import pytest

from players.search.alphabeta.minimax import difference, estimate
from players.search.positions import Positions
from tests.kit.players.games import COIN, after, game, game_of


def test_an_end_is_worth_the_difference_of_its_goals() -> None:
    tictactoe = game("tictactoe")
    won = after(tictactoe, *(f"(mark {cell})" for cell in ("1 1", "1 2", "2 1", "2 2", "3 1")))
    position = Positions(tictactoe).at(won)
    assert (estimate(position, 0, (1,)), estimate(position, 1, (0,))) == (1.0, -1.0)


def test_a_single_role_is_worth_its_goal() -> None:
    coin = game_of(COIN)
    assert difference(Positions(coin).at(after(coin, "safe")), 0, ()) == 0.6


def test_more_moves_are_worth_a_little_where_goals_say_nothing() -> None:
    tictactoe = game("tictactoe")
    position = Positions(tictactoe).at(tictactoe.initial_state)
    assert estimate(position, 0, (1,)) == pytest.approx(0.09 * 8 / 18)
    assert estimate(position, 1, (0,)) == pytest.approx(-0.09 * 8 / 18)


def test_what_goes_on_is_never_as_good_as_won() -> None:
    coin = game_of(COIN)
    assert abs(estimate(Positions(coin).at(coin.initial_state), 0, ())) < 1.0
