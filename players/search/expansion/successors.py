"""The states after all moves of a state, in one pass over the circuit, and what is legal in them.

*t* are the addresses of the tables, *r* those of an `ExpansionRoom`.
"""

from typing import Final

import numpy as np

from gdl.compiler.kernels.choice import literal
from gdl.compiler.kernels.evaluation import GOALS, MOVES, STATE, advance, evaluate
from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.lanes import N_LANES
from gdl.compiler.kernels.words import (
    ONE,
    ONES,
    ZERO,
    U,
    W,
    and_,
    at,
    broadcast,
    load,
    lowest_bit,
    put,
    put_word,
    store,
    word_at,
)
from players.search.expansion.room import FIRST_LANES, LEGAL, SHARES, bit_of, mark, mark_one, n_roles_of, share_of
from players.search.expansion.states import load_states, save_states

STUCK: Final = -1
SIMULTANEOUS: Final = -2
TOO_WIDE: Final = -3
"""What a state has in the place of a number of moves."""


@subroutine
def make_moves(t, r, n_parts):
    """Fill the room with the moves of the roles that choose in the states that wait, and the states after them.

    The first lane of each share is evaluated but for the goals. Returns whether all states have moves.
    """
    n_fluents = np.int64(t.n_fluents)
    load_states(r, n_fluents, n_parts)
    evaluate(r.values, t, 0, STATE)
    for part in range(n_parts):
        n = 0
        if at(r.waits, U(part)) != 0:
            n = _choose(t, r, part, N_LANES // n_parts)
            if n <= 0:
                put(r.n, U(part), n)
                forget_moves(t, r)
                return False
        put(r.n, U(part), n)
    advance_all(t, r)
    save_states(r, n_fluents, n_parts)
    return True


@inlined
def advance_all(t, r):
    """Make the moves of all lanes, and evaluate the states after them."""
    evaluate(r.values, t, 0, MOVES)
    advance(r.values, t, 0, r.spare)
    forget_moves(t, r)
    evaluate(r.values, t, 0, STATE)


@inlined
def forget_moves(t, r):
    """Take back the moves of all lanes."""
    first_row = ONE + t.n_fluents
    for i in range(at(t.role_start, r.n_roles)):
        store(r.values, first_row + U(i), broadcast(ZERO))


@inlined
def _choose(t, r, part, n_lanes):
    """Give each legal move of the role that chooses a share of a part, and the others' only moves all of it."""
    first_row, first_lane = 1 + np.int64(t.n_fluents), part * n_lanes
    n, decider = 1, -1
    for role in range(n_roles_of(r)):
        n_legal, only = 0, 0
        for move in range(at(t.role_start, U(role)), at(t.role_start, U(role) + ONE)):
            if bit_of(r.values, at(t.choice_legal, U(move)), first_lane):
                if n_legal >= n_lanes:
                    return TOO_WIDE
                if n_legal == 1:
                    if decider >= 0:
                        return SIMULTANEOUS
                    decider = role
                    put(r.moves, U(first_lane), only)
                if n_legal >= 1:
                    put(r.moves, U(first_lane + n_legal), move)
                only = move
                n_legal += 1
        if n_legal == 0:
            return STUCK
        if n_legal == 1:
            mark(r.values, first_row + only, first_lane, first_lane + n_lanes)
            if decider < 0 and role == 0:
                put(r.moves, U(first_lane), only)
        else:
            n = n_legal
    share = share_of(n_lanes, n)
    put(r.decider, U(part), decider)
    put(r.share, U(part), share)
    for i in range(n if decider >= 0 else 0):
        lane = first_lane + i * share
        mark(r.values, first_row + at(r.moves, U(first_lane + i)), lane, lane + share)
    return n


@inlined
def find_shares(r, n_parts):
    """Set the first lanes of the shares, where nothing is legal yet; return whether shares are fields of words.

    They are if none lies in two words, and all begin where a byte does. `SHARES` then has what a first lane is
    multiplied with to have all of its share.
    """
    store(r.marked, U(FIRST_LANES), broadcast(ZERO))
    n_lanes, n_roles, are_fields = N_LANES // n_parts, n_roles_of(r), True
    for part in range(n_parts):
        share = at(r.share, U(part))
        are_fields &= 8 <= share <= 64 and share & (share - 1) == 0
        for k in range(part * W // n_parts, (part + 1) * W // n_parts):
            put_word(r.marked, U(W * SHARES + k), ONES >> U(64 - share) if are_fields else ZERO)
        for i in range(at(r.n, U(part))):
            item, lane = part * n_lanes + i, part * n_lanes + i * share
            mark_one(r.marked, FIRST_LANES, lane)
            put(r.item, U(lane), item)
            for role in range(n_roles):
                put(r.n_legal, U(item * n_roles + role), 0)
    return are_fields


@subroutine
def count_legal(t, r):
    """Count the legal moves of each role after each of the moves of a state that has all lanes."""
    find_shares(r, 1)
    first_lanes = load(r.marked, U(FIRST_LANES))
    for role in range(n_roles_of(r)):
        for move in range(at(t.role_start, U(role)), at(t.role_start, U(role) + ONE)):
            store(r.marked, U(LEGAL), and_(literal(r.values, at(t.choice_legal, U(move))), first_lanes))
            for k in range(W):
                lanes = word_at(r.marked, U(W * LEGAL + k))
                while lanes != ZERO:
                    place = U(at(r.item, U(64 * k + lowest_bit(lanes)))) * r.n_roles + U(role)
                    put(r.n_legal, place, at(r.n_legal, place) + 1)
                    lanes &= lanes - ONE


@subroutine
def goal_in(t, r, goals, goal_start, lane, role):
    """Return the goal of *role* in a lane whose goals are evaluated, from 0 to 100; even where there is not just one.

    *goals* (G,) are the values of all roles' goals, those of a role from `goal_start[role]` on; -1 is no number.
    """
    found, n = 50, 0
    for g in range(goal_start[role], goal_start[role + 1]):
        if bit_of(r.values, at(t.goal_value, U(g)), lane) != ZERO:
            found, n = goals[g], n + 1
    return min(found, 100) if n == 1 and found >= 0 else 50


@inlined
def evaluate_goals(t, r):
    """Evaluate the goals in all lanes."""
    evaluate(r.values, t, 0, GOALS)
