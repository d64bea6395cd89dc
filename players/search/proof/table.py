"""The table of proofs and of alpha-beta: a key and an entry for each state, in sets of four places.

What an entry says is the search's own; some of its bits tell how much work it stands for, and the one with the least
makes room for another.
"""

from typing import Final

from gdl.compiler.kernels.jit import inlined
from gdl.compiler.kernels.words import ZERO, U

ROW_BYTES: Final = 64
"""How much a set of places takes."""
N_PLACES: Final = 4
NO_PLACE: Final = -1
_MULTIPLIER: Final = U(0x9E3779B97F4A7C15)
_MIXER: Final = U(0xBF58476D1CE4E5B9)


@inlined
def key_of(words, i, salt):
    """Return what stands for state *i* in the table; different states have different keys, but for one in 2^64.

    *Shapes*: `words` (N, S).
    """
    h = salt
    for s in range(words.shape[1]):
        h = (h ^ words[i, s]) * _MULTIPLIER
        h = (h ^ (h >> U(29))) * _MIXER
        h ^= h >> U(32)
    return h | U(1) if h == ZERO else h


@inlined
def row_of(table, key):
    """Return the row of a key. *Shapes*: `table` (N, 8), N a power of two; each place has a key, then its entry."""
    return (key * _MULTIPLIER) >> U(40) & U(len(table) - 1)


@inlined
def find(table, row, key):
    """Return the column of the entry of a key, NO_PLACE where there is none."""
    found = NO_PLACE
    for place in range(N_PLACES):
        if table[row, 2 * place] == key:
            found = 2 * place + 1
            break
    return found


@inlined
def keep(table, row, key, entry, work_bits):
    """Write the entry of a key in its place, else in a free one, else in that of the least work.

    *work_bits* are those of an entry that tell its work.
    """
    found, least = 0, ~ZERO
    for place in range(N_PLACES):
        if table[row, 2 * place] == key or table[row, 2 * place] == ZERO:
            found = place
            break
        work = table[row, 2 * place + 1] & work_bits
        if work < least:
            found, least = place, work
    table[row, 2 * found], table[row, 2 * found + 1] = key, entry


def n_rows(megabytes: float) -> int:
    """Return how many rows fit into *megabytes*, a power of two."""
    return 1 << (max(1, int(megabytes * 1024 * 1024) // ROW_BYTES).bit_length() - 1)
