"""The kernel that expands a state: all states after it in one pass over the circuit, and what follows those in another.

The lanes are shared out among the moves. In the first pass all lanes of a share make the same move, in the second each
makes one of the replies to it, so that a move whose replies decide the play at once is known without a search. Here a
state is words: bit f % 64 of word f // 64 is fluent f.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.choice import bit, literal
from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.lanes import N_LANES, Spare, _advance, _evaluate
from gdl.compiler.kernels.packing import n_words
from gdl.compiler.kernels.words import ONES, ZERO, U, W, addresses, broadcast, rows, store
from gdl.compiler.tables import Tables

INFINITE: Final = (1 << 24) - 1
"""The proof number of what is disproven, and the other way round."""
STUCK: Final = -1
SIMULTANEOUS: Final = -2
TOO_WIDE: Final = -3
"""What `expand` returns in the place of a number of moves."""
_STATE: Final = 0
_MOVES: Final = 1
_GOALS: Final = 2


class ExpansionRoom(NamedTuple):
    """Where a state is expanded, the first items for its moves.

    *Shapes*: S words a state, M moves of all R roles, L = 512 lanes.
    `values` (rows, W) of the circuit, `spare` (fluents, W), `answer` (1, W); `moves` (L,); `words` (L, S) the states
    after them; `numbers` (L, 2) their proof and disproof numbers, as far as the two passes tell; `legal` (L, M) the
    legal moves in them, and `n_legal` (L, R) how many of each role; `decider` (1,) the role that chose.
    """

    values: NDArray[np.uint64]
    spare: NDArray[np.uint64]
    answer: NDArray[np.uint64]
    moves: NDArray[np.int32]
    words: NDArray[np.uint64]
    numbers: NDArray[np.int64]
    legal: NDArray[np.int32]
    n_legal: NDArray[np.int32]
    decider: NDArray[np.int64]


def room_for(tables: Tables) -> ExpansionRoom:
    """Return room to expand the states of the circuit of *tables*."""
    values = rows(tables.n_rows)
    values[0] = ONES
    n_moves, n_roles = len(tables.choice_legal), tables.role_start.shape[1] - 1
    return ExpansionRoom(
        values=values,
        spare=rows(tables.n_fluents + 1),
        answer=rows(1),
        moves=np.zeros(N_LANES, np.int32),
        words=np.zeros((N_LANES, n_words(tables.n_fluents)), np.uint64),
        numbers=np.zeros((N_LANES, 2), np.int64),
        legal=np.zeros((N_LANES, n_moves + 1), np.int32),
        n_legal=np.zeros((N_LANES, n_roles), np.int32),
        decider=np.zeros(1, np.int64),
    )


@inlined
def make_moves(tables, room, state):
    """Fill *room* with the moves of the role that chooses in *state*, the states after them, and what is legal there.

    Returns how many moves there are, or a refusal. The first lane of each share is evaluated but for the goals.
    """
    t, values, spare = addresses(tables), room.values, addresses(Spare(room.spare)).rows
    n_fluents = tables.n_fluents
    for i in range(n_fluents):
        bit = (state[i >> 6] >> U(i & 63)) & U(1)
        store(values, U(1 + i), broadcast(ZERO - bit))
    _evaluate(values, t, 0, _STATE)
    n = _choose(tables.choice_legal, tables.role_start[0], 1 + n_fluents, room)
    if n <= 0:
        return n
    _advance_all(values, t, spare, 1 + n_fluents, len(tables.choice_legal))
    share = N_LANES // n
    _save(values, n, share, n_fluents, room.words)
    _list(tables.choice_legal, tables.role_start[0], n, share, room)
    return n


@subroutine
def expand(tables, goal_wins, goal_first, role, room, state):
    """Fill *room* with what follows *state*, as *role* sees it; return how many moves there are, or a refusal."""
    n = make_moves(tables, room, state)
    if n <= 0:
        return n
    share, first_row = N_LANES // n, 1 + tables.n_fluents
    any_end = _score(tables, goal_wins, goal_first, n, share, room)
    if any_end and _is_settled(room.numbers, n, role == room.decider[0]):
        return n
    _reply(n, share, first_row, room)
    spare = addresses(Spare(room.spare)).rows
    _advance_all(room.values, addresses(tables), spare, first_row, len(tables.choice_legal))
    _score_replies(tables, goal_wins, goal_first, role, n, share, room)
    return n


@inlined
def _advance_all(values, t, spare, first_row, n_moves):
    """Make the moves of all lanes, and evaluate the states after them."""
    _evaluate(values, t, 0, _MOVES)
    _advance(values, t, 0, spare)
    for i in range(n_moves):
        store(values, U(first_row + i), broadcast(ZERO))
    _evaluate(values, t, 0, _STATE)


@inlined
def _choose(choice_legal, role_start, first_row, room):
    """Give each legal move of the role that chooses a share of the lanes, and the others' only moves all of them."""
    values, answer = room.values, room.answer
    n, decider = 1, -1
    for role in range(len(role_start) - 1):
        n_legal, only = 0, 0
        for move in range(role_start[role], role_start[role + 1]):
            store(answer, ZERO, literal(values, choice_legal[move]))
            if answer[0, 0] & U(1):
                if n_legal >= N_LANES:
                    return TOO_WIDE
                if n_legal == 1:
                    if decider >= 0:
                        return SIMULTANEOUS
                    decider = role
                    room.moves[0] = only
                if n_legal >= 1:
                    room.moves[n_legal] = move
                only = move
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
        share = N_LANES // n
        for i in range(n):
            for lane in range(i * share, (i + 1) * share):
                values[first_row + room.moves[i], lane >> 6] |= U(1) << U(lane & 63)
    return n


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
    _evaluate(room.values, addresses(tables), 0, _GOALS)


@inlined
def _save(values, n, share, n_fluents, words):
    """Write the states of *n* shares as words."""
    for i in range(n):
        k, shift = (i * share) >> 6, U((i * share) & 63)
        for s in range(words.shape[1]):
            word, first = ZERO, 1 + 64 * s
            for f in range(min(64, n_fluents - 64 * s)):
                word |= ((values[first + f, k] >> shift) & U(1)) << U(f)
            words[i, s] = word


@inlined
def _list(choice_legal, role_start, n, share, room):
    """List the legal moves in the states of *n* shares, role by role."""
    answer = room.answer
    room.n_legal[:n] = 0
    found = np.zeros(n, np.int64)
    for role in range(len(role_start) - 1):
        for move in range(role_start[role], role_start[role + 1]):
            store(answer, ZERO, literal(room.values, choice_legal[move]))
            for i in range(n):
                if bit(answer, 0, i * share):
                    room.legal[i, found[i]] = move
                    room.n_legal[i, role] += 1
                    found[i] += 1


@inlined
def _score(tables, goal_wins, goal_first, n, share, room):
    """Give the moves that end the play their numbers, and the others none; return whether there are any."""
    answer = room.answer
    store(answer, ZERO, literal(room.values, tables.terminal[0]))
    any_end = False
    for i in range(n):
        ended = bit(answer, 0, i * share) != ZERO
        any_end |= ended
        room.numbers[i, 0], room.numbers[i, 1] = (INFINITE, 0) if ended else (1, 1)
    if not any_end:
        return False
    _evaluate(room.values, addresses(tables), 0, _GOALS)
    for g in range(len(goal_wins)):
        if goal_wins[g]:
            store(answer, ZERO, literal(room.values, tables.goal_value[0, goal_first + g]))
            for i in range(n):
                if room.numbers[i, 1] == 0 and bit(answer, 0, i * share):
                    room.numbers[i, 0] = -1  # marked, so that no other goal is asked for
    for i in range(n):
        if room.numbers[i, 0] < 0:
            room.numbers[i, 0], room.numbers[i, 1] = 0, INFINITE
    return True


@inlined
def _is_settled(numbers, n, is_or):
    """Return whether one of the moves alone decides."""
    own = 0 if is_or else 1
    return np.any(numbers[:n, own] == 0)


@inlined
def _n_replies(room, i, share):
    """Return how many replies there are to move number *i*; 0 where the play has ended or the share is too small."""
    if room.numbers[i, 0] == 0 or room.numbers[i, 1] == 0:
        return 0
    n, n_choosing = 1, 0
    for role in range(room.n_legal.shape[1]):
        n_legal = room.n_legal[i, role]
        n_choosing += n_legal > 1
        n *= n_legal
    return n if n <= share and n_choosing <= 1 else 0


@inlined
def _reply(n, share, first_row, room):
    """Have the lanes of each share make the replies to its move, one a lane."""
    values = room.values
    for i in range(n):
        for j in range(_n_replies(room, i, share)):
            lane, first = i * share + j, 0
            for role in range(room.n_legal.shape[1]):
                n_legal = room.n_legal[i, role]
                move = room.legal[i, first + (j if n_legal > 1 else 0)]
                values[first_row + move, lane >> 6] |= U(1) << U(lane & 63)
                first += n_legal


@inlined
def _score_replies(tables, goal_wins, goal_first, role, n, share, room):
    """Give the moves that do not end the play numbers by what the replies to them come to.

    What has more replies left is more to refute, or to prove.
    """
    values, answer = room.values, room.answer
    store(answer, ZERO, literal(values, tables.terminal[0]))
    ended = answer[0].copy()
    won = np.zeros(W, np.uint64)
    if np.any(ended):
        _evaluate(values, addresses(tables), 0, _GOALS)
        for g in range(len(goal_wins)):
            if goal_wins[g]:
                store(answer, ZERO, literal(values, tables.goal_value[0, goal_first + g]))
                won |= answer[0]
    for i in range(n):
        if room.numbers[i, 0] == 0 or room.numbers[i, 1] == 0:
            continue
        is_or = room.n_legal[i, role] > 1
        n_open, n_decisive = 0, 0
        for lane in range(i * share, i * share + _n_replies(room, i, share)):
            k, bit = lane >> 6, U(1) << U(lane & 63)
            if ended[k] & bit == ZERO:
                n_open += 1
            elif (won[k] & bit != ZERO) == is_or:
                n_decisive += 1
        own, other = (0, 1) if is_or else (1, 0)
        if n_decisive:
            room.numbers[i, own], room.numbers[i, other] = 0, INFINITE
        elif n_open:
            room.numbers[i, own], room.numbers[i, other] = 1, n_open
        elif _n_replies(room, i, share):
            room.numbers[i, own], room.numbers[i, other] = INFINITE, 0
        else:
            room.numbers[i, own], room.numbers[i, other] = 1, max(1, min(room.n_legal[i].max(), 1000))
