"""Tables whose moves stand in blocks by level, so that the choice of moves in lanes can prefer some of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.gates import FALSE
from gdl.compiler.kernels.choice import N_LEVELS
from gdl.compiler.tables import BLOCK, Ints, Tables


class LevelledTables(NamedTuple):
    """Tables, and the level of the moves of each of their blocks. *Shape*: `level` (blocks,)."""

    tables: Tables
    level: Ints


def levelled(tables: Tables, level_of: NDArray[np.int64]) -> LevelledTables:
    """Return *tables* with each role's moves in blocks of one level, the highest first.

    *Shape*: `level_of` (M,), the level of each move, below `N_LEVELS`.
    """
    n_phases, n_roles = tables.role_start.shape[0], tables.role_start.shape[1] - 1
    n_groups = n_phases * n_roles * N_LEVELS
    chooser = np.repeat(np.arange(n_phases * n_roles), np.diff(tables.role_start, axis=1).ravel())
    level = level_of[tables.choice_row - 1 - tables.n_fluents]
    group = chooser * N_LEVELS + (N_LEVELS - 1 - level)
    n_moves = np.bincount(group, minlength=n_groups)
    n_blocks = -(-n_moves // BLOCK)
    first_block = np.concatenate([[0], np.cumsum(n_blocks)])
    order = np.argsort(group, kind="stable")
    before = np.concatenate([[0], np.cumsum(n_moves)])
    place = BLOCK * first_block[group[order]] + np.arange(len(order)) - before[group[order]]
    legal = np.full(BLOCK * first_block[-1], FALSE, np.int32)
    row = np.full(BLOCK * first_block[-1], tables.n_rows - 1, np.int32)
    legal[place], row[place] = tables.choice_legal[order], tables.choice_row[order]
    limits = BLOCK * first_block[::N_LEVELS]
    starts = limits[n_roles * np.arange(n_phases)[:, None] + np.arange(n_roles + 1)]
    of_groups = np.tile(np.arange(N_LEVELS)[::-1], n_phases * n_roles)
    return LevelledTables(
        tables._replace(block_start=starts.astype(np.int32), block_legal=legal, block_row=row),
        np.repeat(of_groups, n_blocks).astype(np.int32),
    )
