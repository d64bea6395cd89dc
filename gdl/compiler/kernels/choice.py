"""The choice of moves in lanes: one of the legal moves in every play, each equally likely.

Moves are taken in blocks of eight. The legal moves of a block are added up in registers, to a number of four digits in
every lane; the blocks' numbers are added up in vertical counters. A number below the total is drawn in every lane, and
counted down, block by block; where it would fall below zero, the move is in that block.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.jit import inlined
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
    left,
    load,
    or_,
    plus,
    put,
    right,
    rows,
    store,
    xor,
)
from gdl.compiler.tables import BLOCK

_COUNTER_BITS: Final = 24
_DRAWN_BITS: Final = 32
_LOW_DIGITS: Final = 4
_HIGH_DIGITS: Final = 8


class Work(NamedTuple):
    """Room for the choice of moves, and random state.

    *Shapes*: `counter` and `drawn` (bits, W), vertical, least significant first; `block` (4 * blocks, W): how many
    moves are legal in each block with any; `live` and `chosen` (blocks,): the first moves of blocks with legal and with
    chosen moves, the latter `n_chosen[0]` in number; `random` (4, W). Where `keeps_made` is not 0, `made` (rows, W) has
    a bit for each move that a lane has made, in the row of the move.
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


def work_for(n_moves: int, seed: int, n_rows: int = 0) -> Work:
    """Return room for choices among *n_moves* moves, drawn by generators that start from *seed*.

    With *n_rows*, as many as the tables have, the moves that lanes make are kept.
    """
    random = np.random.default_rng(seed).integers(1, 2**64 - 1, (4, W), dtype=np.uint64)
    n_blocks = n_moves + 1
    live, chosen = np.zeros(n_blocks, np.int32), np.zeros(n_blocks, np.int32)
    counter, drawn, block = rows(_COUNTER_BITS), rows(_COUNTER_BITS), rows(4 * n_blocks)
    return Work(counter, drawn, block, live, chosen, np.zeros(1, np.int32), random, rows(n_rows), int(n_rows > 0))


@inlined
def literal(val, x):
    """Return the value of a literal."""
    return xor(load(val, U(x) >> U(1)), broadcast(ZERO - (U(x) & U(1))))


@inlined
def bit(values, x, lane):
    """Return the value of a literal in one lane, as a word of one bit."""
    return ((values[x >> 1, lane >> 6] >> U(lane & 63)) & ONE) ^ U(x & 1)


@inlined
def _majority(a, b, c):
    return or_(and_(a, b), and_(or_(a, b), c))


@inlined
def _parity(a, b, c):
    return xor(xor(a, b), c)


@inlined
def _count_block(val, legal, i):
    """Return the four digits of the number of legal moves i..i+8, in every lane."""
    x0, x1, x2, x3 = (
        literal(val, at(legal, U(i))),
        literal(val, at(legal, U(i + 1))),
        literal(val, at(legal, U(i + 2))),
        literal(val, at(legal, U(i + 3))),
    )
    x4, x5, x6, x7 = (
        literal(val, at(legal, U(i + 4))),
        literal(val, at(legal, U(i + 5))),
        literal(val, at(legal, U(i + 6))),
        literal(val, at(legal, U(i + 7))),
    )
    s, a = _parity(x0, x1, x2), _majority(x0, x1, x2)
    r, b = _parity(x3, x4, x5), _majority(x3, x4, x5)
    q, c = xor(x6, x7), and_(x6, x7)
    ones, d = _parity(s, r, q), _majority(s, r, q)
    p, e = _parity(a, b, c), _majority(a, b, c)
    twos, f = xor(p, d), and_(p, d)
    return ones, twos, xor(e, f), and_(e, f)


@inlined
def _count_legal(val, t, begin, end, work):
    """Count the legal moves of every lane; list the blocks with a move that is legal anywhere.

    Returns how many there are, and how many digits the largest count has. Eight digits stay in registers.
    """
    top = 4
    while (end - begin) >> top:
        top += 1
    for c in range(_HIGH_DIGITS, top):
        store(work.counter, U(c), broadcast(ZERO))
    c0, c1, c2, c3 = broadcast(ZERO), broadcast(ZERO), broadcast(ZERO), broadcast(ZERO)
    c4, c5, c6, c7 = broadcast(ZERO), broadcast(ZERO), broadcast(ZERO), broadcast(ZERO)
    n_live = 0
    for i in range(begin, end, BLOCK):
        b0, b1, b2, b3 = _count_block(val, t.block_legal, i)
        if not any_bit(or_(or_(b0, b1), or_(b2, b3))):
            continue
        row = U(4 * n_live)
        store(work.block, row, b0)
        store(work.block, row + U(1), b1)
        store(work.block, row + U(2), b2)
        store(work.block, row + U(3), b3)
        put(work.live, U(n_live), i)
        n_live += 1
        c0, carry = xor(c0, b0), and_(c0, b0)
        c1, carry = _parity(c1, b1, carry), _majority(c1, b1, carry)
        c2, carry = _parity(c2, b2, carry), _majority(c2, b2, carry)
        c3, carry = _parity(c3, b3, carry), _majority(c3, b3, carry)
        c4, carry = xor(c4, carry), and_(c4, carry)
        c5, carry = xor(c5, carry), and_(c5, carry)
        c6, carry = xor(c6, carry), and_(c6, carry)
        c7, carry = xor(c7, carry), and_(c7, carry)
        c = _HIGH_DIGITS
        while c < top and any_bit(carry):
            old = load(work.counter, U(c))
            store(work.counter, U(c), xor(old, carry))
            carry = and_(old, carry)
            c += 1
    _store_digits(work.counter, c0, c1, c2, c3)
    _store_high_digits(work.counter, c4, c5, c6, c7)
    while top > 0 and not any_bit(load(work.counter, U(top - 1))):
        top -= 1
    return n_live, top


@inlined
def _store_digits(digits, d0, d1, d2, d3):
    store(digits, U(0), d0)
    store(digits, U(1), d1)
    store(digits, U(2), d2)
    store(digits, U(3), d3)


@inlined
def _store_high_digits(digits, d4, d5, d6, d7):
    store(digits, U(4), d4)
    store(digits, U(5), d5)
    store(digits, U(6), d6)
    store(digits, U(7), d7)


@inlined
def _random_bits(s0, s1, s2, s3):
    """Return 512 random bits, and the state of the generators after them.

    Source: Blackman and Vigna 2018, xoshiro256+, eight generators side by side.
    """
    found = plus(s0, s3)
    t = left(s1, 17)
    s2, s3 = xor(s2, s0), xor(s3, s1)
    s1, s0 = xor(s1, s2), xor(s0, s3)
    return found, s0, s1, xor(s2, t), or_(left(s3, 45), right(s3, 19))


@inlined
def _draw(work, top):
    """Draw, in every lane, a number below its counter: the counter times a random fraction, bit by bit.

    At each bit the number is halved, after the counter was added to it or not; its low digits stay in registers.
    """
    random = work.random
    s0, s1, s2, s3 = load(random, U(0)), load(random, U(1)), load(random, U(2)), load(random, U(3))
    counter, drawn = work.counter, work.drawn
    n0, n1, n2, n3 = load(counter, U(0)), load(counter, U(1)), load(counter, U(2)), load(counter, U(3))
    d0, d1, d2, d3 = broadcast(ZERO), broadcast(ZERO), broadcast(ZERO), broadcast(ZERO)
    for _ in range(_DRAWN_BITS):
        added, s0, s1, s2, s3 = _random_bits(s0, s1, s2, s3)
        carry = and_(and_(n0, added), d0)
        b1, b2, b3 = and_(n1, added), and_(n2, added), and_(n3, added)
        d0, carry = _parity(d1, b1, carry), _majority(d1, b1, carry)
        d1, carry = _parity(d2, b2, carry), _majority(d2, b2, carry)
        d2, carry = _parity(d3, b3, carry), _majority(d3, b3, carry)
        if top <= _LOW_DIGITS:
            d3 = carry
            continue
        a, b = load(drawn, U(_LOW_DIGITS)), and_(load(counter, U(_LOW_DIGITS)), added)
        d3, carry = _parity(a, b, carry), _majority(a, b, carry)
        for c in range(_LOW_DIGITS + 1, top):
            a, b = load(drawn, U(c)), and_(load(counter, U(c)), added)
            store(drawn, U(c - 1), _parity(a, b, carry))
            carry = _majority(a, b, carry)
        store(drawn, U(top - 1), carry)
    _store_digits(drawn, d0, d1, d2, d3)
    store(random, U(0), s0)
    store(random, U(1), s1)
    store(random, U(2), s2)
    store(random, U(3), s3)


@inlined
def _borrowed(a, b, borrow):
    """Return what is to be borrowed where *b* and *borrow* are taken from a digit *a*."""
    return or_(and_(b, borrow), and_not(or_(b, borrow), a))


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
        d1, borrow = _parity(d1, b1, borrow), _borrowed(d1, b1, borrow)
        d2, borrow = _parity(d2, b2, borrow), _borrowed(d2, b2, borrow)
        d3, borrow = _parity(d3, b3, borrow), _borrowed(d3, b3, borrow)
        d4, borrow = xor(d4, borrow), and_not(borrow, d4)
        d5, borrow = xor(d5, borrow), and_not(borrow, d5)
        d6, borrow = xor(d6, borrow), and_not(borrow, d6)
        d7, borrow = xor(d7, borrow), and_not(borrow, d7)
        c = _HIGH_DIGITS
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
    """Set, in every lane, one of the legal moves begin..end, each equally likely; other moves' rows are zero.

    Returns whether a lane that is not *waiting* has no legal move.
    """
    n_live, top = _count_legal(val, t, begin, end, work)
    some, several = broadcast(ZERO), broadcast(ZERO)
    for c in range(top):
        digit = load(work.counter, U(c))
        some = or_(some, digit)
        if c:
            several = or_(several, digit)
    for c in range(max(top, _HIGH_DIGITS)):
        store(work.drawn, U(c), broadcast(ZERO))
    if any_bit(and_not(several, waiting)):
        _draw(work, top)
    _take(val, t, n_live, top, work)
    return any_bit(and_not(and_not(broadcast(ONES), some), waiting))


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
