"""An exact solver of connect four alone, on bitboards, for positions that a general solver takes long for.

A column has seven bits, the lowest row first, the seventh always clear. Source: Tromp's encoding; the search and its
order of moves are as in Pons, "Solving Connect 4", 2015.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numba
import numpy as np

COLUMNS: Final = 7
ROWS: Final = 6
_STRIDE: Final = ROWS + 1
_BOTTOM: Final = sum(1 << (_STRIDE * column) for column in range(COLUMNS))
_BOARD: Final = _BOTTOM * ((1 << ROWS) - 1)
_TABLE_BITS: Final = 23
_ENTRY: Final = np.uint64(15)

_kernel: Any = numba.njit(nogil=True, boundscheck=False)
_WORD: Final = np.uint64


@_kernel
def _wins(stones, mask):
    """Return the empty cells that complete four for *stones*."""
    found = (stones << _WORD(1)) & (stones << _WORD(2)) & (stones << _WORD(3))
    for step in (ROWS, ROWS + 1, ROWS + 2):
        one, two, three = _WORD(step), _WORD(2 * step), _WORD(3 * step)
        pair = (stones << one) & (stones << two)
        found |= pair & (stones << three)
        found |= pair & (stones >> one)
        pair = (stones >> one) & (stones >> two)
        found |= pair & (stones << one)
        found |= pair & (stones >> three)
    return found & (_WORD(_BOARD) ^ mask)


@_kernel
def _count(bits):
    n = 0
    while bits != _WORD(0):
        bits &= bits - _WORD(1)
        n += 1
    return n


@_kernel
def _column(column):
    return _WORD((1 << ROWS) - 1) << _WORD(_STRIDE * column)


@_kernel
def _without_loss(stones, mask):
    """Return the moves after which the other side cannot win at once; none where it wins whatever is done."""
    possible = (mask + _WORD(_BOTTOM)) & _WORD(_BOARD)
    threats = _wins(stones ^ mask, mask)
    forced = possible & threats
    if forced != _WORD(0):
        if forced & (forced - _WORD(1)) != _WORD(0):
            return _WORD(0)
        possible = forced
    return possible & ~(threats >> _WORD(1))


@_kernel
def _value(stones, mask, n_stones, alpha, beta, table):
    """Return 1, 0 or -1, exact within the window, for the side to move, which cannot win at once."""
    moves = _without_loss(stones, mask)
    if moves == _WORD(0):
        return np.int64(-1)
    if n_stones >= COLUMNS * ROWS - 2:
        return np.int64(0)
    key = stones + mask
    place = np.int64((key * _WORD(0x9E3779B97F4A7C15)) >> _WORD(64 - _TABLE_BITS))
    low, high = np.int64(-1), np.int64(1)
    entry = table[place]
    if entry >> _WORD(4) == key:
        low, high = np.int64((entry & _WORD(15)) >> _WORD(2)) - 1, np.int64(entry & _WORD(3)) - 1
        if low >= beta or low == high:
            return low
        if high <= alpha:
            return high
        alpha, beta = max(alpha, low), min(beta, high)
    order = np.empty(COLUMNS, np.uint64)
    worth = np.empty(COLUMNS, np.int64)
    n = 0
    for i in range(COLUMNS):
        column = COLUMNS // 2 + (1 - 2 * (i % 2)) * (i + 1) // 2
        move = moves & _column(column)
        if move == _WORD(0):
            continue
        score = _count(_wins(stones | move, mask | move))
        j = n
        while j > 0 and worth[j - 1] < score:
            worth[j], order[j] = worth[j - 1], order[j - 1]
            j -= 1
        worth[j], order[j] = score, move
        n += 1
    best = np.int64(-1)
    for i in range(n):
        found = -_value(stones ^ mask, mask | order[i], n_stones + 1, -beta, -max(alpha, best), table)
        best = max(best, found)
        if best >= beta:
            break
    if best >= beta:
        low = max(low, best)
    elif best > alpha:
        low = high = best
    else:
        high = min(high, best)
    table[place] = key << _WORD(4) | _WORD(low + 1) << _WORD(2) | _WORD(high + 1)
    return best


class ConnectFour:
    """A solver whose table lasts."""

    def __init__(self) -> None:
        self._table = np.zeros(1 << _TABLE_BITS, np.uint64)

    def values(self, columns: Sequence[int]) -> dict[int, int]:
        """Return the goal, 0, 50 or 100, of each column (from 1) for the side to move after *columns* were played.

        Neither side may have won yet.
        """
        stones, mask = 0, 0
        for column in columns:
            stones, mask = stones ^ mask, mask | self._cell(mask, column)
        free = [column for column in range(1, COLUMNS + 1) if self._cell(mask, column) & _BOARD]
        return {column: 50 + 50 * self._after(stones, mask, column, len(columns)) for column in free}

    def _cell(self, mask: int, column: int) -> int:
        shift = _STRIDE * (column - 1)
        return (mask + (1 << shift)) & (((1 << _STRIDE) - 1) << shift)

    def _after(self, stones: int, mask: int, column: int, n_stones: int) -> int:
        move = self._cell(mask, column)
        if move & int(_wins(_WORD(stones), _WORD(mask))):
            return 1
        other, full = stones ^ mask, mask | move
        if n_stones + 1 == COLUMNS * ROWS:
            return 0
        if int(_wins(_WORD(other), _WORD(full))) & (full + _BOTTOM) & _BOARD:
            return -1
        return -int(_value(_WORD(other), _WORD(full), n_stones + 1, -1, 1, self._table))
