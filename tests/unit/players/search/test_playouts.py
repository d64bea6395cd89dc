"""Plays at random."""

from __future__ import annotations

from random import Random

from players.deadline import Deadline, SearchBudget
from players.search.evaluator import play_out
from tests.kit.players.games import COIN, after, game, game_of, iterations


def test_a_play_ends_with_the_goals_of_the_end() -> None:
    tictactoe = game("tictactoe")
    goals = {play_out(tictactoe, tictactoe.initial_state, Random(seed), iterations(1)) for seed in range(30)}
    assert goals == {(1.0, 0.0), (0.0, 1.0), (0.5, 0.5)}


def test_chance_falls_on_both_sides() -> None:
    coin = game_of(COIN)
    goals = [play_out(coin, after(coin, "bold"), Random(seed), iterations(1)) for seed in range(200)]
    assert 60 < goals.count((1.0, 0.0)) < 140


def test_equal_seeds_play_equal_plays() -> None:
    connectfour = game("connectfour")
    first, second = (play_out(connectfour, connectfour.initial_state, Random(7), iterations(1)) for _ in range(2))
    assert first == second


def test_a_play_that_runs_out_of_time_has_no_goals() -> None:
    tictactoe = game("tictactoe")
    over = SearchBudget(deadline=Deadline(0.0, lambda: 1.0))
    assert play_out(tictactoe, tictactoe.initial_state, Random(1), over) is None
