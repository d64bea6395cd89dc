"""The second stage of a batch: the nodes above its leaves get edges, moves are made, and the leaves become nodes.

One pass over the lanes does it for up to 512 leaves.
"""

from typing import Final

import numpy as np

from gdl.compiler.kernels.batches import _evaluate_states, _score, _step
from gdl.compiler.kernels.choice import bit, literal, stuck_among
from gdl.compiler.kernels.jit import inlined, kernel, subroutine
from gdl.compiler.kernels.lanes import Spare
from gdl.compiler.kernels.packing import copy_words, load_lanes, save_lanes
from gdl.compiler.kernels.words import (
    ONE,
    ZERO,
    U,
    W,
    addresses,
    and_,
    and_not,
    any_bit,
    at,
    load,
    lowest_bit,
    or_,
    put,
    put_word,
    store,
    word_at,
)
from players.search.tree import nodes
from players.search.tree.bandits import REGRET
from players.search.tree.bounds import below
from players.search.tree.implicit import expect_of_edges
from players.search.tree.joint import hash_at, joint_key, joint_slot
from players.search.tree.nodes import (
    any_goal,
    move_at,
    next_block,
    node_at,
    put_amaf,
    put_edge,
    put_node,
    put_node_minimax,
)
from players.search.tree.sharing import lock, publish, unlock

OK: Final = 0
NO_ROOM: Final = 1
STUCK: Final = 2
"""How a stage ends: well, or the tree is full, or a role has no legal move."""


@subroutine
def list_legal(tables, w, n_leaves, values, legal, lane_bits):
    """Find what is *legal* in evaluated lanes, and list it by role for the leaves in row 0 of the lane bits."""
    role_start, a, tables_at = tables.role_start[0], addresses(Spare(values)).rows, addresses(tables)
    n_roles, n_moves = len(role_start) - 1, role_start[len(role_start) - 1]
    for m in range(n_moves):
        store(legal, U(m), literal(a, at(tables_at.choice_legal, U(m))))
    for j in range(n_leaves):
        for r in range(n_roles + 1):
            put(w.n_legal, U(j * (n_roles + 1) + r), 0)
    for r in range(n_roles):
        for m in range(role_start[r], role_start[r + 1]):
            store(lane_bits, ONE, and_(load(legal, U(m)), load(lane_bits, ZERO)))
            if not any_bit(load(lane_bits, ONE)):
                continue
            for k in range(W):
                x = lane_bits[1, k]
                while x != ZERO:
                    lane = k * 64 + lowest_bit(x)
                    place = U(lane * (n_roles + 1) + r + 1)
                    n = at(w.n_legal, place)
                    put(w.legal, U(lane * n_moves + n), m)
                    put(w.n_legal, place, n + 1)
                    x &= x - ONE
        if r + 2 <= n_roles:
            for j in range(n_leaves):
                place = U(j * (n_roles + 1) + r + 1)
                put(w.n_legal, place + ONE, at(w.n_legal, place))


@subroutine
def give_edges(t, f, w, j, node, n_moves):
    """Give a node edges for the moves that are listed for leaf *j*; return OK, NO_ROOM or STUCK.

    They are all there before another thread sees the first.
    """
    n_roles, n_choosing, decider = np.int64(f.n_roles), 0, 0
    limits = U(j * (n_roles + 1))
    for r in range(n_roles):
        n = at(w.n_legal, limits + U(r + 1)) - at(w.n_legal, limits + U(r))
        if n == 0:
            return STUCK
        if n > 1:
            n_choosing, decider = n_choosing + 1, r
    first = next_block(np.int64(word_at(t.size, ONE)))
    if first + at(w.n_legal, limits + f.n_roles) + 1 > np.int64(t.max_edges):
        return NO_ROOM
    put_node(t, node, nodes.DECIDER, decider if n_choosing <= 1 else nodes.SIMULTANEOUS)
    edge = first
    for r in range(n_roles):
        begin, end = at(w.n_legal, limits + U(r)), at(w.n_legal, limits + U(r + 1))
        if end - begin == 1 and not (n_choosing == 0 and r == decider):
            put_node(t, node, nodes.BOUNDS + n_roles + r, 0)
            continue
        put_node(t, node, nodes.BOUNDS + n_roles + r, end - begin)
        for i in range(begin, end):
            put(t.move, U(edge), at(w.legal, U(j * n_moves + i)))
            put_edge(t, edge, nodes.TOTAL, 0)
            put_edge(t, edge, nodes.VISITS, 0)
            put_edge(t, edge, nodes.CHILD, nodes.NONE)
            if t.uses_amaf != ZERO:
                for column in range(3):
                    put_amaf(t, edge, column, np.float32(0))
            put_edge(t, edge, nodes.LIMITS, 0 if n_choosing > 1 and t.rule == U(REGRET) else any_goal(f, r))
            edge += 1
    put_word(t.size, ONE, U(edge))
    if t.uses_minimax != ZERO and n_choosing <= 1:
        expect_of_edges(t, f, node, first, decider)
    publish()
    put_node(t, node, nodes.FIRST, first)
    return OK


@subroutine
def _choose_any(t, f, w, j, node):
    """Let leaf *j* be below edges of its node that are drawn at random."""
    n_roles, edge = np.int64(f.n_roles), node_at(t, node, nodes.FIRST)
    for r in range(n_roles):
        n = node_at(t, node, nodes.BOUNDS + n_roles + r)
        if n > 0:
            put(w.chosen, U(j) * f.n_roles + U(r), edge + below(w, n))
        edge += n


@subroutine
def _open(t, f, w, n_leaves, n_moves):
    """Give the nodes that are to be opened their edges, and each such leaf one of them."""
    for j in range(n_leaves):
        if at(w.slot, U(j)) != nodes.NONE:
            continue
        node = at(w.above, U(j))
        if node_at(t, node, nodes.FIRST) < 0:  # another thread may have opened it in the meantime
            ending = give_edges(t, f, w, j, node, n_moves)
            if ending != OK:
                return ending
        _choose_any(t, f, w, j, node)
        d = node_at(t, node, nodes.DECIDER)
        if d == nodes.SIMULTANEOUS:
            slot = joint_slot(t, node, joint_key(t, node, w.chosen, U(j) * f.n_roles, f.n_roles))
            if slot < 0:
                return NO_ROOM
        else:
            slot = at(w.chosen, U(j) * f.n_roles + U(d))
        put(w.slot, U(j), slot)
    return OK


@inlined
def _make_moves(a, tables, t, w, n_leaves, legal, lane_bits, values):
    """Set the chosen moves in the lanes of the leaves, and those that are forced."""
    role_start, n_fluents = tables.role_start[0], tables.n_fluents
    n_roles = len(role_start) - 1
    for r in range(n_roles):
        lane_bits[:] = ZERO
        for j in range(n_leaves):
            if at(w.chosen, U(j * n_roles + r)) >= 0:
                lane_bits[0, j >> 6] |= ONE << U(j & 63)
        choosing = load(lane_bits, ZERO)
        for m in range(role_start[r], role_start[r + 1]):
            store(a, U(1 + n_fluents + m), and_not(load(legal, U(m)), choosing))
        for j in range(n_leaves):
            edge = at(w.chosen, U(j * n_roles + r))
            if edge >= 0:
                values[1 + n_fluents + move_at(t, edge), j >> 6] |= ONE << U(j & 63)


@inlined
def place_of(t, words, begin):
    """Return the place of the table at which a state is looked for first whose words begin there."""
    return hash_at(words, begin, t.n_words) & t.table_mask


@inlined
def insert_at(t, f, words, begin):
    """Return the node of the state whose words begin at a place, a new one where there is none; -1 without room."""
    i = place_of(t, words, begin)
    while at(t.table, i) != 0:
        node = at(t.table, i) - 1
        is_same = True
        for s in range(t.n_words):
            is_same &= word_at(t.words, U(node) * t.n_words + s) == word_at(words, begin + s)
        if is_same:
            return node
        i = (i + ONE) & t.table_mask
    node = np.int64(word_at(t.size, ZERO))
    if node == np.int64(t.max_nodes):
        return np.int64(-1)
    put_word(t.size, ZERO, U(node + 1))
    put(t.table, i, node + 1)
    copy_words(t.words, U(node) * t.n_words, words, begin, t.n_words)
    put_node(t, node, nodes.FIRST, nodes.UNOPENED)
    put_node(t, node, nodes.SOLVED, 0)
    for r in range(np.int64(f.n_roles)):
        put_node(t, node, nodes.BOUNDS + r, any_goal(f, r))
    if t.uses_minimax != ZERO:
        put_node_minimax(t, node, np.float32(nodes.EVEN))
    return node


@kernel
def insert(tree, rules, words):
    """Return the node of a state (1, S), a new one where there is none; -1 where there is no room."""
    t = addresses(tree)
    lock(t.lock)
    node = insert_at(t, addresses(rules), addresses(Spare(words)).rows, ZERO)
    unlock(t.lock)
    return node


@subroutine
def goal_of(tables, f, values, lane, r):
    """Return the goal of a role in a lane whose goals are evaluated; even where there is not exactly one."""
    goal, n = np.int64(nodes.EVEN), 0
    for g in range(at(f.goal_start, U(r)), at(f.goal_start, U(r + 1))):
        if bit(values, tables.goal_value[0, g], lane):
            goal, n = at(f.goal_value, U(g)), n + 1
    return goal if n == 1 else np.int64(nodes.EVEN)


@subroutine
def _end_node(tables, t, f, values, lane, node):
    for r in range(np.int64(f.n_roles)):
        goal = goal_of(tables, f, values, lane, r)
        put_node(t, node, nodes.BOUNDS + r, goal | goal << 8)
    put_node(t, node, nodes.SOLVED, 1)


@subroutine
def _insert_all(tables, t, f, w, n_leaves, values, ended):
    """Make nodes of what the leaves lead to, *ended* (1, W) says which are ends; return OK or NO_ROOM.

    A node is whole before another thread sees it as a child.
    """
    ended_at = addresses(Spare(ended)).rows
    for j in range(n_leaves):
        node = insert_at(t, f, w.words, U(j) * t.n_words)
        if node < 0:
            return NO_ROOM
        if word_at(ended_at, U(j >> 6)) >> U(j & 63) & ONE != ZERO and node_at(t, node, nodes.SOLVED) == 0:
            _end_node(tables, t, f, values, j, node)
        put(w.end, U(j), node)
        publish()
        put_edge(t, at(w.slot, U(j)), nodes.CHILD, node)
    return OK


@subroutine
def make_leaves(tables, tree, t, f, walks, w, n_leaves, values, legal, lane_bits, ends_stuck):
    """Make the leaves' moves, and nodes of what they lead to; return OK, NO_ROOM or STUCK.

    *tree* and *walks* are arrays, *t* and *w* their addresses. Where *ends_stuck* is not 0, states in which a role has
    no legal move are ends.
    """
    tables_at, a = addresses(tables), addresses(Spare(values)).rows
    n_fluents, n_moves = tables.n_fluents, len(tables.choice_legal)
    walks.above[n_leaves:] = walks.above[0]
    load_lanes(tree.words, walks.above, values, 1, n_fluents)
    _evaluate_states(tables, values)
    lane_bits[:] = ZERO
    for j in range(n_leaves):
        if at(w.slot, U(j)) == nodes.NONE:
            lane_bits[0, j >> 6] |= ONE << U(j & 63)
    list_legal(tables, w, n_leaves, values, legal, lane_bits)
    lock(t.lock)
    ending = _open(t, f, w, n_leaves, n_moves)
    unlock(t.lock)
    if ending != OK:
        return ending
    _make_moves(a, tables, t, w, n_leaves, legal, lane_bits, values)
    _step(tables, values)
    save_lanes(values, 1, n_fluents, walks.words)
    _evaluate_states(tables, values)
    ended = literal(a, at(tables_at.terminal, ZERO))
    if ends_stuck != 0:
        for r in range(np.int64(f.n_roles)):
            begin, end = tables.role_start[0, r], tables.role_start[0, r + 1]
            ended = or_(ended, stuck_among(a, tables_at.choice_legal, begin, end))
    store(lane_bits, ZERO, ended)
    if any_bit(ended):
        _score(tables, values)
    lock(t.lock)
    ending = _insert_all(tables, t, f, w, n_leaves, values, lane_bits)
    unlock(t.lock)
    return ending
