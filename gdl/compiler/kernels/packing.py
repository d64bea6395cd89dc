"""States between words, one after the other, and lanes, one bit each.

A state takes whole words, (S,) uint64: bit f % 64 of word f // 64 is fluent f. In lanes a row is a fluent of 512
states. In between, 64 words are a square of bits, in which rows become columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numpy.typing import NDArray

from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.lanes import Spare
from gdl.compiler.kernels.words import (
    ONE,
    ZERO,
    U,
    W,
    addresses,
    and_,
    broadcast,
    emitted,
    hold,
    left,
    load,
    put_word,
    right,
    store,
    word_at,
    xor,
)


def words_of(packed: bytes, n_fluents: int) -> NDArray[np.uint64]:
    """Return the words of a state that is packed as by `numpy.packbits` over its fluents."""
    bits = np.zeros(n_words(n_fluents) * 64, np.uint8)
    bits[:n_fluents] = np.unpackbits(np.frombuffer(packed, np.uint8), count=n_fluents)
    return np.packbits(bits, bitorder="little").view(np.uint64)


def n_words(n_fluents: int) -> int:
    """Return how many words a state of so many fluents takes."""
    return max(1, (n_fluents + 63) // 64)


@emitted
def _bytes_exchanged(typingctx: Any, value: Any) -> Any:
    """Return eight words with byte j of word i and byte i of word j exchanged."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.VectorType(ir.IntType(8), 8 * W)
        order = ir.Constant(ir.VectorType(ir.IntType(32), 8 * W), [8 * (i % 8) + i // 8 for i in range(8 * W)])
        found = builder.shuffle_vector(builder.bitcast(args[0], kind), ir.Constant(kind, ir.Undefined), order)
        return builder.bitcast(found, args[0].type)

    return value(value), codegen


@inlined
def _exchanged(x):
    """Return eight words in each of which bit j of byte i and bit i of byte j are exchanged."""
    t = and_(xor(x, right(x, 7)), broadcast(U(0x00AA00AA00AA00AA)))
    x = xor(xor(x, t), left(t, 7))
    t = and_(xor(x, right(x, 14)), broadcast(U(0x0000CCCC0000CCCC)))
    x = xor(xor(x, t), left(t, 14))
    t = and_(xor(x, right(x, 28)), broadcast(U(0x00000000F0F0F0F0)))
    return xor(xor(x, t), left(t, 28))


@subroutine
def transpose(a):
    """Exchange bit j of word i and bit i of word j of 64 words at an address: blocks, bytes of blocks, bits of bytes.

    Source: Warren, Hacker's Delight, 2nd edition, 7-3.
    """
    for k in range(4):
        i = U(k)
        x, y = load(a, i), load(a, i + U(4))
        t = and_(xor(right(x, 32), y), broadcast(U(0x00000000FFFFFFFF)))
        store(a, i, xor(x, left(t, 32)))
        store(a, i + U(4), xor(y, t))
    for k in range(4):
        i = U(k + (k & 2))
        x, y = load(a, i), load(a, i + U(2))
        t = and_(xor(right(x, 16), y), broadcast(U(0x0000FFFF0000FFFF)))
        store(a, i, xor(x, left(t, 16)))
        store(a, i + U(2), xor(y, t))
    for k in range(4):
        i = U(2 * k)
        x, y = load(a, i), load(a, i + ONE)
        t = and_(xor(right(x, 8), y), broadcast(U(0x00FF00FF00FF00FF)))
        store(a, i, _bytes_exchanged(_exchanged(_bytes_exchanged(xor(x, left(t, 8))))))
        store(a, i + ONE, _bytes_exchanged(_exchanged(_bytes_exchanged(xor(y, t)))))


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
