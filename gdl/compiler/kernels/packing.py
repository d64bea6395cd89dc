"""States between words, one after the other, and lanes, one bit each.

A state takes whole words, (S,) uint64: bit f % 64 of word f // 64 is fluent f. In lanes a row is a fluent of 512
states.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.lanes import Spare
from gdl.compiler.kernels.transposition import transpose
from gdl.compiler.kernels.words import ZERO, U, W, addresses, hold, put_word, word_at


def words_of(packed: bytes, n_fluents: int) -> NDArray[np.uint64]:
    """Return the words of a state that is packed as by `numpy.packbits` over its fluents."""
    bits = np.zeros(n_words(n_fluents) * 64, np.uint8)
    bits[:n_fluents] = np.unpackbits(np.frombuffer(packed, np.uint8), count=n_fluents)
    return np.packbits(bits, bitorder="little").view(np.uint64)


def n_words(n_fluents: int) -> int:
    """Return how many words a state of so many fluents takes."""
    return max(1, (n_fluents + 63) // 64)


@subroutine
def load_lanes(words, numbers, values, first, n_fluents):
    """Put the states words[numbers[lane]] (n, S) into the rows of *values* from *first* on.

    Where they are fewer than 512, the lanes behind them are left as they are, from the next multiple of 64 on.
    """
    square, n = np.empty((W, W), np.uint64), len(numbers)
    a = addresses(Spare(square)).rows
    for k in range((n + 63) >> 6):
        for s in range(words.shape[1]):
            for i in range(64):
                lane = 64 * k + i
                put_word(a, U(i), words[numbers[lane], s] if lane < n else ZERO)
            transpose(a)
            for j in range(min(64, n_fluents - 64 * s)):
                values[first + 64 * s + j, k] = word_at(a, U(j))
    hold(square)


@subroutine
def save_lanes(values, first, n_fluents, words):
    """Put the states in the rows of *values* from *first* on into *words* (n, S), of the first n lanes."""
    square, n_lanes = np.empty((W, W), np.uint64), len(words)
    a = addresses(Spare(square)).rows
    for k in range((n_lanes + 63) >> 6):
        for s in range(words.shape[1]):
            n = min(64, n_fluents - 64 * s)
            for j in range(64):
                put_word(a, U(j), values[first + 64 * s + j, k] if j < n else ZERO)
            transpose(a)
            for i in range(min(64, n_lanes - 64 * k)):
                words[64 * k + i, s] = word_at(a, U(i))
    hold(square)


@inlined
def copy_words(target, to, source, start, n):
    """Copy *n* words from one address to another."""
    for i in range(U(n)):
        put_word(target, U(to) + i, word_at(source, U(start) + i))
