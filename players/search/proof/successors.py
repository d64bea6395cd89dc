"""The states after all moves of a state, in one pass over the circuit, and what is legal in them.

The lanes have one or several parts of equal size, each for a state. Those of a part are shared out among its moves: all
lanes of a share make the same move. Here a state is words: bit f % 64 of word f // 64 is fluent f.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.choice import bit, literal
from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.lanes import N_LANES, Spare, _advance, _evaluate
from gdl.compiler.kernels.packing import n_words
from gdl.compiler.kernels.words import (
    ONE,
    ONES,
    ZERO,
    U,
    W,
    addresses,
    and_,
    any_bit,
    broadcast,
    load,
    lowest_bit,
    rows,
    store,
)
from gdl.compiler.tables import Tables

STUCK: Final = -1
SIMULTANEOUS: Final = -2
TOO_WIDE: Final = -3
"""What a state has in the place of a number of moves."""
MAX_PARTS: Final = W
GOALS: Final = 2
_STATE: Final = 0
_MOVES: Final = 1
ENDED: Final = 0
WON: Final = 1
_FIRST_LANES: Final = 2
_LEGAL: Final = 3
"""The rows of `marked`."""
_FIRST_BITS: Final = U(0x0101010101010101)
_BYTE: Final = U(0xFF)


class ExpansionRoom(NamedTuple):
    """Where states are expanded.

    *Shapes*: P = 8 parts of the lanes, at most, S words a state, M moves of all R roles, L = 512 lanes.
    `values` (rows, W) of the circuit, `spare` (fluents, W), `marked` (4, W) rows of bits. Of each part: the `state` (P,
    S), whether it `waits` (P,) to be expanded, how many moves, `n` (P,), or why it cannot be, and the `decider` (P,),
    the role that chooses. From the first lane of a part on, for its moves: `moves` (L,); `words` (L, S) the states
    after them; `numbers` (L, 2) their proof and disproof numbers, as far as the two passes tell; `legal` (L, M) the
    legal moves in them, `n_listed` (L,) in number, and `n_legal` (L, R) of each role. `item` (L,) is the place of the
    move whose first lane a lane is.
    """

    values: NDArray[np.uint64]
    spare: NDArray[np.uint64]
    item: NDArray[np.int64]
    n_listed: NDArray[np.int64]
    marked: NDArray[np.uint64]
    state: NDArray[np.uint64]
    waits: NDArray[np.bool_]
    n: NDArray[np.int64]
    decider: NDArray[np.int64]
    moves: NDArray[np.int32]
    words: NDArray[np.uint64]
    numbers: NDArray[np.int64]
    legal: NDArray[np.int32]
    n_legal: NDArray[np.int32]


def room_for(tables: Tables) -> ExpansionRoom:
    """Return room to expand the states of the circuit of *tables*; the first part waits."""
    values = rows(tables.n_rows)
    values[0] = ONES
    n_moves, n_roles, n_state = len(tables.choice_legal), tables.role_start.shape[1] - 1, n_words(tables.n_fluents)
    return ExpansionRoom(
        values=values,
        spare=rows(tables.n_fluents + 1),
        item=np.zeros(N_LANES, np.int64),
        n_listed=np.zeros(N_LANES, np.int64),
        marked=rows(4),
        state=np.zeros((MAX_PARTS, n_state), np.uint64),
        waits=np.arange(MAX_PARTS) == 0,
        n=np.zeros(MAX_PARTS, np.int64),
        decider=np.zeros(MAX_PARTS, np.int64),
        moves=np.zeros(N_LANES, np.int32),
        words=np.zeros((N_LANES, n_state), np.uint64),
        numbers=np.zeros((N_LANES, 2), np.int64),
        legal=np.zeros((N_LANES, n_moves + 1), np.int32),
        n_legal=np.zeros((N_LANES, n_roles), np.int32),
    )


def fitting_parts(n_moves: int) -> int:
    """Return how many parts the lanes may have so that *n_moves* moves and as many replies to each fit into one."""
    n_parts = MAX_PARTS
    while n_parts > 1 and n_moves * -(-n_moves // 8) * 8 > N_LANES // n_parts:
        n_parts //= 2
    return n_parts


@subroutine
def make_moves(tables, room, n_parts):
    """Fill *room* with the moves of the roles that choose in the states that wait, and the states after them.

    The first lane of each share is evaluated but for the goals. Returns whether all states have moves.
    """
    t, spare, n_fluents = addresses(tables), addresses(Spare(room.spare)).rows, tables.n_fluents
    n_lanes = N_LANES // n_parts
    for part in range(n_parts):
        if room.waits[part]:
            _load(room.values, room.state, n_fluents, part, n_lanes >> 6)
    _evaluate(room.values, t, 0, _STATE)
    for part in range(n_parts):
        if room.waits[part]:
            room.n[part] = _choose(tables.choice_legal, tables.role_start[0], 1 + n_fluents, room, part, n_lanes)
            if room.n[part] <= 0:
                _forget_moves(room.values, 1 + n_fluents, len(tables.choice_legal))
                return False
    advance_all(room.values, t, spare, 1 + n_fluents, len(tables.choice_legal))
    for part in range(n_parts):
        if room.waits[part]:
            _save(room, part * n_lanes, room.n[part], share_of(n_lanes, room.n[part]), n_fluents)
    _list(tables.choice_legal, tables.role_start[0], n_parts, room)
    return True


@inlined
def advance_all(values, t, spare, first_row, n_moves):
    """Make the moves of all lanes, and evaluate the states after them."""
    _evaluate(values, t, 0, _MOVES)
    _advance(values, t, 0, spare)
    _forget_moves(values, first_row, n_moves)
    _evaluate(values, t, 0, _STATE)


@inlined
def _forget_moves(values, first_row, n_moves):
    for i in range(n_moves):
        store(values, U(first_row + i), broadcast(ZERO))


@inlined
def share_of(n_lanes, n):
    """Return how many of the lanes of a part each of *n* moves has: whole bytes of them, where there are as many."""
    share = n_lanes // n
    return share & ~7 if share >= 8 else share


@inlined
def _load(values, state, n_fluents, part, n_part_words):
    """Put the state of a part into all its lanes."""
    for i in range(n_fluents):
        word = ZERO - ((state[part, i >> 6] >> U(i & 63)) & ONE)
        if n_part_words == W:
            store(values, U(1 + i), broadcast(word))
            continue
        for k in range(part * n_part_words, (part + 1) * n_part_words):
            values[1 + i, k] = word


@inlined
def mark(values, row, first, last):
    """Set the bits of the lanes from *first* to below *last* in a row."""
    for k in range(first >> 6, (last + 63) >> 6):
        values[row, k] |= bits_of(k, first, last)


@inlined
def bits_of(k, first, last):
    """Return the bits of word *k* that are those of lanes from *first* to below *last*."""
    word = ONES
    if first > 64 * k:
        word &= ONES << U(first - 64 * k)
    if last < 64 * (k + 1):
        word &= ~(ONES << U(last - 64 * k))
    return word


@inlined
def _choose(choice_legal, role_start, first_row, room, part, n_lanes):
    """Give each legal move of the role that chooses a share of a part, and the others' only moves all of it."""
    values, first_lane = room.values, part * n_lanes
    n, decider = 1, -1
    for role in range(len(role_start) - 1):
        n_legal, only = 0, 0
        for move in range(role_start[role], role_start[role + 1]):
            if bit(values, choice_legal[move], first_lane):
                if n_legal >= n_lanes:
                    return TOO_WIDE
                if n_legal == 1:
                    if decider >= 0:
                        return SIMULTANEOUS
                    decider = role
                    room.moves[first_lane] = only
                if n_legal >= 1:
                    room.moves[first_lane + n_legal] = move
                only = move
                n_legal += 1
        if n_legal == 0:
            return STUCK
        if n_legal == 1:
            mark(values, first_row + only, first_lane, first_lane + n_lanes)
            if decider < 0 and role == 0:
                room.moves[first_lane] = only
        else:
            n = n_legal
    room.decider[part] = decider
    if decider >= 0:
        share = share_of(n_lanes, n)
        for i in range(n):
            lane = first_lane + i * share
            mark(values, first_row + room.moves[first_lane + i], lane, lane + share)
    return n


@subroutine
def _save(room, first_lane, n, share, n_fluents):
    """Write the states of the *n* shares of a part as words."""
    if share < 8 or share > 16:  # there are not enough states in a word
        for i in range(n):
            for s in range(room.words.shape[1]):
                room.words[first_lane + i, s] = _state_word(room.values, first_lane + i * share, s, n_fluents)
        return
    per_word = 64 // share
    for first in range(0, n, per_word):
        lane = first_lane + first * share
        _save_bytes(room, first_lane + first, min(per_word, n - first), lane, share, n_fluents)


@inlined
def _state_word(values, lane, s, n_fluents):
    """Return word *s* of the state in a lane."""
    word, first = ZERO, 1 + 64 * s
    for f in range(min(64, n_fluents - 64 * s)):
        word |= ((values[first + f, lane >> 6] >> U(lane & 63)) & ONE) << U(f)
    return word


@inlined
def _save_bytes(room, first, n, lane, share, n_fluents):
    """Write *n* states whose lanes are the first bits of bytes of the same word, eight fluents at once."""
    k, words = lane >> 6, room.words
    for s in range(words.shape[1]):
        for i in range(first, first + n):
            words[i, s] = ZERO
        for begin in range(64 * s, min(64 * s + 64, n_fluents), 8):
            eight = ZERO
            for f in range(begin, min(begin + 8, n_fluents)):
                eight |= (room.values[1 + f, k] & _FIRST_BITS) << U(f - begin)
            for i in range(n):
                words[first + i, s] |= ((eight >> U((lane & 63) + i * share)) & _BYTE) << U(begin & 63)


@inlined
def _list(choice_legal, role_start, n_parts, room):
    """List the legal moves in the states after all moves, role by role."""
    n_lanes, n_roles, marked = N_LANES // n_parts, len(role_start) - 1, room.marked
    store(marked, U(_FIRST_LANES), broadcast(ZERO))
    for part in range(n_parts):
        first_lane, share = part * n_lanes, share_of(n_lanes, max(room.n[part], 1))
        for i in range(first_lane, first_lane + room.n[part] if room.waits[part] else first_lane):
            lane = first_lane + (i - first_lane) * share
            marked[_FIRST_LANES, lane >> 6] |= ONE << U(lane & 63)
            room.item[lane], room.n_listed[i] = i, 0
            for role in range(n_roles):
                room.n_legal[i, role] = 0
    for role in range(n_roles):
        for move in range(role_start[role], role_start[role + 1]):
            found = and_(literal(room.values, U(choice_legal[move])), load(marked, U(_FIRST_LANES)))
            if any_bit(found):
                store(marked, U(_LEGAL), found)
                for k in range(W):
                    _list_move(room, marked[_LEGAL, k], k, role, move)


@inlined
def _list_move(room, lanes, k, role, move):
    """Add a move of a role to the legal ones of the states in some *lanes* of word *k*."""
    while lanes != ZERO:
        i = room.item[64 * k + lowest_bit(lanes)]
        room.legal[i, room.n_listed[i]] = move
        room.n_listed[i] += 1
        room.n_legal[i, role] += 1
        lanes &= lanes - ONE


@subroutine
def goal_in(tables, goals, goal_start, room, lane, role):
    """Return the goal of *role* in a lane whose goals are evaluated, from 0 to 100; even where there is not just one.

    *goals* (G,) are the values of all roles' goals, those of a role from `goal_start[role]` on; -1 is no number.
    """
    found, n = 50, 0
    for g in range(goal_start[role], goal_start[role + 1]):
        if bit(room.values, tables.goal_value[0, g], lane) != ZERO:
            found, n = goals[g], n + 1
    return min(found, 100) if n == 1 and found >= 0 else 50


@subroutine
def score(tables, room):
    """Evaluate the goals in all lanes."""
    _evaluate(room.values, addresses(tables), 0, GOALS)
