"""Random bits that depend on a copy and a call alone, and one drawn of the bits that are set in words."""

import numpy as np

from gdl.compiler.kernels.jit import inlined
from gdl.compiler.kernels.words import ONE, U, n_bits, word_at


@inlined
def _scrambled(x):
    """Return a number whose bits all depend on all bits of *x*.

    Source: Steele, Lea and Flood 2014, SplitMix.
    """
    x ^= x >> U(30)
    x *= U(0xBF58476D1CE4E5B9)
    x ^= x >> U(27)
    x *= U(0x94D049BB133111EB)
    return x ^ (x >> U(31))


@inlined
def key_of(seed, count, purpose):
    """Return what the random bits of a call depend on beside the copy."""
    return _scrambled(_scrambled(U(seed) + U(purpose) * U(0xD1342543DE82EF95)) + U(count) * U(0x9E3779B97F4A7C15))


@inlined
def bits_of(key, copy):
    """Return 64 random bits that depend on nothing but the arguments."""
    return _scrambled(key + U(copy) * U(0x9E3779B97F4A7C15))


@inlined
def _halved(x, left, shift, width):
    """Go on with the half of a word of twice *width* bits in which the bit is that is sought, without a jump."""
    low = n_bits(x & ((ONE << U(width)) - ONE))
    is_high = np.int64(left >= low)
    return x >> U(width * is_high), left - low * is_high, shift + width * is_high


@inlined
def _place_of(x, left):
    """Return the number of the bit that is set in a word after *left* others."""
    x, left, shift = _halved(x, left, 0, 32)
    x, left, shift = _halved(x, left, shift, 16)
    x, left, shift = _halved(x, left, shift, 8)
    x, left, shift = _halved(x, left, shift, 4)
    x, left, shift = _halved(x, left, shift, 2)
    x, left, shift = _halved(x, left, shift, 1)
    return shift


@inlined
def picked(words, first, last, bits):
    """Return the number of a bit that is set in words first..last, each equally likely; -1 where none is."""
    n = np.int64(0)
    for w in range(first, last):
        n += n_bits(word_at(words, U(w)))
    left, found = np.int64(((bits >> U(32)) * U(n)) >> U(32)), np.int64(-1)
    for w in range(first, last):
        x = word_at(words, U(w))
        here = n_bits(x)
        if left < here:
            found = 64 * (w - first) + _place_of(x, left)
            break
        left -= here
    return found
