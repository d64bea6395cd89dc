"""Looking a move ahead, in place of plays: all moves of a new node are made, and weights judge what they lead to.

A new node gets its edges at once, each with what its move is worth, so that walks go on along those that promise most,
and may never take the others. It is for two roles of which one wins what the other loses, where one of them chooses at
a time.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.batches import _evaluate_states, _score, _step
from gdl.compiler.kernels.choice import literal
from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.lanes import N_LANES, Spare
from gdl.compiler.kernels.packing import load_lanes
from gdl.compiler.kernels.words import (
    ONE,
    ZERO,
    U,
    W,
    addresses,
    any_bit,
    at,
    broadcast,
    float_at,
    load,
    put,
    put_float,
    store,
)
from players.search.tree import nodes
from players.search.tree.implicit import for_role, judge_leaves
from players.search.tree.leaves import OK, give_edges, goal_of, list_legal
from players.search.tree.nodes import node_at, node_minimax, put_edge_minimax, put_node_minimax
from players.search.tree.plays import Weights, first_lanes, weigh, weighed
from players.search.tree.sharing import lock, unlock


class Successors(NamedTuple):
    """What the moves of leaves lead to. *Shapes*: M moves.

    In each lane there is one: `leaf` (512,) whose move it is, and `number` (512,) which of its legal moves. `worth`
    (512, M) is what the legal moves of leaves are worth, for the first role, in percent.
    """

    leaf: NDArray[np.int32]
    number: NDArray[np.int32]
    worth: NDArray[np.float32]


def successors_for(n_moves: int) -> Successors:
    """Return room for what the moves of leaves lead to in a game of so many moves."""
    lane, of_moves = np.zeros(N_LANES, np.int32), np.zeros((N_LANES, n_moves), np.float32)
    return Successors(lane, lane.copy(), of_moves)


@inlined
def _legal_of(w, n_roles, j, r):
    """Return where the legal moves of a role at leaf *j* begin and end in those of the leaf."""
    place = U(j * (n_roles + 1) + r)
    return at(w.n_legal, place), at(w.n_legal, place + ONE)


@inlined
def _chooser(w, n_roles, j):
    """Return the role that chooses at leaf *j*, the first one where all moves are forced; -1 where several choose."""
    n_choosing, chooser = 0, 0
    for r in range(n_roles):
        begin, end = _legal_of(w, n_roles, j, r)
        if end - begin > 1:
            n_choosing, chooser = n_choosing + 1, r
    return chooser if n_choosing <= 1 else -1


@subroutine
def _list_new(single, t, w, room, n_leaves):
    """Note in row 0 of the lane bits which leaves are new nodes, and list their legal moves."""
    lane_bits = room.lane_bits
    lane_bits[:] = ZERO
    for j in range(n_leaves):
        node = at(w.end, U(j))
        if node_at(t, node, nodes.SOLVED) == 0 and node_at(t, node, nodes.FIRST) == nodes.UNOPENED:
            lane_bits[0, j >> 6] |= ONE << U(j & 63)
    list_legal(single, w, n_leaves, room.values, room.legal, lane_bits)


@inlined
def _is_new(lane_bits, j):
    return lane_bits[0, j >> 6] >> U(j & 63) & ONE != ZERO


@subroutine
def _make_moves(single, w, room, n):
    """Put the states of the leaves of the first *n* lanes there, and make their moves and those that are forced."""
    role_start, n_fluents, values = single.role_start[0], single.n_fluents, room.values
    n_roles, ahead = len(role_start) - 1, room.successors
    n_moves, a = role_start[n_roles], addresses(Spare(values)).rows
    load_lanes(room.walks.words, ahead.leaf[:n], values, 1, n_fluents)
    for m in range(n_moves):
        store(a, U(1 + n_fluents + m), broadcast(ZERO))
    for lane in range(n):
        j, number = np.int64(ahead.leaf[lane]), np.int64(ahead.number[lane])
        for r in range(n_roles):
            begin, end = _legal_of(w, n_roles, j, r)
            if begin < end:
                place = number if begin <= number < end else begin
                row = 1 + n_fluents + at(w.legal, U(j * n_moves + place))
                values[row, lane >> 6] |= ONE << U(lane & 63)
    _step(single, values)


@subroutine
def _judge_moves(single, f, w, room, n):
    """Find what the moves of the first *n* lanes are worth: their goal where they end the game, else by the weights."""
    values, lane_bits, ahead, plays = room.values, room.lane_bits, room.successors, room.plays
    n_moves = np.int64(len(single.choice_legal))
    _make_moves(single, w, room, n)
    _evaluate_states(single, values)
    for k in range(W):
        lane_bits[1, k] = ~first_lanes(n, k)
    weigh(plays, values, lane_bits[1:], len(plays.weights) - 1)
    ended = literal(addresses(Spare(values)).rows, at(addresses(single).terminal, ZERO))
    store(lane_bits, ONE, ended)
    if any_bit(load(lane_bits, ONE)):
        _score(single, values)
    sums, worth = (
        addresses(Weights(plays.weights, plays.sums)).sums,
        addresses(Weights(plays.weights, ahead.worth)).sums,
    )
    for lane in range(n):
        if lane_bits[1, lane >> 6] >> U(lane & 63) & ONE != ZERO:
            value = np.float32(goal_of(single, f, values, lane, 0))
        else:
            value = weighed(f, float_at(sums, U(lane)), 0)
        put_float(worth, U(np.int64(ahead.leaf[lane]) * n_moves + ahead.number[lane]), value)


@subroutine
def _judge_new(single, f, w, room, n_leaves):
    """Find what the moves of new nodes are worth where one role chooses, 512 at once."""
    n, n_roles, ahead = 0, np.int64(f.n_roles), room.successors
    for j in range(n_leaves):
        d = _chooser(w, n_roles, j)
        if not _is_new(room.lane_bits, j) or d < 0:
            continue
        begin, end = _legal_of(w, n_roles, j, d)
        for number in range(begin, end):
            ahead.leaf[n], ahead.number[n] = j, number
            n += 1
            if n == N_LANES:
                _judge_moves(single, f, w, room, n)
                n = 0
    if n > 0:
        _judge_moves(single, f, w, room, n)


@inlined
def _open_judged(t, f, w, j, node, d, n_moves, worth):
    """Give a new node, leaf *j*, edges, and let it and them be worth what the moves are."""
    begin, end = _legal_of(w, np.int64(f.n_roles), j, d)
    best = np.float32(-1)
    for number in range(begin, end):
        best = max(best, for_role(f, float_at(worth, U(j * n_moves + number)), d))
    if begin < end:
        put_node_minimax(t, node, for_role(f, best, d))
        if give_edges(t, f, w, j, node, n_moves) == OK:
            first = node_at(t, node, nodes.FIRST)
            for number in range(begin, end):
                value = for_role(f, float_at(worth, U(j * n_moves + number)), d)
                put_edge_minimax(t, first + number - begin, value)


@subroutine
def look_ahead(single, t, f, w, room, n_leaves):
    """Give new nodes edges, and let them be worth what the best moves there lead to, by the weights.

    *room* is that of the thread, whose rows have the states of the leaves. Where there is no room for edges, or several
    roles choose, a node is worth what the weights say of its state.
    """
    judge_leaves(t, f, w, n_leaves, room.values, room.lane_bits, room.plays)
    _list_new(single, t, w, room, n_leaves)
    _judge_new(single, f, w, room, n_leaves)
    n_moves = np.int64(len(single.choice_legal))
    worth = addresses(room.successors).worth
    lock(t.lock)
    for j in range(n_leaves):
        node, d = np.int64(at(w.end, U(j))), _chooser(w, np.int64(f.n_roles), j)
        if _is_new(room.lane_bits, j) and d >= 0 and node_at(t, node, nodes.FIRST) == nodes.UNOPENED:
            _open_judged(t, f, w, j, node, d, n_moves, worth)
    unlock(t.lock)


@subroutine
def take_minimax(t, f, w, n):
    """Let the first *n* walks come to what minimax says of their leaves, or what is proven."""
    for i in range(n):
        leaf = at(w.leaf, U(i))
        if leaf == nodes.ENDED:
            continue
        node = at(w.end, U(leaf))
        for r in range(np.int64(f.n_roles)):
            goal = np.int64(for_role(f, node_minimax(t, node), r) + np.float32(0.5))
            if node_at(t, node, nodes.SOLVED) != 0:
                goal = node_at(t, node, nodes.BOUNDS + r) & nodes.LOW
            put(w.goals, U(i) * f.n_roles + U(r), goal)
