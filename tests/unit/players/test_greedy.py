"""One step ahead."""

from __future__ import annotations

from gdl.game import Game
from players.deadline import Deadline
from players.player import Player
from players.stock import GreedyPlayer, LegalPlayer, RandomPlayer
from tests.kit.players.games import COIN, game, game_of, role

FOREVER = Deadline(float("inf"))
ALL_AT_ONCE = """
(role a) (role b)
(init start)
(<= (legal a safe) (true start)) (<= (legal a risky) (true start))
(<= (legal b one) (true start)) (<= (legal b two) (true start))
(<= (next (a safe)) (does a safe))
(<= (next (a lucky)) (does a risky) (does b one))
(<= (next (a unlucky)) (does a risky) (does b two))
(<= terminal (true (a ?x)))
(<= (goal a 60) (true (a safe))) (<= (goal a 100) (true (a lucky))) (<= (goal a 0) (true (a unlucky)))
(goal b 0)
"""
"""While b moves at the same time, a takes 60 for sure, or 100 or 0."""


def first_move(player: Player, of: Game, mine: str, seed: int = 1) -> str:
    player.join(of, role(mine), seed)
    return str(player.move(of.initial_state, player.role, FOREVER))


def test_the_mean_over_the_others_moves_decides() -> None:
    assert first_move(GreedyPlayer(), game_of(ALL_AT_ONCE), "a") == "safe"


def test_goals_count_as_they_stand_where_the_play_goes_on() -> None:
    assert first_move(GreedyPlayer(), game_of(COIN), "player") == "safe"


def test_no_time_still_tries_one_move() -> None:
    player = GreedyPlayer()
    player.join(game("connectfour"), role("red"), 1)
    move = player.move(player.game.initial_state, player.role, Deadline(0.0, lambda: 1.0))
    assert move in player.game.initial_state.legal_moves(player.role)


def test_legal_takes_the_first_move() -> None:
    assert first_move(LegalPlayer(), game("connectfour"), "red") == "(drop 1)"


def test_random_takes_every_move_and_the_same_for_the_same_seed() -> None:
    moves = [first_move(RandomPlayer(), game("connectfour"), "red", seed) for seed in range(50)]
    assert set(moves) == {f"(drop {column})" for column in range(1, 8)}
    assert moves == [first_move(RandomPlayer(), game("connectfour"), "red", seed) for seed in range(50)]
