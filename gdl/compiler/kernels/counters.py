"""Vertical numbers: one in each of 512 lanes, a row a digit, least significant first; and draws below them."""

from __future__ import annotations

from typing import Final

from gdl.compiler.kernels.jit import inlined
from gdl.compiler.kernels.words import (
    ZERO,
    U,
    and_,
    and_not,
    any_bit,
    broadcast,
    left,
    load,
    or_,
    plus,
    right,
    store,
    xor,
)

COUNTER_BITS: Final = 24
LOW_DIGITS: Final = 4
HIGH_DIGITS: Final = 8
"""So many digits stay in registers where numbers are added up."""
_DRAWN_BITS: Final = 32


@inlined
def majority(a, b, c):
    """Return what two of three bits are at least: what is carried where they are added up."""
    return or_(and_(a, b), and_(or_(a, b), c))


@inlined
def parity(a, b, c):
    """Return the last digit of the sum of three bits."""
    return xor(xor(a, b), c)


@inlined
def borrowed(a, b, borrow):
    """Return what is to be borrowed where *b* and *borrow* are taken from a digit *a*."""
    return or_(and_(b, borrow), and_not(or_(b, borrow), a))


@inlined
def sum_of_eight(x0, x1, x2, x3, x4, x5, x6, x7):
    """Return the four digits of the sum of eight bits."""
    s, a = parity(x0, x1, x2), majority(x0, x1, x2)
    r, b = parity(x3, x4, x5), majority(x3, x4, x5)
    q, c = xor(x6, x7), and_(x6, x7)
    ones, d = parity(s, r, q), majority(s, r, q)
    p, e = parity(a, b, c), majority(a, b, c)
    twos, f = xor(p, d), and_(p, d)
    return ones, twos, xor(e, f), and_(e, f)


@inlined
def add_to_counter(counter, top, c0, c1, c2, c3, c4, c5, c6, c7, b0, b1, b2, b3):
    """Add a number of four digits to a counter of *top* digits, the first eight of which are returned."""
    c0, carry = xor(c0, b0), and_(c0, b0)
    c1, carry = parity(c1, b1, carry), majority(c1, b1, carry)
    c2, carry = parity(c2, b2, carry), majority(c2, b2, carry)
    c3, carry = parity(c3, b3, carry), majority(c3, b3, carry)
    c4, carry = xor(c4, carry), and_(c4, carry)
    c5, carry = xor(c5, carry), and_(c5, carry)
    c6, carry = xor(c6, carry), and_(c6, carry)
    c7, carry = xor(c7, carry), and_(c7, carry)
    c = HIGH_DIGITS
    while c < top and any_bit(carry):
        old = load(counter, U(c))
        store(counter, U(c), xor(old, carry))
        carry = and_(old, carry)
        c += 1
    return c0, c1, c2, c3, c4, c5, c6, c7


@inlined
def store_digits(digits, first, d0, d1, d2, d3):
    """Store four digits from row *first* on."""
    store(digits, U(first), d0)
    store(digits, U(first) + U(1), d1)
    store(digits, U(first) + U(2), d2)
    store(digits, U(first) + U(3), d3)


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
def two_random_bits(random):
    """Return two random bits for each lane."""
    s0, s1, s2, s3 = load(random, U(0)), load(random, U(1)), load(random, U(2)), load(random, U(3))
    a, s0, s1, s2, s3 = _random_bits(s0, s1, s2, s3)
    b, s0, s1, s2, s3 = _random_bits(s0, s1, s2, s3)
    store_digits(random, 0, s0, s1, s2, s3)
    return a, b


@inlined
def draw_below(random, counter, drawn, top):
    """Draw, in every lane, a number below its counter of *top* digits: the counter times a random fraction, bit by bit.

    At each bit the number is halved, after the counter was added to it or not; its low digits stay in registers.
    """
    s0, s1, s2, s3 = load(random, U(0)), load(random, U(1)), load(random, U(2)), load(random, U(3))
    n0, n1, n2, n3 = load(counter, U(0)), load(counter, U(1)), load(counter, U(2)), load(counter, U(3))
    d0, d1, d2, d3 = broadcast(ZERO), broadcast(ZERO), broadcast(ZERO), broadcast(ZERO)
    for _ in range(_DRAWN_BITS):
        added, s0, s1, s2, s3 = _random_bits(s0, s1, s2, s3)
        carry = and_(and_(n0, added), d0)
        b1, b2, b3 = and_(n1, added), and_(n2, added), and_(n3, added)
        d0, carry = parity(d1, b1, carry), majority(d1, b1, carry)
        d1, carry = parity(d2, b2, carry), majority(d2, b2, carry)
        d2, carry = parity(d3, b3, carry), majority(d3, b3, carry)
        if top <= LOW_DIGITS:
            d3 = carry
            continue
        a, b = load(drawn, U(LOW_DIGITS)), and_(load(counter, U(LOW_DIGITS)), added)
        d3, carry = parity(a, b, carry), majority(a, b, carry)
        for c in range(LOW_DIGITS + 1, top):
            a, b = load(drawn, U(c)), and_(load(counter, U(c)), added)
            store(drawn, U(c - 1), parity(a, b, carry))
            carry = majority(a, b, carry)
        store(drawn, U(top - 1), carry)
    store_digits(drawn, 0, d0, d1, d2, d3)
    store_digits(random, 0, s0, s1, s2, s3)
