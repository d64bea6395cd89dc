"""Tables whose moves stand in blocks by level, and the choice of moves by them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from gdl.compiler.tables import BLOCK, N_LEVELS, Tables, levelled
from players.search.evaluator import compiled_game_of
from tests.kit.players.games import compiled


def choices(tables: Tables) -> list[list[tuple[int, int]]]:
    """Return the moves, with what says that they are legal, of each role at each phase, in order."""
    return [
        sorted(pairs)
        for starts in tables.block_start
        for begin, end in pairwise(starts)
        if (
            pairs := [
                (int(row), int(legal))
                for row, legal in zip(tables.block_row[begin:end], tables.block_legal[begin:end], strict=True)
                if row != tables.n_rows - 1
            ]
        )
    ]


def levels_of(tables: Tables, seed: int) -> NDArray[np.int64]:
    """Return a level drawn for each move."""
    return np.random.default_rng(seed).integers(0, N_LEVELS, tables.n_inputs - 1 - tables.n_fluents)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", ["breakthrough", "relay", "rockpaperscissors", "kuhnpoker", "tictactoe"])
@pytest.mark.parametrize("is_phased", [False, True])
def test_roles_have_the_same_moves_in_blocks_of_one_level_the_highest_first(name: str, is_phased: bool) -> None:
    rules = compiled_game_of(compiled(name)).rules
    tables = rules.phased if is_phased else rules.single
    level_of = levels_of(tables, 1)
    found = levelled(tables, level_of)
    assert choices(found.tables) == choices(tables)
    assert 8 * len(found.level) == len(found.tables.block_row)
    assert found.tables.block_start[-1, -1] == len(found.tables.block_row)
    for starts in found.tables.block_start:
        for begin, end in pairwise(starts):
            levels = [
                {int(level_of[row - 1 - tables.n_fluents]) for row in block if row != tables.n_rows - 1}
                for block in found.tables.block_row[begin:end].reshape(-1, BLOCK)
            ]
            assert levels == [{int(level)} for level in found.level[begin // BLOCK : end // BLOCK]]
            assert levels == sorted(levels, key=max, reverse=True)


def test_moves_of_one_level_stay_as_they_are() -> None:
    tables = compiled_game_of(compiled("breakthrough")).rules.phased
    found = levelled(tables, np.full(tables.n_inputs - 1 - tables.n_fluents, 1))
    assert set(found.level.tolist()) == {1}
    for name in ("block_start", "block_legal", "block_row"):
        assert np.array_equal(getattr(found.tables, name), getattr(tables, name))
