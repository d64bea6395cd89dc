"""The walks of a round, which go on from a node together and part where they choose differently.

Each knows what those before it have chosen at the node. So a node is looked at once in a round, which matters where
other threads write to it as well.
"""

from typing import NamedTuple

import numpy as np

from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.words import ONE, U, at, put
from players.search.tree import nodes
from players.search.tree.backup import back_up
from players.search.tree.nodes import edge_at, node_at
from players.search.tree.sharing import observe
from players.search.tree.walks import (
    AT_NODE,
    FULL,
    WALKING,
    chosen_slot,
    count_choices,
    share_leaf,
    step_of,
    walk_alone,
)


class Group(NamedTuple):
    """Walks that stand at the same node: those from `begin` to `end` in the order of walks."""

    begin: int
    end: int
    node: int
    depth: int


@inlined
def _wait(w, n_waiting, begin, end, node, depth):
    """Put a group where it waits to go on from a node."""
    place = U(4 * n_waiting)
    put(w.waiting, place, begin)
    put(w.waiting, place + ONE, end)
    put(w.waiting, place + U(2), node)
    put(w.waiting, place + U(3), depth)


@subroutine
def _begin_walks(w, root, n_walks):
    """Let all walks of a round wait at the root."""
    for i in range(U(n_walks)):
        put(w.order, i, np.int64(i))
        put(w.depth, i, 0)
        put(w.leaf, i, WALKING)
    _wait(w, 0, 0, n_walks, root, 0)


@inlined
def _next_group(w, n_waiting):
    """Return the group that has come last of those that wait."""
    place = U(4 * (n_waiting - 1))
    return Group(
        at(w.waiting, place), at(w.waiting, place + ONE), at(w.waiting, place + U(2)), at(w.waiting, place + U(3))
    )


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


@subroutine
def _choose_all(t, f, w, group, knobs):
    """Let each walk of a group choose an edge, one after the other; return whether there was room for joint moves."""
    for k in range(group.begin, group.end):
        i = at(w.order, U(k))
        step = step_of(i, group.depth)
        put(w.node, step, group.node)
        slot = chosen_slot(t, f, w, group.node, step, knobs)
        if slot < 0:
            return False
        count_choices(t, f, w, step, group.node, slot)
        put(w.edge, step, slot)
        put(w.depth, U(i), group.depth + 1)
    return True


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
def _first_alone(t, w, group, n_waiting):
    """Return the group, or its first walk where roles choose at once, and how many groups wait then.

    There the next walk is to know what this one comes to, if that is known at once: all would else choose alike.
    """
    end = group.end
    if node_at(t, group.node, nodes.DECIDER) == nodes.SIMULTANEOUS and group.end - group.begin > 1:
        end = group.begin + 1
        _wait(w, n_waiting, end, group.end, group.node, group.depth)
        n_waiting += 1
    return Group(group.begin, end, group.node, group.depth), n_waiting


@subroutine
def _walk_on(t, f, w, group, n_waiting, n_leaves, knobs):
    """Let a group go on from its node, which is opened; those that have chosen alike then wait, or share a leaf.

    Returns how many groups wait then, FULL where there is no room, and how many leaves there are.
    """
    if not _choose_all(t, f, w, group, knobs):
        return np.int64(FULL), np.int64(n_leaves)
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
            _wait(w, n_waiting, begin, end, child, group.depth + 1)
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
def select_leaves(t, f, w, root, n_walks, knobs):
    """Walk to leaves; return how many walks need them, and how many leaves there are, below zero without room."""
    _begin_walks(w, root, n_walks)
    n_waiting, n_leaves, n_ended, has_room = np.int64(1), np.int64(0), np.int64(0), True
    while n_waiting > 0 and has_room:
        group, n_waiting = _first_alone(t, w, _next_group(w, n_waiting), n_waiting - 1)
        first = node_at(t, group.node, nodes.FIRST)  # once: another thread may open the node in the meantime
        if group.end - group.begin == 1:
            i = at(w.order, U(group.begin))
            leaf = walk_alone(t, f, w, i, group.node, group.depth, n_leaves, knobs)
            has_room = leaf != FULL
            if leaf <= AT_NODE:
                _add_ended(t, f, w, Group(group.begin, group.end, AT_NODE - leaf, group.depth))
                n_ended += 1
            elif has_room:
                put(w.leaf, U(i), leaf)
                n_leaves = max(n_leaves, leaf + 1)
        elif node_at(t, group.node, nodes.SOLVED) != 0 or group.depth >= nodes.MAX_DEPTH:
            _add_ended(t, f, w, group)
            n_ended += group.end - group.begin
        elif first < 0:
            n_leaves = _open_together(t, f, w, group, first, n_leaves)
        else:
            observe()
            n_waiting, n_leaves = _walk_on(t, f, w, group, n_waiting, n_leaves, knobs)
            has_room = n_waiting != FULL
    return n_walks - n_ended, n_leaves if has_room else -1 - n_leaves
