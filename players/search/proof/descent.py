"""The kernel of depth-first proof-number search: it decides whether a role can be sure of a goal.

Several paths go down at once, so that each pass over the circuit expands a state of each.
*Source*: Nagai, "Df-pn algorithm for searching AND/OR trees and its applications", 2002; the sums are those of weak
proof-number search (Ueda et al., 2008), which count what several ways lead to once, and thresholds grow by a quarter
(Pawlewicz and Lew, "Improving depth-first PN-search: 1 + epsilon trick", 2006).
"""

from typing import Final

import numpy as np

from gdl.compiler.kernels.jit import inlined, kernel, subroutine
from gdl.compiler.kernels.packing import copy_words
from gdl.compiler.kernels.words import U, addresses, at, put, put_word, word_at
from players.search.expansion.room import MAX_PARTS
from players.search.expansion.successors import TOO_WIDE
from players.search.expansion.table import key_of
from players.search.proof.numbers import INFINITE, expand
from players.search.proof.paths import (
    BEST,
    DISPROOF_LIMIT,
    FIRST,
    IS_OR,
    MAX_DEPTH,
    PROOF_LIMIT,
    WORK,
    N,
    fill,
    leave,
    leave_all,
    node_at,
    put_node,
    remember,
    sum_up,
)

DECIDED: Final = 1
UNDECIDED: Final = 0
TOO_DEEP: Final = -4
"""What `descend` returns besides the refusals of `expand`: there is an answer, the budget ended, or no end is near."""

_WAITS: Final = 1
_IS_OVER: Final = 2


@subroutine
def _begin(r, p, n_parts, salt):
    """Let all paths wait at the root, whose words the first one has."""
    n_state = np.int64(p.n_state)
    for part in range(MAX_PARTS):
        level = part * MAX_DEPTH
        put(r.waits, U(part), np.int64(part < n_parts))
        put(p.depth, U(part), 0)
        copy_words(p.words, level * n_state, p.words, 0, n_state)
        copy_words(r.state, part * n_state, p.words, 0, n_state)
        put_word(p.key, U(level), key_of(p.words, 0, n_state, salt))
        put_node(p, level, PROOF_LIMIT, INFINITE)
        put_node(p, level, DISPROOF_LIMIT, INFINITE)


@inlined
def _go_down(r, p, b, path, found):
    """Let a path wait at the child that was found best, with the limits that follow from its siblings."""
    depth, n_state = at(p.depth, U(path)), np.int64(p.n_state)
    level, child = path * MAX_DEPTH + depth, found.chosen
    own = PROOF_LIMIT if node_at(p, level, IS_OR) else DISPROOF_LIMIT
    other = PROOF_LIMIT + DISPROOF_LIMIT - own
    put_node(p, level, BEST, child)
    put_node(p, level + 1, own, min(node_at(p, level, own), found.second + 1 + found.second // 4))
    put_node(p, level + 1, other, node_at(p, level, other) - (found.n_open - 1))
    key = word_at(p.child_key, U(child))
    remember(b, key, at(p.child_number, U(2 * child)), at(p.child_number, U(2 * child + 1)), np.int64(0), np.int64(1))
    put(p.depth, U(path), depth + 1)
    put_word(p.key, U(level + 1), key)
    copy_words(p.words, (level + 1) * n_state, p.child_words, child * n_state, n_state)
    copy_words(r.state, path * n_state, p.child_words, child * n_state, n_state)
    put(r.waits, U(path), 1)


@inlined
def _go_up(p, b, path, found):
    """Let a path return from a node with what was found there."""
    depth = at(p.depth, U(path))
    level = path * MAX_DEPTH + depth
    work, child = node_at(p, level, WORK), node_at(p, level - 1, BEST)
    remember(b, word_at(p.key, U(level)), found.proof, found.disproof, work, np.int64(-1))
    put(p.child_number, U(2 * child), found.proof)
    put(p.child_number, U(2 * child + 1), found.disproof)
    put_node(p, level - 1, WORK, node_at(p, level - 1, WORK) + work)
    put(p.depth, U(path), depth - 1)


@subroutine
def _withdraw(r, p, b, key, path, n_parts):
    """Let the other paths leave the node of a key, of which all is known; they wait for nothing."""
    for other in range(n_parts):
        base, last = other * MAX_DEPTH, at(p.depth, U(other))
        for depth in range(1, last + 1 if other != path else 0):
            if word_at(p.key, U(base + depth)) == key:
                for below in range(depth, last + 1):
                    leave(b, word_at(p.key, U(base + below)))
                put(p.depth, U(other), depth - 1)
                put(r.waits, U(other), 0)
                break


@subroutine
def _go_on(r, p, b, path, n_parts, may_wait):
    """Let a path go up and down until it waits, unless it may not, or is over; return what it does."""
    while True:
        depth = at(p.depth, U(path))
        level = path * MAX_DEPTH + depth
        found = sum_up(p, b, level)
        is_decided = found.proof == 0 or found.disproof == 0
        if depth == 0:
            if is_decided or not may_wait:
                work = node_at(p, level, WORK)
                remember(b, word_at(p.key, U(level)), found.proof, found.disproof, work, np.int64(0))
                return _IS_OVER
        else:
            is_or = node_at(p, level, IS_OR) != 0
            own, other = (PROOF_LIMIT, DISPROOF_LIMIT) if is_or else (DISPROOF_LIMIT, PROOF_LIMIT)
            theirs = found.disproof if is_or else found.proof
            is_done = found.least >= node_at(p, level, own) or theirs >= node_at(p, level, other)
            if is_decided or is_done or not may_wait:
                _go_up(p, b, path, found)
                if is_decided:
                    _withdraw(r, p, b, word_at(p.key, U(level)), path, n_parts)
                continue
        _go_down(r, p, b, path, found)
        return _WAITS


@inlined
def _gather(r, p, b, n_parts, n_left):
    """Let paths go on until all wait, or *n_left*; return how many do, -1 - path where that has decided the root."""
    while True:
        n_waiting, path = 0, -1
        for other in range(n_parts):
            if at(r.waits, U(other)) != 0:
                n_waiting += 1
            elif path < 0:
                path = other
        if n_waiting >= n_left or path < 0:
            return n_waiting
        if _go_on(r, p, b, path, n_parts, True) == _IS_OVER:
            return -1 - path


@inlined
def _fill_all(r, p, b, n_parts, role, salt):
    """Give the states that waited their children; return UNDECIDED, or that a path is too long or there is no room."""
    ending = UNDECIDED
    for path in range(n_parts):
        if at(r.waits, U(path)) != 0:
            put(r.waits, U(path), 0)
            if at(p.depth, U(path)) + 1 >= MAX_DEPTH:
                ending = TOO_DEEP
            elif not fill(r, p, b, path, n_parts, role, salt):
                ending = TOO_WIDE
    return ending


@subroutine
def _refusal(r):
    """Return why a state cannot be expanded."""
    part = 0
    while at(r.waits, U(part)) == 0 or at(r.n, U(part)) > 0:
        part += 1
    return at(r.n, U(part))


@subroutine
def _end(r, p, b, n_parts, decider):
    """Let all paths return to the root, and the first one know what path *decider* has found there, if any has."""
    if decider < 0:
        for path in range(n_parts):
            put(r.waits, U(path), 0)
            _go_on(r, p, b, path, n_parts, False)
    elif decider > 0:
        first, other = node_at(p, 0, FIRST), node_at(p, decider * MAX_DEPTH, FIRST)
        for i in range(2 * node_at(p, 0, N)):
            put(p.child_number, U(2 * first + i), at(p.child_number, U(2 * other + i)))
    leave_all(p, b, n_parts)
    return sum_up(p, b, 0)


@kernel
def descend(tables, goal_wins, goal_first, room, table, paths, role, salt, max_nodes, n_parts, result):
    """Search from the state at the root of the first path until it is decided or *max_nodes* states were expanded.

    There are *n_parts* paths. `result` gets the proof and disproof numbers of the root, its best move, and how many
    states were expanded.
    """
    t, r, b, p = addresses(tables), addresses(room), addresses(table), addresses(paths)
    _begin(r, p, n_parts, salt)
    n_nodes, n_waiting, decider = 0, 1, -1
    while n_waiting > 0:
        if not expand(t, r, goal_wins, goal_first, role, n_parts):
            leave_all(p, b, n_parts)
            result[3] = n_nodes
            return _refusal(r)
        n_nodes += n_waiting
        ending = _fill_all(r, p, b, n_parts, role, salt)
        if ending != UNDECIDED:
            leave_all(p, b, n_parts)
            result[3] = n_nodes
            return np.int64(ending)
        if n_nodes >= max_nodes:
            break
        n_waiting = _gather(r, p, b, n_parts, max_nodes - n_nodes)
        if n_waiting < 0:
            decider = -1 - n_waiting
    found = _end(r, p, b, n_parts, decider)
    result[0], result[1], result[3] = found.proof, found.disproof, n_nodes
    result[2] = at(p.child_move, U(found.chosen))
    return np.int64(DECIDED if found.proof == 0 or found.disproof == 0 else UNDECIDED)
