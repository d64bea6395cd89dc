"""Search on the compiled engine sees what the interpreter sees."""

from __future__ import annotations

from random import Random

import pytest

from gdl.engines import make_game
from gdl.game import Game
from gdl.language.rules import read_rules
from players.deadline import Deadline
from players.search.evaluator import (
    MAX_STEPS,
    LaneEvaluator,
    StateEvaluator,
    compiled_game_of,
    evaluator_of,
    wait_for_compilation,
)
from tests.kit.players.games import COIN, FOUR_WAYS, after, compiled, interpreted, iterations

ENDLESS = """
(role player) (init (side a)) (other a b) (other b a)
(legal player turn) (legal player stay)
(<= (next (side ?y)) (does player turn) (true (side ?x)) (other ?x ?y))
(<= (next (side ?x)) (does player stay) (true (side ?x)))
(<= terminal (true (side c)))
(<= (goal player 80) (true (side ?x)))
"""


def lanes_of(game: Game) -> LaneEvaluator:
    return LaneEvaluator(compiled_game_of(game))


def walk(game: Game, other: Game, random: Random) -> None:
    """Walk at random through *game*, compiled, and *other*, interpreted, and compare what is seen on the way."""
    lanes, states = lanes_of(game), StateEvaluator(other)
    node_key, state = lanes.node_key(game.initial_state), states.node_key(other.initial_state)
    while moves := states.moves(state):
        assert [list(map(lanes.term, numbers)) for numbers in lanes.moves(node_key)] == list(map(list, moves))
        choice = [random.randrange(len(options)) for options in moves]
        node_key = lanes.after(node_key, [options[i] for options, i in zip(lanes.moves(node_key), choice, strict=True)])
        state = states.after(state, [options[i] for options, i in zip(moves, choice, strict=True)])
    assert lanes.moves(node_key) == ()
    assert lanes.goals(node_key) == states.goals(state)
    assert lanes.node_key(state) == node_key


@pytest.mark.parametrize("name", ["tictactoe", "connectfour", "rockpaperscissors", "montyhall"])
def test_moves_followers_and_goals_are_those_of_the_interpreter(name: str) -> None:
    for seed in range(5):
        walk(compiled(name), interpreted(name), Random(seed))


@pytest.mark.parametrize("rules", [COIN, FOUR_WAYS])
def test_chance_and_puzzles_are_walked_as_well(rules: str) -> None:
    description = read_rules(rules)
    walk(make_game(description, "compiled"), make_game(description, "interpreter"), Random(1))


def test_every_leaf_has_the_mean_of_its_own_plays() -> None:
    tictactoe = compiled("tictactoe")
    won = after(tictactoe, "(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)", "(mark 1 3)")
    lost_next = after(tictactoe, "(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 3 3)")
    lanes = lanes_of(tictactoe)
    node_keys = [lanes.node_key(state) for state in (won, lost_next, tictactoe.initial_state)]
    first, second, third = lanes.play_out(node_keys, 400, Random(1), iterations(1)) or ()
    assert first == (1.0, 0.0)
    assert second[0] > third[0] > 0.5 > third[1] > second[1]
    assert sum(third) == pytest.approx(1.0)


def test_equal_seeds_play_equal_plays() -> None:
    lanes = lanes_of(compiled("connectfour"))
    node_keys = [lanes.node_key(compiled("connectfour").initial_state)] * 3
    first, second = (lanes.play_out(node_keys, 30, Random(7), iterations(1)) for _ in range(2))
    assert first == second


def test_plays_too_long_for_the_lanes_are_played_singly_and_cut_short() -> None:
    endless = make_game(read_rules(ENDLESS), "compiled")
    lanes = lanes_of(endless)
    assert MAX_STEPS < 10_000
    assert lanes.play_out([lanes.node_key(endless.initial_state)], 2, Random(1), iterations(1)) == [(0.8,)]
    assert (lanes.max_leaves, lanes.max_plays) == (1, 1)


def test_the_best_evaluator_is_that_of_the_engine_that_runs() -> None:
    fresh = make_game(read_rules(FOUR_WAYS))
    assert type(evaluator_of(fresh)) is StateEvaluator
    wait_for_compilation(fresh, Deadline(float("inf")))
    assert type(evaluator_of(fresh)) is LaneEvaluator


def test_an_interpreted_game_has_no_compiled_one_behind_it() -> None:
    with pytest.raises(ValueError, match="not compiled"):
        compiled_game_of(interpreted("tictactoe"))
