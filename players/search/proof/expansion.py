"""The kernel that expands states: what follows them in one pass over the circuit, what follows that in another.

In the first pass all lanes of a share make the same move, in the second each makes one of the replies to it, so that a
move whose replies decide the play at once is known without a search.
"""

from typing import Final

from gdl.compiler.kernels.choice import bit, literal
from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.lanes import N_LANES, Spare, _evaluate
from gdl.compiler.kernels.words import ONE, ZERO, U, addresses, any_bit, broadcast, n_bits, or_, store
from players.search.proof.successors import ENDED, GOALS, WON, advance_all, bits_of, make_moves, mark, share_of

INFINITE: Final = (1 << 24) - 1
"""The proof number of what is disproven, and the other way round."""


@subroutine
def expand(tables, goal_wins, goal_first, role, room, n_parts):
    """Fill *room* with what follows the states that wait, as *role* sees it; return whether all have moves."""
    if not make_moves(tables, room, n_parts):
        return False
    n_lanes, first_row, are_settled = N_LANES // n_parts, 1 + tables.n_fluents, True
    _score(tables, goal_wins, goal_first, n_parts, room)
    for part in range(n_parts):
        if room.waits[part] and not _is_settled(room, part, part * n_lanes, role):
            _reply(part * n_lanes, room.n[part], share_of(n_lanes, room.n[part]), first_row, room)
            are_settled = False
    if are_settled:
        return True
    spare = addresses(Spare(room.spare)).rows
    advance_all(room.values, addresses(tables), spare, first_row, len(tables.choice_legal))
    _score_replies(tables, goal_wins, goal_first, role, n_parts, room)
    return True


@inlined
def _score(tables, goal_wins, goal_first, n_parts, room):
    """Give the moves that end the play their numbers, and the others none."""
    n_lanes, is_scored = N_LANES // n_parts, False
    for part in range(n_parts):
        if not room.waits[part]:
            continue
        first_lane, share = part * n_lanes, share_of(n_lanes, room.n[part])
        for i in range(room.n[part]):
            numbers, item, lane = room.numbers, first_lane + i, first_lane + i * share
            numbers[item, 0], numbers[item, 1] = 1, 1
            if bit(room.values, tables.terminal[0], lane):
                if not is_scored:
                    _evaluate(room.values, addresses(tables), 0, GOALS)
                    is_scored = True
                is_won = False
                for g in range(len(goal_wins)):
                    if goal_wins[g] and bit(room.values, tables.goal_value[0, goal_first + g], lane):
                        is_won = True
                numbers[item, 0], numbers[item, 1] = (0, INFINITE) if is_won else (INFINITE, 0)


@inlined
def _is_settled(room, part, first_lane, role):
    """Return whether one of the moves of a part alone decides."""
    own = 0 if room.decider[part] == role else 1
    is_settled = False
    for i in range(first_lane, first_lane + room.n[part]):
        is_settled |= room.numbers[i, own] == 0
    return is_settled


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
def _reply(first_lane, n, share, first_row, room):
    """Have the lanes of each share of a part make the replies to its move, one a lane."""
    values = room.values
    for i in range(first_lane, first_lane + n):
        lane, first, n_replies = first_lane + (i - first_lane) * share, 0, _n_replies(room, i, share)
        if n_replies == 0:
            continue
        for role in range(room.n_legal.shape[1]):
            n_legal = room.n_legal[i, role]
            if n_legal == 1:
                mark(values, first_row + room.legal[i, first], lane, lane + n_replies)
            else:
                for j in range(n_legal):
                    values[first_row + room.legal[i, first + j], (lane + j) >> 6] |= ONE << U((lane + j) & 63)
            first += n_legal


@inlined
def _score_replies(tables, goal_wins, goal_first, role, n_parts, room):
    """Give the moves that do not end the play numbers by what the replies to them come to.

    What has more replies left is more to refute, or to prove.
    """
    values, marked = room.values, room.marked
    ended, won = literal(values, U(tables.terminal[0])), broadcast(ZERO)
    store(marked, U(ENDED), ended)
    if any_bit(ended):
        _evaluate(values, addresses(tables), 0, GOALS)
        for g in range(len(goal_wins)):
            if goal_wins[g]:
                won = or_(won, literal(values, U(tables.goal_value[0, goal_first + g])))
    store(marked, U(WON), won)
    n_lanes = N_LANES // n_parts
    for part in range(n_parts):
        if room.waits[part] and not _is_settled(room, part, part * n_lanes, role):
            share = share_of(n_lanes, room.n[part])
            for i in range(part * n_lanes, part * n_lanes + room.n[part]):
                if room.numbers[i, 0] != 0 and room.numbers[i, 1] != 0:
                    _number(role, room, i, part * n_lanes + (i - part * n_lanes) * share, share)


@inlined
def _number(role, room, i, first_lane, share):
    """Give a move that does not end the play its numbers by the replies to it."""
    is_or, n_replies = room.n_legal[i, role] > 1, _n_replies(room, i, share)
    n_open, n_decisive = 0, 0
    for k in range(first_lane >> 6, (first_lane + n_replies + 63) >> 6):
        replies = bits_of(k, first_lane, first_lane + n_replies)
        ended, won = room.marked[ENDED, k], room.marked[WON, k]
        n_open += n_bits(replies & ~ended)
        n_decisive += n_bits(replies & ended & (won if is_or else ~won))
    own, other = (0, 1) if is_or else (1, 0)
    if n_decisive:
        room.numbers[i, own], room.numbers[i, other] = 0, INFINITE
    elif n_open:
        room.numbers[i, own], room.numbers[i, other] = 1, n_open
    elif n_replies:
        room.numbers[i, own], room.numbers[i, other] = INFINITE, 0
    else:
        room.numbers[i, own], room.numbers[i, other] = 1, max(1, min(room.n_listed[i], 1000))
