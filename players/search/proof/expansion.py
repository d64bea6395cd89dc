"""The kernel that expands a state: all states after it, one a lane, in one pass over the circuit.

Here a state is words: bit f % 64 of word f // 64 is fluent f.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.choice import literal
from gdl.compiler.kernels.jit import inlined, kernel
from gdl.compiler.kernels.lanes import _advance, _evaluate
from gdl.compiler.kernels.words import ONES, ZERO, U, W, addresses, broadcast, rows, store
from gdl.compiler.tables import Tables

STUCK: Final = -1
SIMULTANEOUS: Final = -2
TOO_WIDE: Final = -3
"""What `expand` returns in the place of a number of moves."""
_N_LANES: Final = 64 * W
_STATE: Final = 0
_MOVES: Final = 1
_GOALS: Final = 2


class Room(NamedTuple):
    """Where a state is expanded. *Shapes*: S words a state, M moves, L = 512 lanes.

    `values` (rows, W) of the circuit, `spare` (fluents, W), `answers` (M + 2, W), `moves` (L,) the moves of the
    lanes, `words` (L, S) the states after them, `n_choices` (L,) how many joint moves these have, `ended` and `wins`
    (L,) whether they are terminal, and whether the goal is reached there; `decider` (1,) the role that chose.
    """

    values: NDArray[np.uint64]
    spare: NDArray[np.uint64]
    answers: NDArray[np.uint64]
    moves: NDArray[np.int32]
    words: NDArray[np.uint64]
    n_choices: NDArray[np.int64]
    ended: NDArray[np.bool_]
    wins: NDArray[np.bool_]
    decider: NDArray[np.int64]


def room_for(tables: Tables) -> Room:
    """Return room to expand the states of the circuit of *tables*."""
    values = rows(tables.n_rows)
    values[0] = ONES
    n_moves = len(tables.choice_legal)
    return Room(
        values=values,
        spare=rows(tables.n_fluents + 1),
        answers=rows(n_moves + 2),
        moves=np.zeros(_N_LANES, np.int32),
        words=np.zeros((_N_LANES, -(-tables.n_fluents // 64)), np.uint64),
        n_choices=np.zeros(_N_LANES, np.int64),
        ended=np.zeros(_N_LANES, np.bool_),
        wins=np.zeros(_N_LANES, np.bool_),
        decider=np.zeros(1, np.int64),
    )


@inlined
def _transpose(block):
    """Exchange bit j of word i and bit i of word j. *Source*: Warren, "Hacker's Delight", 7-3."""
    width, mask = U(32), U(0xFFFFFFFF)
    while width != ZERO:
        k = U(0)
        while k < U(64):
            changed = ((block[k] >> width) ^ block[k + width]) & mask
            block[k] ^= changed << width
            block[k + width] ^= changed
            k = (k + width + U(1)) & ~width
        width >>= U(1)
        mask ^= mask << width


@inlined
def _popcount(x):
    x = x - ((x >> U(1)) & U(0x5555555555555555))
    x = (x & U(0x3333333333333333)) + ((x >> U(2)) & U(0x3333333333333333))
    x = (x + (x >> U(4))) & U(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * U(0x0101010101010101)) >> U(56))


@kernel
def expand(tables, goal_wins, goal_first, room, state):
    """Fill *room* with what follows *state*; return how many moves there are, or why there is no telling."""
    t, values, spare = addresses(tables), room.values, addresses(Spare(room.spare)).rows
    n_fluents = tables.n_fluents
    for i in range(n_fluents):
        bit = (state[i >> 6] >> U(i & 63)) & U(1)
        store(values, U(1 + i), broadcast(ZERO - bit))
    _evaluate(values, t, 0, _STATE)
    n = _choose(tables.choice_legal, tables.role_start[0], 1 + n_fluents, room)
    if n <= 0:
        return n
    _evaluate(values, t, 0, _MOVES)
    _advance(values, t, 0, spare)
    for i in range(len(tables.choice_legal)):
        store(values, U(1 + n_fluents + i), broadcast(ZERO))
    _evaluate(values, t, 0, _STATE)
    _save(values, n, n_fluents, room.words)
    _count(tables.choice_legal, tables.role_start[0], n, room)
    _look_for_ends(tables, goal_wins, goal_first, n, room)
    return n


class Spare(NamedTuple):
    """An array whose address is asked for."""

    rows: NDArray[np.uint64]


@kernel
def _choose(choice_legal, role_start, first_row, room):
    """Give each legal move of the role that chooses a lane, and the others' only moves all of them."""
    values, answers = room.values, room.answers
    n, decider = 1, -1
    n_roles = len(role_start) - 1
    for role in range(n_roles):
        n_legal, only = 0, 0
        for move in range(role_start[role], role_start[role + 1]):
            store(answers, U(0), literal(values, choice_legal[move]))
            if answers[0, 0] & U(1):
                if n_legal >= _N_LANES:
                    return TOO_WIDE
                if n_legal == 1:
                    if decider >= 0:
                        return SIMULTANEOUS
                    decider = role
                    room.moves[0] = only
                only = move
                if n_legal >= 1:
                    room.moves[n_legal] = move
                n_legal += 1
        if n_legal == 0:
            return STUCK
        if n_legal == 1:
            store(values, U(first_row + only), broadcast(ONES))
            if decider < 0 and role == 0:
                room.moves[0] = only
        else:
            n = n_legal
    room.decider[0] = decider
    if decider >= 0:
        for i in range(n):
            values[first_row + room.moves[i], i >> 6] |= U(1) << U(i & 63)
    return n


@kernel
def _save(values, n, n_fluents, words):
    """Write the states of *n* lanes as words."""
    block = np.empty(64, np.uint64)
    for k in range((n + 63) >> 6):
        for s in range(words.shape[1]):
            n_bits = min(64, n_fluents - 64 * s)
            for j in range(n_bits):
                block[j] = values[1 + 64 * s + j, k]
            for j in range(n_bits, 64):
                block[j] = ZERO
            _transpose(block)
            for i in range(64):
                words[64 * k + i, s] = block[i]


@kernel
def _count(choice_legal, role_start, n, room):
    """Count the joint moves of *n* lanes."""
    block = np.empty(64, np.uint64)
    answers, found = room.answers, room.n_choices
    for move in range(len(choice_legal)):
        store(answers, U(move), literal(room.values, choice_legal[move]))
    for k in range((n + 63) >> 6):
        last = min(64, n - 64 * k)
        found[64 * k : 64 * k + last] = 1
        for role in range(len(role_start) - 1):
            counts = np.zeros(64, np.int64)
            for first in range(role_start[role], role_start[role + 1], 64):
                n_bits = min(64, role_start[role + 1] - first)
                for j in range(n_bits):
                    block[j] = answers[first + j, k]
                for j in range(n_bits, 64):
                    block[j] = ZERO
                _transpose(block)
                for i in range(last):
                    counts[i] += _popcount(block[i])
            for i in range(last):
                found[64 * k + i] *= counts[i]


@kernel
def _look_for_ends(tables, goal_wins, goal_first, n, room):
    """Find out which of *n* lanes are at an end, and where the goal is reached there."""
    values, answers = room.values, room.answers
    store(answers, U(0), literal(values, tables.terminal[0]))
    any_end = False
    for i in range(n):
        room.ended[i] = (answers[0, i >> 6] >> U(i & 63)) & U(1) != ZERO
        any_end |= room.ended[i]
    if not any_end:
        return
    _evaluate(values, addresses(tables), 0, _GOALS)
    room.wins[:n] = False
    for g in range(len(goal_wins)):
        if goal_wins[g]:
            store(answers, U(0), literal(values, tables.goal_value[0, goal_first + g]))
            for i in range(n):
                room.wins[i] |= (answers[0, i >> 6] >> U(i & 63)) & U(1) != ZERO
