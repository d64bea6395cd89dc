"""The replies to all moves of a state, one a lane, and how many there are."""

from typing import Final

import numpy as np

from gdl.compiler.kernels.choice import literal
from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.lanes import N_LANES
from gdl.compiler.kernels.words import (
    ONE,
    ZERO,
    U,
    W,
    and_,
    and_not,
    any_bit,
    at,
    broadcast,
    left,
    load,
    lowest_bit,
    or_,
    plus,
    put,
    store,
    times,
    word_at,
)
from players.search.expansion.room import FIRST_LANES, LEGAL, SHARES, SINGLE, mark, mark_one, n_roles_of

_MOST_COUNTED: Final = 255


@inlined
def n_replies_to(r, item, share):
    """Return how many replies there are to a move; 0 where the play has ended or the share is too small."""
    if at(r.numbers, U(2 * item)) == 0 or at(r.numbers, U(2 * item + 1)) == 0:
        return np.int64(0)
    n, n_choosing = np.int64(1), 0
    for role in range(n_roles_of(r)):
        n_legal = at(r.n_legal, U(item) * r.n_roles + U(role))
        n_choosing += n_legal > 1
        n *= n_legal
    return n if n <= share and n_choosing <= 1 else np.int64(0)


@inlined
def n_legal_after(r, item):
    """Return how many moves of all roles are legal after a move."""
    n = np.int64(0)
    for role in range(n_roles_of(r)):
        n += at(r.n_legal, U(item) * r.n_roles + U(role))
    return n


@inlined
def make_replies(t, r, n_parts, are_fields):
    """Have the lanes of each share make the replies to its move, one a lane, and count the moves of each role.

    Lanes that are left, and those of shares that are too small, make any moves. *are_fields*: as `find_shares` says.
    """
    n_roles = n_roles_of(r)
    for role in range(n_roles):
        are_fields &= at(t.role_start, U(role) + ONE) - at(t.role_start, U(role)) <= _MOST_COUNTED
    for role in range(n_roles):
        if are_fields:
            _reply_in_fields(t, r, n_parts, role)
        else:
            _reply_one_by_one(t, r, n_parts, role)


@inlined
def _reply_in_fields(t, r, n_parts, role):
    """Make the replies of a role where shares are fields of words: those of all words at once.

    In each field a bit is where the next reply goes, and the first byte counts.
    """
    first_lanes, shares = load(r.marked, U(FIRST_LANES)), load(r.marked, U(SHARES))
    places, count, first_row = first_lanes, broadcast(ZERO), 1 + np.int64(t.n_fluents)
    first, last = at(t.role_start, U(role)), at(t.role_start, U(role) + ONE)
    for move in range(first, last):
        found = and_(literal(r.values, at(t.choice_legal, U(move))), first_lanes)
        if any_bit(found):
            fields = times(found, shares)
            store(r.values, U(first_row + move), and_(places, fields))
            places = or_(and_not(places, fields), and_not(and_(left(places, 1), fields), first_lanes))
            count = plus(count, found)
    store(r.marked, U(LEGAL), count)
    _note_counts(r, n_parts, role)
    single = load(r.marked, U(SINGLE))
    if any_bit(single):
        for move in range(first, last):
            made = load(r.values, U(first_row + move))
            store(r.values, U(first_row + move), or_(made, times(and_(made, single), shares)))


@inlined
def _note_counts(r, n_parts, role):
    """Write how many moves of a role are legal after each move, and set the first lanes of shares where it is one."""
    n_lanes = N_LANES // n_parts
    store(r.marked, U(SINGLE), broadcast(ZERO))
    for part in range(n_parts):
        share = at(r.share, U(part))
        for i in range(at(r.n, U(part))):
            lane = part * n_lanes + i * share
            n_legal = word_at(r.marked, U(W * LEGAL + (lane >> 6))) >> U(lane & 63) & U(_MOST_COUNTED)
            put(r.n_legal, U(part * n_lanes + i) * r.n_roles + U(role), np.int64(n_legal))
            if n_legal == ONE:
                mark_one(r.marked, SINGLE, lane)


@subroutine
def _reply_one_by_one(t, r, n_parts, role):
    """Make the replies of a role, wherever the shares are."""
    first_row, first_lanes = 1 + np.int64(t.n_fluents), load(r.marked, U(FIRST_LANES))
    first, last = at(t.role_start, U(role)), at(t.role_start, U(role) + ONE)
    for move in range(first, last):
        store(r.marked, U(LEGAL), and_(literal(r.values, at(t.choice_legal, U(move))), first_lanes))
        for k in range(W):
            lanes = word_at(r.marked, U(W * LEGAL + k))
            while lanes != ZERO:
                lane = 64 * k + lowest_bit(lanes)
                lanes &= lanes - ONE
                place = U(at(r.item, U(lane))) * r.n_roles + U(role)
                n_before = at(r.n_legal, place)
                if n_before < at(r.share, U(lane * n_parts // N_LANES)):
                    mark_one(r.values, first_row + move, lane + n_before)
                put(r.n_legal, place, n_before + 1)
    for move in range(first, last):
        store(r.marked, U(LEGAL), and_(load(r.values, U(first_row + move)), first_lanes))
        for k in range(W):
            lanes = word_at(r.marked, U(W * LEGAL + k))
            while lanes != ZERO:
                lane = 64 * k + lowest_bit(lanes)
                lanes &= lanes - ONE
                if at(r.n_legal, U(at(r.item, U(lane))) * r.n_roles + U(role)) == 1:
                    mark(r.values, first_row + move, lane, lane + at(r.share, U(lane * n_parts // N_LANES)))
