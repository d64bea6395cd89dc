"""States on their way from words into lanes, and from lanes into words."""

from typing import Final

import numpy as np

from gdl.compiler.kernels.counters import store_digits
from gdl.compiler.kernels.jit import inlined
from gdl.compiler.kernels.lanes import N_LANES
from gdl.compiler.kernels.words import (
    ONE,
    ONES,
    ZERO,
    U,
    W,
    and_,
    and_not,
    at,
    broadcast,
    left,
    load,
    or_,
    plus,
    put_word,
    right,
    store,
    word_at,
    xor,
)
from players.search.expansion.room import STATES, bit_of

_FIRST_BITS: Final = U(0x0101010101010101)
_BYTES: Final = U(0x00FF00FF00FF00FF)
_PAIRS: Final = U(0x0000FFFF0000FFFF)
_HALVES: Final = U(0x00000000FFFFFFFF)
"""The lower one of each two bytes, of each two pairs of bytes, and of the two halves of a word."""


@inlined
def load_states(r, n_fluents, n_parts):
    """Put the state of each part into all its lanes."""
    one, all_lanes = broadcast(ONE), broadcast(ONES)
    for s in range(np.int64(r.n_state)):
        for k in range(W):
            put_word(r.marked, U(W * STATES + k), word_at(r.state, U(k * n_parts // W) * r.n_state + U(s)))
        bits = load(r.marked, U(STATES))
        for f in range(64 * s, min(64 * s + 64, n_fluents)):
            is_clear = plus(and_(bits, one), all_lanes)
            store(r.values, U(1 + f), xor(is_clear, all_lanes))
            bits = right(bits, 1)


@inlined
def save_states(r, n_fluents, n_parts):
    """Write the states in the first lanes of all shares as words."""
    n_state, n_lanes = np.int64(r.n_state), N_LANES // n_parts
    for s in range(n_state):
        _collect(r, 64 * s, min(64 * s + 64, n_fluents), 8 * s)
    for part in range(n_parts):
        share = at(r.share, U(part))
        for i in range(at(r.n, U(part))):
            lane, first = part * n_lanes + i * share, (part * n_lanes + i) * n_state
            for s in range(n_state):
                if lane & 7:
                    word = _word_of(r, lane, 64 * s, min(64 * s + 64, n_fluents))
                else:
                    word = word_at(r.states, U(W * (8 * s + (lane >> 3 & 7)) + (lane >> 6)))
                put_word(r.words, U(first + s), word)


@inlined
def _word_of(r, lane, begin, end):
    """Return the fluents from *begin* to below *end* in a lane, as a word."""
    word = ZERO
    for f in range(begin, end):
        word |= bit_of(r.values, 2 * (1 + f), lane) << U(f - begin)
    return word


@inlined
def _collect(r, begin, end, row):
    """Write the fluents from *begin* to below *end*, 64 at most, in every eighth lane as words: eight rows of `states`.

    The first one has those of lanes 0, 64, 128... Each word of eight rows is a matrix of bytes, which is transposed.
    """
    e0, e1 = _eight(r, begin, end), _eight(r, begin + 8, end)
    e2, e3 = _eight(r, begin + 16, end), _eight(r, begin + 24, end)
    e4, e5 = _eight(r, begin + 32, end), _eight(r, begin + 40, end)
    e6, e7 = _eight(r, begin + 48, end), _eight(r, begin + 56, end)
    e0, e4 = _low(e0, e4, _HALVES, 32), _high(e0, e4, _HALVES, 32)
    e1, e5 = _low(e1, e5, _HALVES, 32), _high(e1, e5, _HALVES, 32)
    e2, e6 = _low(e2, e6, _HALVES, 32), _high(e2, e6, _HALVES, 32)
    e3, e7 = _low(e3, e7, _HALVES, 32), _high(e3, e7, _HALVES, 32)
    e0, e2 = _low(e0, e2, _PAIRS, 16), _high(e0, e2, _PAIRS, 16)
    e1, e3 = _low(e1, e3, _PAIRS, 16), _high(e1, e3, _PAIRS, 16)
    e4, e6 = _low(e4, e6, _PAIRS, 16), _high(e4, e6, _PAIRS, 16)
    e5, e7 = _low(e5, e7, _PAIRS, 16), _high(e5, e7, _PAIRS, 16)
    e0, e1 = _low(e0, e1, _BYTES, 8), _high(e0, e1, _BYTES, 8)
    e2, e3 = _low(e2, e3, _BYTES, 8), _high(e2, e3, _BYTES, 8)
    e4, e5 = _low(e4, e5, _BYTES, 8), _high(e4, e5, _BYTES, 8)
    e6, e7 = _low(e6, e7, _BYTES, 8), _high(e6, e7, _BYTES, 8)
    store_digits(r.states, row, e0, e1, e2, e3)
    store_digits(r.states, row + 4, e4, e5, e6, e7)


@inlined
def _eight(r, begin, end):
    """Return the bits of eight fluents, or as many as there are, in every eighth lane, as bytes."""
    found = broadcast(ZERO)
    for f in range(min(begin + 8, end) - 1, begin - 1, -1):
        found = or_(plus(found, found), and_(load(r.values, U(1 + f)), broadcast(_FIRST_BITS)))
    return found


@inlined
def _low(x, y, mask, n):
    """Return the parts of *n* bits of two values that a mask has, those of the second beside those of the first."""
    return or_(and_(x, broadcast(mask)), left(and_(y, broadcast(mask)), n))


@inlined
def _high(x, y, mask, n):
    """Return the parts of *n* bits of two values that a mask has not, likewise."""
    return or_(and_(right(x, n), broadcast(mask)), and_not(y, broadcast(mask)))
