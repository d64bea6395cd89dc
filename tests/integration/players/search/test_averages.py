"""What plays come to by each of their moves, and plays that prefer moves that do well."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from players.deadline import SearchBudget
from players.search.evaluator import compiled_game_of
from players.search.tree.averages import MoveAverages, MoveSums, add_moves, advantages
from players.search.tree.search import CompiledSearch
from players.search.tree.settings import SearchSettings
from tests.kit.players.games import compiled

N_LANES = 512


class Made(NamedTuple):
    """As much of the room for choices as is read."""

    made: NDArray[np.uint64]


class Plays(NamedTuple):
    """As much of the room for plays as is read."""

    work: Made
    goals: NDArray[np.int32]


@numba.njit
def added(n_fluents, plays, sums):  # type: ignore[no-untyped-def]  # numba types it
    add_moves(n_fluents, plays, sums)


def test_goals_are_added_up_for_each_move_in_the_lanes_that_made_it() -> None:
    random = np.random.default_rng(1)
    made, goals = random.random((9, N_LANES)) < 0.2, random.integers(0, 101, (2, N_LANES)).astype(np.int32)
    role = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1], np.int32)
    packed = np.zeros((13, 8), np.uint64)
    packed[4:] = np.packbits(made, axis=1, bitorder="little").view(np.uint64)
    sums = MoveSums(role, np.full(9, 2.0), np.full(9, 100.0), np.full(9, 1e4))
    added(3, Plays(Made(packed), goals), sums)
    assert sums.n_plays.tolist() == (2 + made.sum(axis=1)).tolist()
    assert sums.total.tolist() == (100 + (made * goals[role]).sum(axis=1)).tolist()
    assert sums.squares.tolist() == (10_000 + (made * goals[role] ** 2).sum(axis=1)).tolist()


def test_means_of_many_plays_count_and_those_of_few_hardly() -> None:
    """The move that was made ten times did as well as the best, which may be chance."""
    n_plays = np.array([1e6, 1e6, 1e6, 10.0])
    better = advantages(n_plays, n_plays * [60.0, 50.0, 40.0, 60.0])
    assert better == pytest.approx([10.0, 0.0, -10.0, 2.1], abs=0.1)


def test_where_chance_explains_all_differences_no_move_is_better() -> None:
    n_plays = np.full(4, 100.0)
    assert advantages(n_plays, n_plays * [51.0, 49.0, 50.5, 49.5]).tolist() == [0.0] * 4


def test_levels_go_by_two_points_of_the_goal_and_each_role_has_its_own_mean() -> None:
    rules = compiled_game_of(compiled("tictactoe")).rules
    averages = MoveAverages(rules, rules.phased)
    n_moves = len(rules.moves_of[0])
    means = np.concatenate([50.0 + np.arange(n_moves), 20.0 + np.zeros(len(rules.moves_of[1]))])
    fill(averages, means, spread=40.0)
    found = averages.levels()
    expected = np.clip(np.floor((np.arange(n_moves) - (n_moves - 1) / 2) / 2 + 1.5), 0, 3)
    assert found[:n_moves].tolist() == expected.tolist()
    assert set(found[n_moves:].tolist()) == {1}


@pytest.mark.parametrize(("scale", "n_levels"), [(1.0, 3), (0.1, 3), (0.0, 1)])
def test_where_goals_lie_close_together_less_of_a_difference_makes_a_level(scale: float, n_levels: int) -> None:
    """Up to a deviation of 25 points it is a share of that: a tenth of both gives the same levels."""
    rules = compiled_game_of(compiled("tictactoe")).rules
    averages = MoveAverages(rules, rules.phased)
    fill(averages, scale * np.linspace(45.0, 55.0, len(averages.sums.role)), spread=scale * 24.0)
    found = averages.levels()
    assert len(set(found.tolist())) == n_levels
    if scale:
        fill(averages, np.linspace(45.0, 55.0, len(averages.sums.role)), spread=24.0)
        assert found.tolist() == averages.levels().tolist()


def test_moves_explain_the_share_of_the_variance_by_which_their_means_differ() -> None:
    rules = compiled_game_of(compiled("tictactoe")).rules
    averages = MoveAverages(rules, rules.phased)
    n_first = len(rules.moves_of[0])
    means = np.full(len(averages.sums.role), 50.0)
    means[: n_first // 2], means[n_first // 2 : 2 * (n_first // 2)] = 46.0, 54.0
    fill(averages, means, spread=12.0)
    variance = np.var(means[:n_first])
    assert averages.explained() == pytest.approx(variance / (variance + 144.0) / 2, rel=1e-5)


def test_what_chance_explains_moves_do_not() -> None:
    rules = compiled_game_of(compiled("tictactoe")).rules
    averages, random = MoveAverages(rules, rules.phased), np.random.default_rng(1)
    averages.sums.n_plays[:] = 100
    averages.sums.total[:] = 100 * random.binomial(100, 0.5, len(averages.sums.role))
    averages.sums.squares[:] = 100 * averages.sums.total
    assert averages.explained() < 0.005


def fill(averages: MoveAverages, means: NDArray[np.float64], spread: float) -> None:
    """Add up many plays that come to such means by each move, and lie that far apart."""
    n_plays = 1e7
    averages.sums.n_plays[:] = n_plays
    averages.sums.total[:] = n_plays * means
    averages.sums.squares[:] = n_plays * (means**2 + spread**2)


def test_levels_are_found_anew_as_plays_grow_and_plays_of_earlier_moves_fade() -> None:
    rules = compiled_game_of(compiled("tictactoe")).rules
    averages = MoveAverages(rules, rules.phased)
    asked = [averages.levelled(n) is not None for n in (0, 511, 512, 1_023, 1_024, 2_047, 3_000, 5_999, 6_000)]
    assert asked == [False, False, True, False, True, False, True, False, True]
    sums = averages.sums
    sums.n_plays[:], sums.total[:], sums.squares[:] = 8.0, 400.0, 800.0
    averages.begin()
    assert (set(sums.n_plays), set(sums.total), set(sums.squares)) == ({4.0}, {200.0}, {400.0})
    assert averages.levelled(512) is not None


def test_in_othello_plays_prefer_corners_to_the_cells_beside_them() -> None:
    game = compiled_game_of(compiled("othello"))
    search = CompiledSearch(game, 1, SearchSettings(memory_mb=16.0, mast=True))
    search.think(game.initial_state, game.roles[0], SearchBudget(30_000))
    assert search.averages is not None
    level = dict(zip(map(str, game.moves), search.averages.levels().tolist(), strict=True))
    corners, diagonal = (
        [level[f"(place {x} {y})"] for x in columns for y in rows] for columns, rows in (("ah", "18"), ("bg", "27"))
    )
    assert min(corners) > max(diagonal)
    assert search.workers[0].room.plays.work.has_levels


@pytest.mark.parametrize("mast", [None, False])
def test_unless_it_is_wanted_no_move_is_preferred(mast: bool | None) -> None:
    game = compiled_game_of(compiled("tictactoe"))
    search = CompiledSearch(game, 1, SearchSettings(memory_mb=8.0, mast=mast))
    search.work(search.begin(game.initial_state, SearchBudget(2_000)), 2_000)
    assert search.averages is None
    assert not search.workers[0].room.plays.work.has_levels


def test_the_plays_of_all_threads_prefer_moves_by_sums_of_all() -> None:
    search = CompiledSearch(compiled_game_of(compiled("tictactoe")), 1, SearchSettings(memory_mb=8.0), 2)
    search.prefer()
    rooms = [worker.room for worker in search.workers]
    assert [room.plays.work.keeps_made for room in rooms] == [1, 1]
    assert rooms[0].sums is rooms[1].sums
