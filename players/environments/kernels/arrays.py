"""Copies to arrays and back: legal moves as truth values, random choices, checks of actions, observations.

All arrays are given by their addresses, and *p* is a plan.
"""

import numpy as np

from gdl.compiler.kernels.jit import inlined, kernel
from gdl.compiler.kernels.words import ONE, ZERO, U, at, byte_at, put, put_byte, put_eight_bytes, word_at
from players.environments.kernels import plans
from players.environments.kernels.sampling import bits_of, key_of, picked


@inlined
def _spread(byte):
    """Return the bits of a byte, the lowest first, as eight bytes of 0 or 1."""
    x = (byte * U(0x0101010101010101)) & U(0x8040201008040201)
    return ((x + U(0x7F7F7F7F7F7F7F7F)) >> U(7)) & U(0x0101010101010101)


@kernel
def expand(words, words_of_row, first_word, n_bits, begin, end, out, width, start):
    """Write bits 0..n_bits of the words of rows begin..end as bytes, *width* to a row of *out*, from *start* on."""
    whole, rest = n_bits >> 3, n_bits & 7
    for row in range(begin, end):
        place, first = out + U(row * width + start), row * words_of_row + first_word
        for b in range(whole):
            byte = (word_at(words, U(first + (b >> 3))) >> U(8 * (b & 7))) & U(255)
            put_eight_bytes(place + U(8 * b), _spread(byte))
        if rest:
            eight = _spread((word_at(words, U(first + (whole >> 3))) >> U(8 * (whole & 7))) & U(255))
            for i in range(rest):
                put_byte(place, U(8 * whole + i), (eight >> U(8 * i)) & ONE)


@kernel
def sample(p, actions, count, begin, end):
    """Draw a legal action of each group for copies begin..end; 0 where there is none."""
    n_groups, n_words = np.int64(word_at(p, plans.N_GROUPS)), np.int64(word_at(p, plans.LEGAL_WORDS))
    seed, group_word = word_at(p, plans.SEED), word_at(p, plans.GROUP_WORD)
    for g in range(n_groups):
        key = key_of(seed, count, 1 + g)
        first, last = at(group_word, U(g)), at(group_word, U(g + 1))
        for copy in range(begin, end):
            legal = word_at(p, plans.LEGAL) + U(8 * copy * n_words)
            put(actions, U(copy * n_groups + g), max(picked(legal, first, last, bits_of(key, copy)), 0))


@kernel
def first_illegal(p, actions, n):
    """Return the number, copy by copy and group by group, of the first action that is not legal; -1 where all are."""
    n_groups, n_words = np.int64(word_at(p, plans.N_GROUPS)), np.int64(word_at(p, plans.LEGAL_WORDS))
    for copy in range(n):
        if byte_at(word_at(p, plans.IS_OVER), U(copy)) != ZERO:
            continue
        for g in range(n_groups):
            action = at(actions, U(copy * n_groups + g))
            if action < 0 or action >= at(word_at(p, plans.GROUP_SIZE), U(g)):
                return copy * n_groups + g
            word = at(word_at(p, plans.GROUP_WORD), U(g)) + (action >> 6)
            if (word_at(word_at(p, plans.LEGAL), U(copy * n_words + word)) >> U(action & 63)) & ONE == ZERO:
                return copy * n_groups + g
    return -1


@kernel
def draw_planes(states, n_words, fluent, n_fluents, start, place, begin, end, out, size):
    """Write 1 to *out* (N, size) at each of `place[start[i]:start[i + 1]]` where `fluent[i]` is true, else 0."""
    for copy in range(begin, end):
        for j in range(size):
            put_byte(out, U(copy * size + j), ZERO)
        for i in range(n_fluents):
            f = at(fluent, U(i))
            if (word_at(states, U(copy * n_words + (f >> 6))) >> U(f & 63)) & ONE != ZERO:
                for j in range(at(start, U(i)), at(start, U(i + 1))):
                    put_byte(out, U(copy * size + at(place, U(j))), ONE)
