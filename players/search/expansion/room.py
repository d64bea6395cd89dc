"""Where states are expanded: in one or several parts of the lanes, of equal size, one for each state.

The lanes of a part are shared out among the moves of its state: all lanes of a share make the same move.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.jit import inlined
from gdl.compiler.kernels.lanes import N_LANES
from gdl.compiler.kernels.packing import n_words
from gdl.compiler.kernels.words import ONE, ONES, U, W, put_word, rows, word_at
from gdl.compiler.tables import Tables

MAX_PARTS: Final = W
ENDED: Final = 0
WON: Final = 1
FIRST_LANES: Final = 2
LEGAL: Final = 3
SINGLE: Final = 4
SHARES: Final = 5
STATES: Final = 6
"""The rows of `marked`: lanes whose play has ended, or is won, the first lanes of the shares, those where a move is
legal, or the only one, what a first lane is multiplied with to have all of its share, and words of states.
"""
_N_MARKED: Final = 7


class ExpansionRoom(NamedTuple):
    """Where states are expanded. Here a state is words: bit f % 64 of word f // 64 is fluent f.

    Kernels read and write it by addresses, *r*: arrays that are handed over are counted as referred to, one by one.
    *Shapes*: P = 8 parts of the lanes, at most, S words a state, R roles, L = 512 lanes.
    `values` (rows, W) of the circuit, `spare` (fluents, W), `marked` (7, W) rows of bits, `states` (8 * S, W): row 8 *
    s + j has word s of the state in lane 64 * k + 8 * j in its word k. Of each part: the `state` (P, S), whether it
    `waits` (P,) to be expanded, how many moves, `n` (P,), or why it cannot be, the `decider` (P,), the role that
    chooses, and how many lanes a move has, `share` (P,). From the first lane of a part on, for its moves: `moves` (L,);
    `words` (L, S) the states after them; `numbers` (L, 2) their proof and disproof numbers, as far as the two passes
    tell; `n_legal` (L, R) how many moves of each role are legal in them. `item` (L,) is the place of the move whose
    first lane a lane is.
    """

    values: NDArray[np.uint64]
    spare: NDArray[np.uint64]
    marked: NDArray[np.uint64]
    states: NDArray[np.uint64]
    state: NDArray[np.uint64]
    waits: NDArray[np.int32]
    n: NDArray[np.int32]
    decider: NDArray[np.int32]
    share: NDArray[np.int32]
    moves: NDArray[np.int32]
    words: NDArray[np.uint64]
    numbers: NDArray[np.int32]
    n_legal: NDArray[np.int32]
    item: NDArray[np.int32]
    n_state: int
    n_roles: int


def room_for(tables: Tables) -> ExpansionRoom:
    """Return room to expand the states of the circuit of *tables*; the first part waits."""
    values = rows(tables.n_rows)
    values[0] = ONES
    n_roles, n_state = tables.role_start.shape[1] - 1, n_words(tables.n_fluents)
    return ExpansionRoom(
        values=values,
        spare=rows(tables.n_fluents + 1),
        marked=rows(_N_MARKED),
        states=rows(8 * n_state),
        state=np.zeros((MAX_PARTS, n_state), np.uint64),
        waits=(np.arange(MAX_PARTS) == 0).astype(np.int32),
        n=np.zeros(MAX_PARTS, np.int32),
        decider=np.zeros(MAX_PARTS, np.int32),
        share=np.ones(MAX_PARTS, np.int32),
        moves=np.zeros(N_LANES, np.int32),
        words=np.zeros((N_LANES, n_state), np.uint64),
        numbers=np.zeros((N_LANES, 2), np.int32),
        n_legal=np.zeros((N_LANES, n_roles), np.int32),
        item=np.zeros(N_LANES, np.int32),
        n_state=n_state,
        n_roles=n_roles,
    )


def fitting_parts(n_moves: int) -> int:
    """Return how many parts the lanes may have so that *n_moves* moves and as many replies to each fit into one."""
    n_parts = MAX_PARTS
    while n_parts > 1 and n_moves * -(-n_moves // 8) * 8 > N_LANES // n_parts:
        n_parts //= 2
    return n_parts


@inlined
def n_roles_of(r):
    """Return how many roles there are, signed as numbers of loops are."""
    return np.int64(r.n_roles)


@inlined
def share_of(n_lanes, n):
    """Return how many of the lanes of a part each of *n* moves has: whole bytes of them, where there are as many."""
    share = n_lanes // n
    return share & ~7 if share >= 8 else share


@inlined
def bit_of(rows, literal, lane):
    """Return the value of a literal in one lane of the rows at an address, as a word of one bit."""
    word = word_at(rows, U(W) * U(literal >> 1) + U(lane >> 6))
    return ((word >> U(lane & 63)) & ONE) ^ U(literal & 1)


@inlined
def mark_one(rows, row, lane):
    """Set the bit of a lane in a row at an address."""
    place = U(W) * U(row) + U(lane >> 6)
    put_word(rows, place, word_at(rows, place) | (ONE << U(lane & 63)))


@inlined
def mark(rows, row, first, last):
    """Set the bits of the lanes from *first* to below *last* in a row at an address."""
    for k in range(first >> 6, (last + 63) >> 6):
        place = U(W) * U(row) + U(k)
        put_word(rows, place, word_at(rows, place) | bits_of(k, first, last))


@inlined
def bits_of(k, first, last):
    """Return the bits of word *k* that are those of lanes from *first* to below *last*."""
    word = ONES
    if first > 64 * k:
        word &= ONES << U(first - 64 * k)
    if last < 64 * (k + 1):
        word &= ~(ONES << U(last - 64 * k))
    return word
