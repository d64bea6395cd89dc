"""The kernel of depth-first proof-number search: it decides whether a role can be sure of a goal.

Several paths go down at once, so that each pass over the circuit expands a state of each.
*Source*: Nagai, "Df-pn algorithm for searching AND/OR trees and its applications", 2002; the sums are those of weak
proof-number search (Ueda et al., 2008), which count what several ways lead to once, and thresholds grow by a quarter
(Pawlewicz and Lew, "Improving depth-first PN-search: 1 + epsilon trick", 2006).
"""

from typing import Final

from gdl.compiler.kernels.jit import inlined, kernel, subroutine
from players.search.proof.expansion import INFINITE, expand
from players.search.proof.paths import (
    BEST,
    CHOSEN,
    DISPROOF,
    DISPROOF_LIMIT,
    FIRST,
    IS_OR,
    LEAST,
    MAX_DEPTH,
    N_OPEN,
    PROOF,
    PROOF_LIMIT,
    SECOND,
    WORK,
    N,
    fill,
    leave,
    leave_all,
    remember,
    sum_up,
)
from players.search.proof.successors import MAX_PARTS, TOO_WIDE
from players.search.proof.table import key_of

DECIDED: Final = 1
UNDECIDED: Final = 0
TOO_DEEP: Final = -4
"""What `descend` returns besides the refusals of `expand`: there is an answer, the budget ended, or no end is near."""

_WAITS: Final = 1
_IS_OVER: Final = 2


@subroutine
def _begin(room, paths, n_parts, salt):
    """Let all paths wait at the root, whose words the first one has."""
    for part in range(MAX_PARTS):
        room.waits[part] = part < n_parts
        level = part * MAX_DEPTH
        paths.depth[part] = 0
        for s in range(paths.words.shape[1]):
            paths.words[level, s] = room.state[part, s] = paths.words[0, s]
        paths.key[level] = key_of(paths.words, 0, salt)
        paths.node[level, PROOF_LIMIT] = paths.node[level, DISPROOF_LIMIT] = INFINITE


@inlined
def _go_down(room, paths, table, path):
    """Let a path wait at the child that was found best, with the limits that follow from its siblings."""
    level = path * MAX_DEPTH + paths.depth[path]
    node, found, number = paths.node, paths.found, paths.child_number
    child = found[CHOSEN]
    node[level, BEST] = child
    own = PROOF_LIMIT if node[level, IS_OR] else DISPROOF_LIMIT
    other = PROOF_LIMIT + DISPROOF_LIMIT - own
    node[level + 1, own] = min(node[level, own], found[SECOND] + 1 + found[SECOND] // 4)
    node[level + 1, other] = node[level, other] - (found[N_OPEN] - 1)
    remember(table, paths.child_key[child], number[child, 0], number[child, 1], 0, 1)
    paths.depth[path] += 1
    paths.key[level + 1] = paths.child_key[child]
    for s in range(paths.words.shape[1]):
        paths.words[level + 1, s] = room.state[path, s] = paths.child_words[child, s]
    room.waits[path] = True


@inlined
def _go_up(paths, table, path):
    """Let a path return from a node with what was found there."""
    level = path * MAX_DEPTH + paths.depth[path]
    found, work = paths.found, paths.node[level, WORK]
    remember(table, paths.key[level], found[PROOF], found[DISPROOF], work, -1)
    child = paths.node[level - 1, BEST]
    paths.child_number[child, 0], paths.child_number[child, 1] = found[PROOF], found[DISPROOF]
    paths.node[level - 1, WORK] += work
    paths.depth[path] -= 1


@subroutine
def _withdraw(room, paths, table, key, path, n_parts):
    """Let the other paths leave the node of a key, of which all is known; they wait for nothing."""
    for other in range(n_parts):
        base = other * MAX_DEPTH
        for depth in range(1, paths.depth[other] + 1 if other != path else 0):
            if paths.key[base + depth] == key:
                for below in range(depth, paths.depth[other] + 1):
                    leave(table, paths.key[base + below])
                paths.depth[other] = depth - 1
                room.waits[other] = False
                break


@subroutine
def _go_on(room, paths, table, path, n_parts, may_wait):
    """Let a path go up and down until it waits, unless it may not, or is over; return what it does."""
    found = paths.found
    while True:
        level = path * MAX_DEPTH + paths.depth[path]
        sum_up(paths, table, level)
        is_decided = found[PROOF] == 0 or found[DISPROOF] == 0
        if paths.depth[path] == 0:
            if is_decided or not may_wait:
                remember(table, paths.key[level], found[PROOF], found[DISPROOF], paths.node[level, WORK], 0)
                return _IS_OVER
        else:
            own = 0 if paths.node[level, IS_OR] else 1
            least, limit = found[LEAST], paths.node[level, PROOF_LIMIT + own]
            is_done = least >= limit or found[1 - own] >= paths.node[level, DISPROOF_LIMIT - own]
            if is_decided or is_done or not may_wait:
                key = paths.key[level]
                _go_up(paths, table, path)
                if is_decided:
                    _withdraw(room, paths, table, key, path, n_parts)
                continue
        _go_down(room, paths, table, path)
        return _WAITS


@inlined
def _gather(room, paths, table, n_parts, n_left):
    """Let paths go on until all wait, or *n_left*; return how many do, -1 - path where that has decided the root."""
    while True:
        n_waiting, path = 0, -1
        for other in range(n_parts):
            if room.waits[other]:
                n_waiting += 1
            elif path < 0:
                path = other
        if n_waiting >= n_left or path < 0:
            return n_waiting
        if _go_on(room, paths, table, path, n_parts, True) == _IS_OVER:
            return -1 - path


@inlined
def _fill_all(room, paths, n_parts, role, salt):
    """Give the states that waited their children; return UNDECIDED, or that a path is too long or there is no room."""
    ending = UNDECIDED
    for path in range(n_parts):
        if room.waits[path]:
            room.waits[path] = False
            if paths.depth[path] + 1 >= MAX_DEPTH:
                ending = TOO_DEEP
            elif not fill(room, paths, path, n_parts, role, salt):
                ending = TOO_WIDE
    return ending


@subroutine
def _refusal(room):
    """Return why a state cannot be expanded."""
    part = 0
    while not room.waits[part] or room.n[part] > 0:
        part += 1
    return room.n[part]


@subroutine
def _end(room, paths, table, n_parts, decider):
    """Let all paths return to the root, and the first one know what path *decider* has found there, if any has."""
    if decider < 0:
        for path in range(n_parts):
            room.waits[path] = False
            _go_on(room, paths, table, path, n_parts, False)
    elif decider > 0:
        first, other = paths.node[0, FIRST], paths.node[decider * MAX_DEPTH, FIRST]
        for i in range(paths.node[0, N]):
            for column in range(2):
                paths.child_number[first + i, column] = paths.child_number[other + i, column]
    leave_all(paths, table, n_parts)
    sum_up(paths, table, 0)


@kernel
def descend(tables, goal_wins, goal_first, room, table, paths, role, salt, max_nodes, n_parts, result):
    """Search from the state at the root of the first path until it is decided or *max_nodes* states were expanded.

    There are *n_parts* paths. `result` gets the proof and disproof numbers of the root, its best move, and how many
    states were expanded.
    """
    _begin(room, paths, n_parts, salt)
    n_nodes, n_waiting, decider = 0, 1, -1
    while n_waiting > 0:
        if not expand(tables, goal_wins, goal_first, role, room, n_parts):
            leave_all(paths, table, n_parts)
            result[3] = n_nodes
            return _refusal(room)
        n_nodes += n_waiting
        ending = _fill_all(room, paths, n_parts, role, salt)
        if ending != UNDECIDED:
            leave_all(paths, table, n_parts)
            result[3] = n_nodes
            return ending
        if n_nodes >= max_nodes:
            break
        n_waiting = _gather(room, paths, table, n_parts, max_nodes - n_nodes)
        if n_waiting < 0:
            decider = -1 - n_waiting
    _end(room, paths, table, n_parts, decider)
    found = paths.found
    result[0], result[1], result[3] = found[PROOF], found[DISPROOF], n_nodes
    result[2] = paths.child_move[found[CHOSEN]]
    return DECIDED if found[PROOF] == 0 or found[DISPROOF] == 0 else UNDECIDED
