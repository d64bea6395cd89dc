"""The walks of a batch, which go down step by step, those at a node together until they choose differently.

Each knows what those before it have chosen at the node. So a node is looked at once in a batch, which matters where
other threads write to it as well, and while one group chooses the processor fetches what the next ones look at: a tree
is larger than its caches.
"""

from typing import Final, NamedTuple

import numpy as np

from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.lanes import N_LANES
from gdl.compiler.kernels.words import ONE, ZERO, U, at, prefetch, put
from players.search.tree import nodes
from players.search.tree.backup import back_up
from players.search.tree.bounds import below, highest, weigh, weigh_again
from players.search.tree.nodes import edge_at, fetch_node, next_block, node_at
from players.search.tree.sharing import observe
from players.search.tree.walks import (
    AT_NODE,
    FULL,
    WALKING,
    count_choices,
    exploration_of,
    share_leaf,
    step_of,
    walk_alone,
)

_AHEAD: Final = 8
"""So many groups before one goes on the edges of its node are fetched."""
_MOST_LINES: Final = 4
"""Of more edges than these lines hold the processor sees by itself that they come one after the other."""


class Group(NamedTuple):
    """Walks that stand at the same node: those from `begin` to `end` in the order of walks."""

    begin: int
    end: int
    node: int
    depth: int


@inlined
def _place(depth, number):
    """Return where the group of a number is noted, of those that go on at a depth."""
    return U(3) * (U(depth & 1) * U(N_LANES) + U(number))


@inlined
def _wait(t, w, number, begin, end, node, depth):
    """Note the group that is to go on at a depth from a node, which is fetched until then."""
    place = _place(depth, number)
    put(w.waiting, place, begin)
    put(w.waiting, place + ONE, end)
    put(w.waiting, place + U(2), node)
    fetch_node(t, node)


@inlined
def _group(w, number, depth):
    place = _place(depth, number)
    return Group(at(w.waiting, place), at(w.waiting, place + ONE), at(w.waiting, place + U(2)), depth)


@inlined
def _fetch_edges(t, f, w, number, depth):
    """Have the processor fetch the edges of the node of a group."""
    node = at(w.waiting, _place(depth, number) + U(2))
    first, d = node_at(t, node, nodes.FIRST), node_at(t, node, nodes.DECIDER)
    if first >= 0 and d != nodes.SIMULTANEOUS:
        n = node_at(t, node, nodes.BOUNDS + np.int64(f.n_roles) + d)
        line = first // nodes.EDGES_A_LINE
        for more in range(min(next_block(n) // nodes.EDGES_A_LINE, _MOST_LINES)):
            prefetch(t.edge, U(line + more))


@subroutine
def _begin_walks(t, w, root, n_walks):
    """Let all walks of a batch wait at the root."""
    for i in range(U(n_walks)):
        put(w.order, i, np.int64(i))
        put(w.depth, i, 0)
        put(w.leaf, i, WALKING)
    _wait(t, w, 0, 0, n_walks, root, 0)


@subroutine
def _open_together(t, f, w, group, mark, n_leaves):
    """Let the walks of a group share the leaf of its node's mark, or open it; return how many leaves there are then."""
    step = step_of(at(w.order, U(group.begin)), group.depth)
    leaf = share_leaf(t, f, w, step, group.node, np.int64(nodes.NONE), mark, n_leaves)
    _put_leaf(w, group.begin, group.end, leaf)
    for k in range(group.begin, group.end):
        i = at(w.order, U(k))
        put(w.node, step_of(i, group.depth), group.node)
        put(w.edge, step_of(i, group.depth), nodes.NONE)
        put(w.depth, U(i), group.depth + 1)
    return max(n_leaves, leaf + 1)


@inlined
def _choose_all(t, f, w, group, knobs):
    """Let each walk of a group, at a node where one role chooses, take an edge, one walk after the other.

    Bounds are found once: a walk changes that of its edge alone, and those of the others hardly.
    """
    d, first = node_at(t, group.node, nodes.DECIDER), node_at(t, group.node, nodes.FIRST)
    n = node_at(t, group.node, nodes.BOUNDS + np.int64(f.n_roles) + d)
    floor = node_at(t, group.node, nodes.BOUNDS + d) & nodes.LOW
    by_bounds, share, is_judged = d != np.int64(f.chance), np.float32(knobs.minimax_share), knobs.looks_ahead
    c = weigh(t, w, first, n, floor, exploration_of(w, d, knobs), share, is_judged) if by_bounds else np.float32(0)
    for k in range(group.begin, group.end):
        i = at(w.order, U(k))
        step = step_of(i, group.depth)
        slot = first + (highest(w, n) if by_bounds else below(w, n))
        count_choices(t, f, w, step, group.node, slot)
        put(w.node, step, group.node)
        put(w.edge, step, slot)
        put(w.depth, U(i), group.depth + 1)
        if by_bounds:
            weigh_again(t, w, first, n, slot - first, c, floor, share, is_judged)


@inlined
def _end_of_same(w, begin, end, depth):
    """Bring those walks of a group together that have chosen as the one at *begin*; return where they end."""
    slot, last = at(w.edge, step_of(at(w.order, U(begin)), depth)), begin + 1
    for k in range(begin + 1, end):
        i = at(w.order, U(k))
        if at(w.edge, step_of(i, depth)) == slot:
            put(w.order, U(k), at(w.order, U(last)))
            put(w.order, U(last), i)
            last += 1
    return last


@inlined
def _put_leaf(w, begin, end, leaf):
    for k in range(begin, end):
        put(w.leaf, U(at(w.order, U(k))), leaf)


@inlined
def _walk_on(t, f, w, group, n_waiting, n_leaves, knobs):
    """Let a group go on from its node, which is opened; those that have chosen alike then wait, or share a leaf.

    Returns how many groups wait then, and how many leaves there are.
    """
    _choose_all(t, f, w, group, knobs)
    begin = group.begin
    while begin < group.end:
        end = _end_of_same(w, begin, group.end, group.depth)
        step = step_of(at(w.order, U(begin)), group.depth)
        slot = at(w.edge, step)
        child = edge_at(t, slot, nodes.CHILD)
        if child < 0:
            leaf = share_leaf(t, f, w, step, group.node, slot, child, n_leaves)
            _put_leaf(w, begin, end, leaf)
            n_leaves = max(n_leaves, leaf + 1)
        else:
            _wait(t, w, n_waiting, begin, end, child, group.depth + 1)
            n_waiting += 1
        begin = end
    return np.int64(n_waiting), np.int64(n_leaves)


@subroutine
def _add_ended(t, f, w, group):
    """Add up the walks of a group whose node is solved, or too deep, where they count as even."""
    node = group.node
    is_solved = node_at(t, node, nodes.SOLVED) != 0
    for k in range(group.begin, group.end):
        i = at(w.order, U(k))
        for r in range(np.int64(f.n_roles)):
            goal = node_at(t, node, nodes.BOUNDS + r) & nodes.LOW if is_solved else np.int64(nodes.EVEN)
            put(w.goals, U(i) * f.n_roles + U(r), goal)
        back_up(t, f, w, i, node)
        put(w.leaf, U(i), nodes.ENDED)


@subroutine
def _walk_each(t, f, w, group, n_leaves, knobs):
    """Let the walks of a group go on alone, one after the other; return how many ended, FULL without room, and leaves.

    So it is where roles choose at once, and each is to know what those before it came to, if that is known at once: all
    would else choose alike; and where plays say what moves are worth, which a walk takes along from node to node.
    """
    n_ended = np.int64(0)
    for k in range(group.begin, group.end):
        i = at(w.order, U(k))
        leaf = walk_alone(t, f, w, i, group.node, group.depth, n_leaves, knobs)
        if leaf == FULL:
            return np.int64(FULL), np.int64(n_leaves)
        if leaf <= AT_NODE:
            _add_ended(t, f, w, Group(k, k + 1, AT_NODE - leaf, group.depth))
            n_ended += 1
        else:
            put(w.leaf, U(i), leaf)
            n_leaves = max(n_leaves, leaf + 1)
    return n_ended, np.int64(n_leaves)


@subroutine
def _step_all(t, f, w, n_groups, depth, n_leaves, knobs):
    """Let all groups at a depth go on by a step.

    Returns how many groups there are at the next one, FULL where there is no room, how many leaves there are, and how
    many walks ended.
    """
    n_next, n_ended = np.int64(0), np.int64(0)
    for number in range(n_groups):
        if number + _AHEAD < n_groups:
            _fetch_edges(t, f, w, number + _AHEAD, depth)
        group = _group(w, number, depth)
        first = node_at(t, group.node, nodes.FIRST)  # once: another thread may open the node in the meantime
        if node_at(t, group.node, nodes.SOLVED) != 0 or depth >= nodes.MAX_DEPTH:
            _add_ended(t, f, w, group)
            n_ended += group.end - group.begin
        elif first < 0:
            n_leaves = _open_together(t, f, w, group, first, n_leaves)
        elif node_at(t, group.node, nodes.DECIDER) == nodes.SIMULTANEOUS or t.uses_amaf != ZERO:
            n_more, n_leaves = _walk_each(t, f, w, group, n_leaves, knobs)
            if n_more == FULL:
                return n_more, n_leaves, n_ended
            n_ended += n_more
        else:
            observe()
            n_next, n_leaves = _walk_on(t, f, w, group, n_next, n_leaves, knobs)
    return n_next, np.int64(n_leaves), n_ended


@subroutine
def select_leaves(t, f, w, root, n_walks, knobs):
    """Walk to leaves; return how many walks need them, and how many leaves there are, below zero without room."""
    _begin_walks(t, w, root, n_walks)
    n_groups, n_leaves, n_left, depth = np.int64(1), np.int64(0), np.int64(n_walks), 0
    while n_groups > 0:
        n_groups, n_leaves, n_ended = _step_all(t, f, w, n_groups, depth, n_leaves, knobs)
        n_left -= n_ended
        depth += 1
    return n_left, n_leaves if n_groups != FULL else -1 - n_leaves
