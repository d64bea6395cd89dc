"""The kernel of alpha-beta: depth first, with a table, all moves of a state made and judged in one pass over the lanes.

Values are those of `players.search.alphabeta.minimax` times `WON`, as the role that searches sees them. The way down is
kept in arrays, so that a search stops after any number of states, and goes on in the next call.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.jit import inlined, kernel, subroutine
from gdl.compiler.kernels.words import ZERO, U, addresses, at
from players.search.alphabeta.minimax import GOAL_WEIGHT, MOBILITY_WEIGHT
from players.search.expansion.room import bit_of
from players.search.expansion.successors import count_legal, evaluate_goals, goal_in, make_moves
from players.search.expansion.table import entry_of, keep, key_of

WON: Final = 1 << 20
"""The value of a win, and the negative one of a loss."""
_OUTSIDE: Final = WON + 1
MAX_DEPTH: Final = 200
_MAX_CHILDREN: Final = 50_000
"""Of all states on a way together."""
_TO_THE_END: Final = 255
"""The depth of what was looked at to the end of every line."""

DONE: Final = 1
PAUSED: Final = 0
TOO_LARGE: Final = -4
"""What `look_ahead` returns besides the refusals of `make_moves`."""

_FIRST: Final = 0
N_CHILDREN: Final = 1
NEXT: Final = 2
_IS_MAX: Final = 3
_ALPHA: Final = 4
_BETA: Final = 5
_LOW: Final = 6
_HIGH: Final = 7
BEST: Final = 8
BEST_CHILD: Final = 9
_DEPTH: Final = 10
IS_CUT: Final = 11
_TRIED: Final = 12
_N_FIELDS: Final = 13
_UNOPENED: Final = -1

LEVEL: Final = 0
N_STATES: Final = 1

_EXACT: Final = 0
_AT_LEAST: Final = 1
_AT_MOST: Final = 2
_DEPTH_BITS: Final = U(0xFF << 22)


class Way(NamedTuple):
    """The states on the way down, and what follows each. *Shapes*: D levels, C children, S words a state.

    `node` (D, fields), `key` (D,), `words` (D, S); `value` and `order` (C,), `ended` (C,), `move` (C,), `child_words`
    (C, S); `clock` (2,): the level where the search stands, and how many states it has judged.
    """

    node: NDArray[np.int64]
    key: NDArray[np.uint64]
    words: NDArray[np.uint64]
    value: NDArray[np.int64]
    order: NDArray[np.int64]
    ended: NDArray[np.bool_]
    move: NDArray[np.int32]
    child_words: NDArray[np.uint64]
    clock: NDArray[np.int64]


class Judge(NamedTuple):
    """How states are judged.

    `goals` (G,) are the values of all roles' goals, `goal_start` (R + 1,) says where those of each role begin, and `me`
    (1,) is the number of the role that searches.
    """

    goals: NDArray[np.int64]
    goal_start: NDArray[np.int64]
    me: NDArray[np.int64]


def way_for(n_words: int) -> Way:
    """Return room for a way down through states of *n_words*."""
    return Way(
        node=np.zeros((MAX_DEPTH + 1, _N_FIELDS), np.int64),
        key=np.zeros(MAX_DEPTH + 1, np.uint64),
        words=np.zeros((MAX_DEPTH + 1, n_words), np.uint64),
        value=np.zeros(_MAX_CHILDREN, np.int64),
        order=np.zeros(_MAX_CHILDREN, np.int64),
        ended=np.zeros(_MAX_CHILDREN, np.bool_),
        move=np.zeros(_MAX_CHILDREN, np.int32),
        child_words=np.zeros((_MAX_CHILDREN, n_words), np.uint64),
        clock=np.zeros(2, np.int64),
    )


@kernel
def begin(way, state, depth):
    """Stand at *state*, to look *depth* steps ahead."""
    way.words[0] = state
    way.clock[LEVEL] = 0
    _enter(way, addresses(way), 0, -_OUTSIDE, _OUTSIDE, depth)


@inlined
def _enter(way, w, level, alpha, beta, depth):
    """Begin a node whose words are there."""
    node = way.node[level]
    node[N_CHILDREN], node[NEXT], node[IS_CUT], node[_TRIED], node[BEST_CHILD] = _UNOPENED, 0, 0, -1, -1
    node[_ALPHA], node[_BETA], node[_LOW], node[_HIGH], node[_DEPTH] = alpha, beta, alpha, beta, depth
    way.key[level] = key_of(w.words, level * way.words.shape[1], way.words.shape[1], ZERO)


@subroutine
def _answers(b, key, node):
    """Return whether the table says all that is asked at a node, its value then in BEST; note the move to try first."""
    entry = np.int64(entry_of(b, key))
    if entry == 0:
        return False
    value, depth = (entry & 0x3FFFFF) - _OUTSIDE, entry >> 22 & 0xFF
    bound = entry >> 30 & 3
    node[_TRIED] = (entry >> 32) - 1
    if depth < node[_DEPTH]:
        return False
    known = bound == _EXACT or (bound == _AT_LEAST and value >= node[_BETA])
    if known or (bound == _AT_MOST and value <= node[_ALPHA]):
        node[BEST], node[IS_CUT] = value, depth != _TO_THE_END
        return True
    return False


@subroutine
def _remember(b, key, node, move):
    """Keep what was found at a node, in the place of what looked least far ahead."""
    value = node[BEST]
    bound = _AT_MOST if value <= node[_LOW] else _AT_LEAST if value >= node[_HIGH] else _EXACT
    depth = node[_DEPTH] if node[IS_CUT] else np.int64(_TO_THE_END)
    entry = U((move + 1) << 32 | bound << 30 | depth << 22 | (value + _OUTSIDE))
    keep(b, key, entry, _DEPTH_BITS)


@inlined
def _mobility(n):
    return (n - 1) / (n + 9.0)


@subroutine
def _judge(t, r, judge, room, n, way, first):
    """Note of *n* moves what they lead to, whether the play ends there, and what that is worth."""
    evaluate_goals(t, r)
    share, n_roles, me = room.share[0], room.n_legal.shape[1], judge.me[0]
    n_others = max(1, n_roles - 1)
    for i in range(n):
        child, lane = first + i, i * share
        ended = bit_of(r.values, at(t.terminal, ZERO), lane) != ZERO
        goal, mobility = 0.0, 0.0
        for role in range(n_roles):
            n_legal = room.n_legal[i, role]
            ended |= n_legal == 0
            sign = 1.0 if role == me else -1.0 / n_others
            goal += sign * goal_in(t, r, judge.goals, judge.goal_start, lane, role)
            mobility += sign * _mobility(n_legal)
        goal /= 100.0
        value = goal if ended else GOAL_WEIGHT * goal + MOBILITY_WEIGHT * mobility
        way.value[child], way.ended[child] = np.int64(np.rint(value * WON)), ended
        way.move[child] = room.moves[i]
        for s in range(way.child_words.shape[1]):
            way.child_words[child, s] = room.words[i, s]


@subroutine
def _sort(way, node):
    """Put the children of a node into the order in which they are tried: that of the table, then the best first."""
    sign = 1 if node[_IS_MAX] else -1
    first, n = node[_FIRST], node[N_CHILDREN]
    for i in range(n):
        child = first + i
        worth = 4 * WON if way.move[child] == node[_TRIED] else sign * way.value[child]
        j = i
        while j > 0:
            before = way.order[first + j - 1]
            if way.move[before] == node[_TRIED] or sign * way.value[before] >= worth:
                break
            way.order[first + j] = before
            j -= 1
        way.order[first + j] = child


@subroutine
def _open(t, r, judge, room, way, level):
    """Make the moves of the node at *level*; return how many there are, or a refusal."""
    for s in range(way.words.shape[1]):
        room.state[0, s] = way.words[level, s]
    if not make_moves(t, r, 1):
        return room.n[0]
    count_legal(t, r)
    n = room.n[0]
    node = way.node[level]
    first = 0 if level == 0 else way.node[level - 1, _FIRST] + way.node[level - 1, N_CHILDREN]
    if first + n > _MAX_CHILDREN:
        return TOO_LARGE
    _judge(t, r, judge, room, n, way, first)
    node[_FIRST], node[N_CHILDREN], node[IS_CUT] = first, n, 0
    node[_IS_MAX] = room.decider[0] == judge.me[0]
    node[BEST] = -_OUTSIDE if node[_IS_MAX] else _OUTSIDE
    if node[_DEPTH] > 1 or level == 0:
        _sort(way, node)
    return n


@inlined
def _take(node, child, value, is_cut):
    """Note what a child is worth."""
    node[IS_CUT] |= is_cut
    if node[_IS_MAX]:
        if value > node[BEST]:
            node[BEST], node[BEST_CHILD] = value, child
            node[_ALPHA] = max(node[_ALPHA], value)
    elif value < node[BEST]:
        node[BEST], node[BEST_CHILD] = value, child
        node[_BETA] = min(node[_BETA], value)


@inlined
def _take_all(way, node):
    """Note what all children are worth, no further states being looked at."""
    for child in range(node[_FIRST], node[_FIRST] + node[N_CHILDREN]):
        _take(node, child, way.value[child], not way.ended[child])
    node[NEXT] = node[N_CHILDREN]


@kernel
def look_ahead(tables, judge, room, table, way, max_states):
    """Go on with the search that `begin` began until it is DONE or *max_states* more states were judged."""
    t, r, b, w = addresses(tables), addresses(room), addresses(table), addresses(way)
    level = way.clock[LEVEL]
    last = way.clock[N_STATES] + max_states
    while way.clock[N_STATES] < last:
        node = way.node[level]
        is_known = False
        if node[N_CHILDREN] == _UNOPENED:
            is_known = _answers(b, way.key[level], node) and level > 0
            if not is_known:
                n = _open(t, r, judge, room, way, level)
                if n <= 0:
                    return n
                way.clock[N_STATES] += n
                if node[_DEPTH] == 1:
                    _take_all(way, node)
        if not is_known and node[NEXT] < node[N_CHILDREN] and node[_ALPHA] < node[_BETA]:
            child = way.order[node[_FIRST] + node[NEXT]]
            node[NEXT] += 1
            if way.ended[child]:
                _take(node, child, way.value[child], False)
                continue
            level += 1
            for s in range(way.words.shape[1]):
                way.words[level, s] = way.child_words[child, s]
            _enter(way, w, level, node[_ALPHA], node[_BETA], node[_DEPTH] - 1)
            continue
        if not is_known:
            _remember(b, way.key[level], node, way.move[node[BEST_CHILD]])
        if level == 0:
            return DONE
        level -= 1
        above = way.node[level]
        _take(above, way.order[above[_FIRST] + above[NEXT] - 1], node[BEST], node[IS_CUT])
    way.clock[LEVEL] = level
    return PAUSED
