"""Searches in many trees at once: ends are found, solved and believed, whatever the network says."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray

from gdl import read_term
from gdl.game import State
from players.environments import VectorGame
from players.learning.forest import Forest, targets_of
from tests.kit.players.games import KINGMAKER, compiled, game_of


def knows_nothing(
    bits: NDArray[np.bool_], n_players: int = 2, n_actions: int = 10
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Expect a draw everywhere, and think all actions alike, as many as tic-tac-toe has."""
    return np.zeros((len(bits), n_players), np.float32), np.zeros((len(bits), n_actions), np.float32)


def after(*cells: tuple[int, int]) -> State:
    """Return the state of tic-tac-toe after x, o, x, ... have marked these cells."""
    game = compiled("tictactoe")
    state = game.initial_state
    for number, (x, y) in enumerate(cells):
        mark, wait = read_term(f"(mark {x} {y})"), read_term("noop")
        state = state.next_state([mark, wait] if number % 2 == 0 else [wait, mark])
    return state


def searched(state: State, n_lanes: int, n_batches: int) -> Forest:
    """Return one tree of a state after some batches."""
    lanes = VectorGame(compiled("tictactoe"), n_lanes, auto_reset=False)
    forest = Forest(lanes, knows_nothing, 1, 20_000)
    lanes.place(state)
    forest.plant(lanes.save())
    for _ in range(n_batches):
        forest.walk()
    return forest


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n_lanes", [1, 8])
def test_a_win_in_one_is_found_and_solves_the_root(n_lanes: int) -> None:
    forest = searched(after((1, 1), (3, 1), (1, 2), (3, 2)), n_lanes, 40)
    best = forest.lanes.actions[0][forest.best_action()]
    assert (str(best), forest.is_solved, forest.value_of(0), forest.value_of(1)) == ("(mark 1 3)", True, 1.0, -1.0)


def test_the_only_stop_of_a_loss_is_found() -> None:
    forest = searched(after((1, 1), (2, 2), (1, 2)), 8, 100)
    assert str(forest.lanes.actions[0][forest.best_action()]) == "(mark 1 3)"


def test_tic_tac_toe_is_solved_as_a_draw_from_its_third_move() -> None:
    forest = searched(after((2, 2), (1, 1)), 32, 600)
    assert (forest.is_solved, forest.value_of(0), forest.value_of(1)) == (True, 0.0, 0.0)


def test_what_a_player_to_which_all_is_the_same_will_choose_is_not_solved() -> None:
    lanes = VectorGame(game_of(KINGMAKER), 8, auto_reset=False)
    evaluate = partial(knows_nothing, n_players=3, n_actions=len(lanes.actions[0]))
    forest = Forest(lanes, evaluate, 1, 1_000)
    forest.plant(lanes.save())
    for _ in range(20):
        forest.walk()
    assert (str(lanes.actions[0][forest.best_action()]), forest.is_solved) == ("keep", False)


def test_a_lost_state_is_solved_as_lost() -> None:
    forest = searched(after((1, 1), (2, 1), (3, 3), (3, 1), (1, 3)), 8, 200)
    assert (forest.is_solved, forest.value_of(1)) == (True, -1.0)


def test_a_search_goes_on_below_what_was_played() -> None:
    """What was found of a state two moves on is kept, with its walks; a state that is not there begins a new tree."""
    forest = searched(after(), 8, 100)
    lanes = forest.lanes
    lanes.place(after((2, 2), (1, 1)))
    here = lanes.save()
    n_before = int(forest.trees.visits[forest.roots[0]])
    assert forest.follow(here)
    n_kept = int(forest.trees.visits[forest.roots[0]])
    assert (0 < n_kept < n_before, forest.trees.states[forest.roots[0]].tolist()) == (
        True,
        here.copies.states[0].tolist(),
    )
    forest.walk()
    assert int(forest.trees.visits[forest.roots[0]]) == n_kept + 8
    lanes.place(after((1, 1)))
    assert not forest.follow(lanes.save())


def test_walks_end_where_there_is_no_room() -> None:
    lanes = VectorGame(compiled("tictactoe"), 4, auto_reset=False)
    forest = Forest(lanes, knows_nothing, 1, 16)
    forest.plant(lanes.save())
    for _ in range(20):
        forest.walk()
    assert (forest.trees.used[0] <= 16, forest.has_room, int(forest.trees.visits[0])) == (True, False, 80)


@pytest.mark.exhaustive
def test_each_lane_has_its_own_tree_in_self_play() -> None:
    """Targets are distributions over legal moves, moves are legal, and each tree has as many walks."""
    live = VectorGame("tictactoe", 64, seed=3)
    for _ in range(3):
        live.step(live.sample_actions())
    lanes = VectorGame(live.game, 64, auto_reset=False)
    forest = Forest(lanes, knows_nothing, 64, 64 * 17)
    forest.plant(live.save())
    forest.perturb(np.random.default_rng(1).gumbel(size=forest.n_root_edges).astype(np.float32))
    for targets in targets_of(forest.trees.width[forest.roots].tolist(), 4, 16):
        forest.walk(targets)
    chosen, policy, values = forest.decide()
    legal = live.legal
    assert legal[np.arange(64), chosen].all()
    assert ((policy >= 0) == legal).all()
    assert np.allclose(np.where(legal, policy, 0).sum(axis=1), 1, atol=1e-5)
    assert (np.abs(values) <= 1).all()
    unsolved = ~forest.trees.is_solved[forest.roots]
    assert set(forest.trees.visits[forest.roots][unsolved]) == {16}


def test_losses_on_the_way_are_given_back() -> None:
    """What edges add up to is the sum of values: with draws expected everywhere, nothing, until an end is found."""
    forest = searched(after(), 8, 2)
    n = int(forest.trees.used[1])
    assert float(np.abs(forest.trees.total[:n]).max()) < 1e-6
