"""The table of proofs and of alpha-beta: a key and an entry for each state, in sets of four places.

What an entry says is the search's own; some of its bits tell how much work it stands for, and the one with the least
makes room for another.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.jit import inlined
from gdl.compiler.kernels.words import ONE, ZERO, U, prefetch, put_word, rows, word_at

ROW_BYTES: Final = 64
"""How much a set of places takes."""
N_PLACES: Final = 4
NO_PLACE: Final = -1
_MULTIPLIER: Final = U(0x9E3779B97F4A7C15)
_MIXER: Final = U(0xBF58476D1CE4E5B9)


class StateTable(NamedTuple):
    """A table, which kernels read and write by addresses, *b*.

    *Shapes*: `rows` (N, 8), N a power of two; each of the four places of a row has a key, then its entry.
    """

    rows: NDArray[np.uint64]
    n_rows: int


def table_of(megabytes: float) -> StateTable:
    """Return an empty table of as many rows as fit into *megabytes*, a power of two."""
    n_rows = 1 << (max(1, int(megabytes * 1024 * 1024) // ROW_BYTES).bit_length() - 1)
    return StateTable(rows(n_rows), n_rows)


@inlined
def key_of(words, first, n, salt):
    """Return what stands for the state of *n* words, from the *first* on, of those at an address.

    Different states have different keys, but for one in 2^64.
    """
    h = salt
    for s in range(first, first + n):
        h = (h ^ word_at(words, U(s))) * _MULTIPLIER
        h = (h ^ (h >> U(29))) * _MIXER
        h ^= h >> U(32)
    return h | ONE if h == ZERO else h


@inlined
def _row_of(b, key):
    return (key * _MULTIPLIER) >> U(40) & (b.n_rows - ONE)


@inlined
def fetch(b, key):
    """Have the processor fetch the places in which a key may be."""
    prefetch(b.rows, _row_of(b, key))


@inlined
def find(b, key):
    """Return the place of the entry of a key, NO_PLACE where there is none."""
    first, found = U(2 * N_PLACES) * _row_of(b, key), np.int64(NO_PLACE)
    for place in range(N_PLACES):
        if word_at(b.rows, first + U(2 * place)) == key:
            found = np.int64(first + U(2 * place + 1))
            break
    return found


@inlined
def entry_of(b, key):
    """Return the entry of a key, zero where there is none."""
    place = find(b, key)
    return word_at(b.rows, U(place)) if place != NO_PLACE else ZERO


@inlined
def keep(b, key, entry, work_bits):
    """Write the entry of a key in its place, else in a free one, else in that of the least work.

    *work_bits* are those of an entry that tell its work.
    """
    first, found, least = U(2 * N_PLACES) * _row_of(b, key), ZERO, ~ZERO
    for place in range(N_PLACES):
        at_place = first + U(2 * place)
        there = word_at(b.rows, at_place)
        if there in (key, ZERO):
            found = at_place
            break
        work = word_at(b.rows, at_place + ONE) & work_bits
        if work < least:
            found, least = at_place, work
    put_word(b.rows, found, key)
    put_word(b.rows, found + ONE, entry)
