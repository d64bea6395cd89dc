"""The first numbers of states: what follows them in one pass over the circuit, what follows that in another.

In the first pass all lanes of a share make the same move, in the second each makes one of the replies to it, so that a
move whose replies decide the play at once is known without a search.
"""

from typing import Final

import numpy as np

from gdl.compiler.kernels.choice import literal
from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.lanes import N_LANES
from gdl.compiler.kernels.words import ZERO, U, W, and_, any_bit, at, broadcast, load, n_bits, or_, put, store, word_at
from players.search.expansion.room import ENDED, FIRST_LANES, WON, bit_of, bits_of
from players.search.expansion.successors import advance_all, evaluate_goals, find_shares, forget_moves, make_moves
from players.search.proof.replies import make_replies, n_legal_after, n_replies_to

INFINITE: Final = (1 << 24) - 1
"""The proof number of what is disproven, and the other way round."""
_MOST_LEGAL: Final = 1_000
"""More legal moves count as so many."""


@subroutine
def expand(t, r, goal_wins, goal_first, role, n_parts):
    """Fill the room with what follows the states that wait, as *role* sees it; return whether all have moves.

    *t* are the addresses of the tables, *r* those of the room.
    """
    if not make_moves(t, r, n_parts):
        return False
    are_fields = find_shares(r, n_parts)
    _score(t, r, goal_wins, goal_first, n_parts)
    make_replies(t, r, n_parts, are_fields)
    are_decided = True
    for part in range(n_parts):
        are_decided &= _is_decided(r, part, part * (N_LANES // n_parts), role)
    if are_decided:
        forget_moves(t, r)
        return True
    advance_all(t, r)
    _score_replies(t, r, goal_wins, goal_first, role, n_parts)
    return True


@inlined
def _score(t, r, goal_wins, goal_first, n_parts):
    """Give the moves that end the play their numbers, and the others none."""
    n_lanes, terminal = N_LANES // n_parts, at(t.terminal, ZERO)
    has_ends = any_bit(and_(literal(r.values, terminal), load(r.marked, U(FIRST_LANES))))
    if has_ends:
        evaluate_goals(t, r)
    for part in range(n_parts):
        share = at(r.share, U(part))
        for i in range(at(r.n, U(part))):
            item, lane = part * n_lanes + i, part * n_lanes + i * share
            proof, disproof = np.int64(1), np.int64(1)
            if has_ends and bit_of(r.values, terminal, lane):
                proof, disproof = np.int64(INFINITE), np.int64(0)
                for g in range(len(goal_wins)):
                    if goal_wins[g] and bit_of(r.values, at(t.goal_value, U(goal_first + g)), lane):
                        proof, disproof = np.int64(0), np.int64(INFINITE)
            put(r.numbers, U(2 * item), proof)
            put(r.numbers, U(2 * item + 1), disproof)


@inlined
def _is_decided(r, part, first_lane, role):
    """Return whether one of the moves of a part alone decides, or its state does not wait."""
    own, n = 0 if at(r.decider, U(part)) == role else 1, at(r.n, U(part))
    is_decided = n == 0
    for i in range(first_lane, first_lane + n):
        is_decided |= at(r.numbers, U(2 * i + own)) == 0
    return is_decided


@inlined
def _score_replies(t, r, goal_wins, goal_first, role, n_parts):
    """Give the moves that do not end the play numbers by what the replies to them come to.

    What has more replies left is more to refute, or to prove.
    """
    ended, won = literal(r.values, at(t.terminal, ZERO)), broadcast(ZERO)
    store(r.marked, U(ENDED), ended)
    if any_bit(ended):
        evaluate_goals(t, r)
        for g in range(len(goal_wins)):
            if goal_wins[g]:
                won = or_(won, literal(r.values, at(t.goal_value, U(goal_first + g))))
    store(r.marked, U(WON), won)
    n_lanes = N_LANES // n_parts
    for part in range(n_parts):
        if not _is_decided(r, part, part * n_lanes, role):
            share = at(r.share, U(part))
            for i in range(at(r.n, U(part))):
                item = part * n_lanes + i
                if at(r.numbers, U(2 * item)) != 0 and at(r.numbers, U(2 * item + 1)) != 0:
                    _number(role, r, item, part * n_lanes + i * share, share)


@inlined
def _number(role, r, item, first_lane, share):
    """Give a move that does not end the play its numbers by the replies to it."""
    is_or = at(r.n_legal, U(item) * r.n_roles + U(role)) > 1
    n_replies, n_open, n_decisive = n_replies_to(r, item, share), np.int64(0), np.int64(0)
    for k in range(first_lane >> 6, (first_lane + n_replies + 63) >> 6):
        replies = bits_of(k, first_lane, first_lane + n_replies)
        ended, won = word_at(r.marked, U(W * ENDED + k)), word_at(r.marked, U(W * WON + k))
        n_open += n_bits(replies & ~ended)
        n_decisive += n_bits(replies & ended & (won if is_or else ~won))
    own, other = np.int64(1), max(np.int64(1), n_open)
    if n_decisive > 0:
        own, other = np.int64(0), np.int64(INFINITE)
    elif n_replies > 0 and n_open == 0:
        own, other = np.int64(INFINITE), np.int64(0)
    elif n_replies == 0:
        other = max(np.int64(1), min(n_legal_after(r, item), np.int64(_MOST_LEGAL)))
    put(r.numbers, U(2 * item), own if is_or else other)
    put(r.numbers, U(2 * item + 1), other if is_or else own)
