"""The choice of moves in lanes: one legal move each, all equally likely."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from gdl.compiler.kernels.choice import Work, choose, forget, work_for
from gdl.compiler.kernels.words import W, addresses, load, rows
from gdl.compiler.tables import BLOCK, N_LEVELS

N_LANES = 64 * W
_FIRST = np.uint64(0)


class Moves(NamedTuple):
    """As much of the tables as the choice reads."""

    block_legal: NDArray[np.int32]
    block_row: NDArray[np.int32]


@numba.njit
def made(val, t, idle, work):  # type: ignore[no-untyped-def]  # numba types it
    """Choose among all moves, copy the choice, and take it back; say whether a lane is stuck."""
    moves, room = addresses(t), addresses(work)
    is_stuck = choose(val, moves, 0, len(t.block_legal), load(idle, _FIRST), room)
    chosen = val.copy()
    forget(val, moves, load(idle, _FIRST), room)
    return is_stuck, chosen


def chosen_of(legal: NDArray[np.bool_], work: Work) -> tuple[bool, NDArray[np.bool_]]:
    """Return whether a lane is stuck, and the moves chosen where *legal* (moves, lanes) says which are legal."""
    n_moves = len(legal)
    missing = -n_moves % BLOCK
    val = rows(2 * n_moves + 2)
    val[0] = ~np.uint64(0)
    val[1 : 1 + n_moves] = np.packbits(np.ascontiguousarray(legal), axis=1, bitorder="little").view(np.uint64)
    literals = [*range(2, 2 * n_moves + 2, 2), *[1] * missing]
    targets = [*range(1 + n_moves, 1 + 2 * n_moves), *[1 + 2 * n_moves] * missing]
    moves = Moves(np.array(literals, np.int32), np.array(targets, np.int32))
    is_stuck, after = made(val, moves, np.zeros((1, W), np.uint64), work)
    assert not val[1 + n_moves :].any()
    bits = np.unpackbits(after[1 + n_moves : -1].view(np.uint8), axis=1, bitorder="little")
    return is_stuck, bits.astype(np.bool_)


@pytest.mark.sampled(17)
@pytest.mark.parametrize("n_moves", [1, 2, 7, 8, 9, 40, 300, 5_000])
@pytest.mark.parametrize("density", [0.02, 0.5, 1.0])
def test_one_legal_move_is_made_in_every_lane(n_moves: int, density: float) -> None:
    generator = np.random.default_rng(n_moves)
    legal = generator.random((n_moves, N_LANES)) < density
    legal[generator.integers(n_moves, size=N_LANES), np.arange(N_LANES)] = True
    is_stuck, chosen = chosen_of(legal, work_for(n_moves, seed=1))
    assert not is_stuck
    assert (chosen.sum(axis=0) == 1).all()
    assert not (chosen & ~legal).any()


def test_a_lane_without_legal_moves_is_stuck() -> None:
    legal = np.ones((3, N_LANES), np.bool_)
    legal[:, 17] = False
    is_stuck, chosen = chosen_of(legal, work_for(3, seed=1))
    assert is_stuck
    assert np.flatnonzero(chosen.sum(axis=0) != 1).tolist() == [17]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("n_legal", [2, 3, 8, 21, 64])
def test_each_legal_move_is_equally_likely(n_legal: int) -> None:
    """Chi-squared over 512 lanes, 200 times: within six standard deviations of its mean, for a fixed seed."""
    n_moves = 64
    generator = np.random.default_rng(7)
    order = generator.permuted(np.tile(np.arange(n_moves), (N_LANES, 1)), axis=1).T
    legal = order < n_legal
    work = work_for(n_moves, seed=3)
    counts = np.zeros(n_legal)
    for _ in range(200):
        _, chosen = chosen_of(legal, work)
        counts += np.bincount(np.sort(np.where(chosen, order, n_moves), axis=0)[0], minlength=n_legal)
    expected = 200 * N_LANES / n_legal
    chi_squared = ((counts - expected) ** 2 / expected).sum()
    freedom = n_legal - 1
    assert abs(chi_squared - freedom) < 6 * np.sqrt(2 * freedom)


def test_the_choice_follows_from_the_seed() -> None:
    legal = np.ones((30, N_LANES), np.bool_)
    first, again, other = (chosen_of(legal, work_for(30, seed))[1] for seed in (5, 5, 6))
    assert (first == again).all()
    assert (first != other).any()


def test_moves_that_lanes_make_are_kept_where_that_is_wanted() -> None:
    """After a choice, what is kept is what was chosen, but for lanes that wait."""
    legal = np.ones((5, N_LANES), np.bool_)
    work = work_for(5, seed=1, n_rows=12)
    _, chosen = chosen_of(legal, work)
    kept = np.unpackbits(work.made[6:11].view(np.uint8), axis=1, bitorder="little")
    assert np.array_equal(kept.astype(np.bool_), chosen)


def with_levels(work: Work, levels: list[int]) -> Work:
    """Return *work* for moves in blocks of these levels."""
    return work._replace(level=np.array(levels, np.int32), has_levels=1)


def test_moves_are_made_as_often_as_levels_are_drawn() -> None:
    """A lane chooses at its level, from 0 to 3, and above: of moves all legal, eight a block, within six deviations."""
    levels = [3, 2, 2, 0]
    work = with_levels(work_for(32, seed=3), levels)
    n_lanes = 400 * N_LANES
    counts = np.zeros(32)
    for _ in range(400):
        _, chosen = chosen_of(np.ones((32, N_LANES), np.bool_), work)
        counts += chosen.sum(axis=1)
    by_level = {3: 1 / 8 + 1 / 24 + 1 / 24 + 1 / 32, 2: 1 / 24 + 1 / 24 + 1 / 32, 0: 1 / 32}
    share = np.repeat([by_level[level] for level in levels], BLOCK) / 4
    deviations = (counts - n_lanes * share) / np.sqrt(n_lanes * share * (1 - share))
    assert abs(deviations).max() < 6


@pytest.mark.parametrize("density", [0.01, 0.1, 1.0])
def test_with_levels_one_legal_move_is_made_in_every_lane(density: float) -> None:
    """Also where no legal move is of the level that is drawn."""
    generator = np.random.default_rng(5)
    legal = generator.random((320, N_LANES)) < density
    legal[generator.integers(320, size=N_LANES), np.arange(N_LANES)] = True
    work = with_levels(work_for(320, seed=1), generator.integers(0, N_LEVELS, 40).tolist())
    is_stuck, chosen = chosen_of(legal, work)
    assert not is_stuck
    assert (chosen.sum(axis=0) == 1).all()
    assert not (chosen & ~legal).any()


def test_with_levels_a_lane_without_legal_moves_is_stuck() -> None:
    legal = np.ones((16, N_LANES), np.bool_)
    legal[:, 17] = False
    is_stuck, chosen = chosen_of(legal, with_levels(work_for(16, seed=1), [2, 0]))
    assert is_stuck
    assert np.flatnonzero(chosen.sum(axis=0) != 1).tolist() == [17]
