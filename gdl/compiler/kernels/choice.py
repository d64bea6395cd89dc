"""The choice of moves in lanes: one of the legal moves in every play, each equally likely unless some are preferred.

Moves are taken in blocks of eight. The legal moves of a block are added up in registers, to a number of four digits in
every lane; the blocks' numbers are added up in vertical counters. A number below the total is drawn in every lane, and
counted down, block by block; where it would fall below zero, the move is in that block.

Where moves have levels, a block has moves of one level alone. Each lane draws a level, and the legal moves of lower
levels do not count, if there is one that is not lower.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.counters import (
    COUNTER_BITS,
    HIGH_DIGITS,
    add_to_counter,
    borrowed,
    draw_below,
    parity,
    store_digits,
    sum_of_eight,
    two_random_bits,
)
from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.words import (
    ONE,
    ONES,
    ZERO,
    U,
    W,
    and_,
    and_not,
    any_bit,
    at,
    broadcast,
    load,
    or_,
    put,
    rows,
    store,
    xor,
)
from gdl.compiler.tables import BLOCK, N_LEVELS


class Work(NamedTuple):
    """Room for the choice of moves, and random state.

    *Shapes*: `counter` and `drawn` (bits, W), vertical, least significant first; `block` (4 * blocks, W): how many
    moves are legal in each block with any; `live` and `chosen` (blocks,): the first moves of blocks with legal and with
    chosen moves, the latter `n_chosen[0]` in number; `random` (4, W). Where `keeps_made` is not 0, `made` (rows, W) has
    a bit for each move that a lane has made, in the row of the move. Where `has_levels` is not 0, `level` (blocks,) is
    that of the moves of each block, and `allowed` (levels, W) the lanes that may choose at each level. Where
    `ends_stuck` is not 0, a play in which a role has no legal move is over.
    """

    counter: NDArray[np.uint64]
    drawn: NDArray[np.uint64]
    block: NDArray[np.uint64]
    live: NDArray[np.int32]
    chosen: NDArray[np.int32]
    n_chosen: NDArray[np.int32]
    random: NDArray[np.uint64]
    made: NDArray[np.uint64]
    keeps_made: int
    level: NDArray[np.int32]
    allowed: NDArray[np.uint64]
    has_levels: int
    ends_stuck: int


def work_for(n_moves: int, seed: int, n_rows: int = 0) -> Work:
    """Return room for choices among *n_moves* moves, drawn by generators that start from *seed*.

    With *n_rows*, as many as the tables have, the moves that lanes make are kept. Moves have no levels.
    """
    random = np.random.default_rng(seed).integers(1, 2**64 - 1, (4, W), dtype=np.uint64)
    n_blocks = n_moves + 1
    live, chosen = np.zeros(n_blocks, np.int32), np.zeros(n_blocks, np.int32)
    counter, drawn, block = rows(COUNTER_BITS), rows(COUNTER_BITS), rows(4 * n_blocks)
    n_chosen, made, level = np.zeros(1, np.int32), rows(n_rows), np.zeros(n_blocks, np.int32)
    keeps_made, allowed = int(n_rows > 0), rows(N_LEVELS)
    return Work(counter, drawn, block, live, chosen, n_chosen, random, made, keeps_made, level, allowed, 0, 0)


@inlined
def literal(val, x):
    """Return the value of a literal."""
    return xor(load(val, U(x) >> U(1)), broadcast(ZERO - (U(x) & U(1))))


@inlined
def bit(values, x, lane):
    """Return the value of a literal in one lane, as a word of one bit."""
    return ((values[x >> 1, lane >> 6] >> U(lane & 63)) & ONE) ^ U(x & 1)


@inlined
def _count_block(val, legal, i):
    """Return the four digits of the number of legal moves i..i+8, in every lane."""
    return sum_of_eight(
        literal(val, at(legal, U(i))),
        literal(val, at(legal, U(i + 1))),
        literal(val, at(legal, U(i + 2))),
        literal(val, at(legal, U(i + 3))),
        literal(val, at(legal, U(i + 4))),
        literal(val, at(legal, U(i + 5))),
        literal(val, at(legal, U(i + 6))),
        literal(val, at(legal, U(i + 7))),
    )


@inlined
def _most_digits(begin, end, counter):
    """Return how many digits the number of legal moves begin..end may have; those beyond the registers become zero."""
    top = 4
    while (end - begin) >> top:
        top += 1
    for c in range(HIGH_DIGITS, top):
        store(counter, U(c), broadcast(ZERO))
    return top


@inlined
def _digits_in_use(counter, top):
    """Return how many digits the largest of the counted numbers has."""
    while top > 0 and not any_bit(load(counter, U(top - 1))):
        top -= 1
    return top


@inlined
def _count_legal(val, t, begin, end, work):
    """Count the legal moves of every lane; list the blocks with a move that is legal anywhere.

    Returns how many there are, and how many digits the largest count has. Eight digits stay in registers.
    """
    top = _most_digits(begin, end, work.counter)
    c0, c1, c2, c3 = broadcast(ZERO), broadcast(ZERO), broadcast(ZERO), broadcast(ZERO)
    c4, c5, c6, c7 = broadcast(ZERO), broadcast(ZERO), broadcast(ZERO), broadcast(ZERO)
    n_live = 0
    for i in range(begin, end, BLOCK):
        b0, b1, b2, b3 = _count_block(val, t.block_legal, i)
        if not any_bit(or_(or_(b0, b1), or_(b2, b3))):
            continue
        store_digits(work.block, 4 * n_live, b0, b1, b2, b3)
        put(work.live, U(n_live), i)
        n_live += 1
        c0, c1, c2, c3, c4, c5, c6, c7 = add_to_counter(
            work.counter, top, c0, c1, c2, c3, c4, c5, c6, c7, b0, b1, b2, b3
        )
    store_digits(work.counter, 0, c0, c1, c2, c3)
    store_digits(work.counter, 4, c4, c5, c6, c7)
    return n_live, _digits_in_use(work.counter, top)


@inlined
def _list_legal(val, t, begin, end, work):
    """List the blocks with a move that is legal anywhere, and their numbers; return how many there are.

    `allowed` then has the lanes in which a move of each level is legal.
    """
    n_live = 0
    for level in range(N_LEVELS):
        store(work.allowed, U(level), broadcast(ZERO))
    for i in range(begin, end, BLOCK):
        b0, b1, b2, b3 = _count_block(val, t.block_legal, i)
        some = or_(or_(b0, b1), or_(b2, b3))
        if not any_bit(some):
            continue
        store_digits(work.block, 4 * n_live, b0, b1, b2, b3)
        put(work.live, U(n_live), i)
        row = U(at(work.level, U(i // BLOCK)))
        store(work.allowed, row, or_(load(work.allowed, row), some))
        n_live += 1
    return n_live


@inlined
def _draw_levels(work):
    """Draw a level in each lane, and set in `allowed` at which levels it may choose.

    That is at the drawn level and above; where none of those moves is legal, at the highest level of which one is.
    """
    high, low = two_random_bits(work.random)
    above_0, above_1, above_2 = or_(high, low), high, and_(high, low)
    all_lanes = broadcast(ONES)
    none_better = and_not(all_lanes, load(work.allowed, U(3)))
    allowed_2 = or_(and_not(all_lanes, above_2), none_better)
    none_better = and_not(none_better, load(work.allowed, U(2)))
    allowed_1 = or_(and_not(all_lanes, above_1), none_better)
    none_better = and_not(none_better, load(work.allowed, U(1)))
    allowed_0 = or_(and_not(all_lanes, above_0), none_better)
    store_digits(work.allowed, 0, allowed_0, allowed_1, allowed_2, all_lanes)


@subroutine
def _count_preferred(val, t, begin, end, work):
    """Count the legal moves of the levels that each lane has drawn; list blocks, and return, as `_count_legal`."""
    n_live, top = _list_legal(val, t, begin, end, work), _most_digits(begin, end, work.counter)
    _draw_levels(work)
    c0, c1, c2, c3 = broadcast(ZERO), broadcast(ZERO), broadcast(ZERO), broadcast(ZERO)
    c4, c5, c6, c7 = broadcast(ZERO), broadcast(ZERO), broadcast(ZERO), broadcast(ZERO)
    for q in range(n_live):
        row, block = U(4 * q), U(at(work.live, U(q)) // BLOCK)
        allowed = load(work.allowed, U(at(work.level, block)))
        b0, b1 = and_(load(work.block, row), allowed), and_(load(work.block, row + U(1)), allowed)
        b2, b3 = and_(load(work.block, row + U(2)), allowed), and_(load(work.block, row + U(3)), allowed)
        store_digits(work.block, row, b0, b1, b2, b3)
        c0, c1, c2, c3, c4, c5, c6, c7 = add_to_counter(
            work.counter, top, c0, c1, c2, c3, c4, c5, c6, c7, b0, b1, b2, b3
        )
    store_digits(work.counter, 0, c0, c1, c2, c3)
    store_digits(work.counter, 4, c4, c5, c6, c7)
    return n_live, _digits_in_use(work.counter, top)


@inlined
def _take_from_block(val, t, i, lanes, d0, d1, d2):
    """Count down from numbers below eight, in *lanes*, through the legal moves i..i+8, and make the move at zero."""
    for j in range(i, i + BLOCK):
        x = and_(literal(val, at(t.block_legal, U(j))), lanes)
        b1 = and_not(x, d0)
        b2 = and_not(b1, d1)
        here = and_not(b2, d2)
        store(val, U(at(t.block_row, U(j))), here)
        d0, d1, d2 = xor(d0, x), xor(d1, b1), xor(d2, b2)
        lanes = and_not(lanes, here)


@inlined
def _take(val, t, n_live, top, work):
    """Count down from the drawn numbers, block by block, to find each lane's move; eight digits stay in registers."""
    drawn, taken = work.drawn, broadcast(ZERO)
    d0, d1, d2, d3 = load(drawn, U(0)), load(drawn, U(1)), load(drawn, U(2)), load(drawn, U(3))
    d4, d5, d6, d7 = load(drawn, U(4)), load(drawn, U(5)), load(drawn, U(6)), load(drawn, U(7))
    n_chosen = at(work.n_chosen, ZERO)
    for q in range(n_live):
        row = U(4 * q)
        b0, b1 = and_not(load(work.block, row), taken), and_not(load(work.block, row + U(1)), taken)
        b2, b3 = and_not(load(work.block, row + U(2)), taken), and_not(load(work.block, row + U(3)), taken)
        e0, e1, e2 = d0, d1, d2
        d0, borrow = xor(d0, b0), and_not(b0, d0)
        d1, borrow = parity(d1, b1, borrow), borrowed(d1, b1, borrow)
        d2, borrow = parity(d2, b2, borrow), borrowed(d2, b2, borrow)
        d3, borrow = parity(d3, b3, borrow), borrowed(d3, b3, borrow)
        d4, borrow = xor(d4, borrow), and_not(borrow, d4)
        d5, borrow = xor(d5, borrow), and_not(borrow, d5)
        d6, borrow = xor(d6, borrow), and_not(borrow, d6)
        d7, borrow = xor(d7, borrow), and_not(borrow, d7)
        c = HIGH_DIGITS
        while c < top and any_bit(borrow):
            digit = load(drawn, U(c))
            store(drawn, U(c), xor(digit, borrow))
            borrow = and_not(borrow, digit)
            c += 1
        if any_bit(borrow):
            taken = or_(taken, borrow)
            first = at(work.live, U(q))
            put(work.chosen, U(n_chosen), first)
            n_chosen += 1
            _take_from_block(val, t, first, borrow, e0, e1, e2)
    put(work.n_chosen, ZERO, n_chosen)


@inlined
def choose(val, t, begin, end, waiting, work):
    """Set, in every lane, one of the legal moves begin..end; other moves' rows are zero.

    Each is equally likely among those of the levels that the lane may choose at, all where moves have no levels.

    Returns whether a lane that is not *waiting* has no legal move.
    """
    if work.has_levels != ZERO:
        n_live, top = _count_preferred(val, t, begin, end, work)
    else:
        n_live, top = _count_legal(val, t, begin, end, work)
    some, several = broadcast(ZERO), broadcast(ZERO)
    for c in range(top):
        digit = load(work.counter, U(c))
        some = or_(some, digit)
        if c:
            several = or_(several, digit)
    for c in range(max(top, HIGH_DIGITS)):
        store(work.drawn, U(c), broadcast(ZERO))
    if any_bit(and_not(several, waiting)):
        draw_below(work.random, work.counter, work.drawn, top)
    _take(val, t, n_live, top, work)
    return any_bit(and_not(and_not(broadcast(ONES), some), waiting))


@inlined
def stuck_among(val, legal, begin, end):
    """Return the lanes in which none of the moves begin..end is legal."""
    some = broadcast(ZERO)
    for i in range(begin, end):
        some = or_(some, literal(val, at(legal, U(i))))
    return and_not(broadcast(ONES), some)


@inlined
def forget(val, t, waiting, work):
    """Take back the moves that were made, so that all moves' rows are zero.

    Those of lanes that are not *waiting* are kept, where that is wanted.
    """
    for q in range(at(work.n_chosen, ZERO)):
        first = at(work.chosen, U(q))
        for j in range(first, first + BLOCK):
            row = U(at(t.block_row, U(j)))
            if work.keeps_made != ZERO:
                store(work.made, row, or_(load(work.made, row), and_not(load(val, row), waiting)))
            store(val, row, broadcast(ZERO))
    put(work.n_chosen, ZERO, 0)
