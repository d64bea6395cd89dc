"""The first stage of a batch: walks down the tree, each to a leaf that is to be made or opened.

Walks that come to a node go on from there together: each chooses, knowing what those before it have chosen there, and
they part only then. So a node is looked at once in a batch, which matters where other threads write to it as well.
Kernels of the tree take addresses instead of arrays: arrays would be counted as referred to at every step. A call hands
some fifty addresses on by the stack, so that what is called at each step of a walk is inlined.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.lanes import N_LANES
from gdl.compiler.kernels.words import ZERO, U, at, float_at, put
from players.search.tree import nodes
from players.search.tree.bandits import REGRET, UCB, best_edge_by_amaf, draw_by_regret
from players.search.tree.bounds import below, best_edge
from players.search.tree.deviation import N_SUMS
from players.search.tree.joint import joint_key, joint_place, joint_slot
from players.search.tree.nodes import EDGES_A_LINE, add_edge, add_pending, edge_at, node_at
from players.search.tree.sharing import lock, observe, replaced, unlock

FULL: Final = -1
"""There is no room for a joint move."""
AT_NODE: Final = -2
"""What stands for node 0 where a walk ended at a node; nodes count down from there."""
WALKING: Final = -2
"""The leaf of a walk that is still on its way."""


class Walks(NamedTuple):
    """The walks of a batch and their leaves. *Shapes*: 512 walks and leaves, D steps, R roles, M moves, S words.

    Of each walk: `node` and `edge` (512, D), where several roles choose `role_edge` (512, D, R) and its probability,
    `likely`, `depth`, `leaf`, and what it came to, `goals` (512, R), in percent. Of each leaf: the node `above`, the
    edges `chosen` (512, R) there, -1 for what is forced, the `slot` that leads to it, NONE where the node above is to
    be opened first, the node that it became, `end`, and its `words` (512, S). `legal` (512, M) and `n_legal`
    (512, R + 1): the moves of opened nodes. `reference` (M, 2): what plays say of moves, for nodes with few. `bounds`
    (M + 4,) are those of the edges at a node.
    `goal_sums` (R, 3) add up what walks came to, and `deviation` (R,) is how wide it lets bounds be. Leaves count from
    `first_leaf` on where other threads see them. `order` (512,) are the walks group by group, and `waiting` (2, 512, 3)
    the groups that are to go on at even depths and at odd ones: where they begin and end, and the node.
    """

    node: NDArray[np.int32]
    edge: NDArray[np.int32]
    role_edge: NDArray[np.int32]
    depth: NDArray[np.int32]
    leaf: NDArray[np.int32]
    goals: NDArray[np.int32]
    likely: NDArray[np.float32]
    above: NDArray[np.int32]
    chosen: NDArray[np.int32]
    slot: NDArray[np.int32]
    end: NDArray[np.int32]
    words: NDArray[np.uint64]
    legal: NDArray[np.int32]
    n_legal: NDArray[np.int32]
    random: NDArray[np.uint64]
    reference: NDArray[np.float32]
    bounds: NDArray[np.float32]
    goal_sums: NDArray[np.uint64]
    deviation: NDArray[np.float32]
    order: NDArray[np.int32]
    waiting: NDArray[np.int32]
    first_leaf: int


def walks_for(n_roles: int, n_moves: int, n_words: int, seed: int, number: int) -> Walks:
    """Return room for the walks of a batch, for the thread of a *number*."""

    def ints(*shape: int) -> NDArray[np.int32]:
        return np.zeros(shape, np.int32)

    return Walks(
        node=ints(N_LANES, nodes.MAX_DEPTH),
        edge=ints(N_LANES, nodes.MAX_DEPTH),
        role_edge=ints(N_LANES, nodes.MAX_DEPTH, n_roles),
        depth=ints(N_LANES),
        leaf=ints(N_LANES),
        goals=ints(N_LANES, n_roles),
        likely=np.ones((N_LANES, nodes.MAX_DEPTH, n_roles), np.float32),
        above=ints(N_LANES),
        chosen=ints(N_LANES, n_roles),
        slot=ints(N_LANES),
        end=ints(N_LANES),
        words=np.zeros((N_LANES, n_words), np.uint64),
        legal=ints(N_LANES, n_moves),
        n_legal=ints(N_LANES, n_roles + 1),
        random=np.array([2 * seed + 1], np.uint64),
        reference=np.zeros((n_moves, 2), np.float32),
        bounds=np.zeros(n_moves + EDGES_A_LINE, np.float32),
        goal_sums=np.zeros((n_roles, N_SUMS), np.uint64),
        deviation=np.ones(n_roles, np.float32),
        order=ints(N_LANES),
        waiting=ints(2, N_LANES, 3),
        first_leaf=number * N_LANES,
    )


@inlined
def step_of(i, depth):
    """Return the place of a step of a walk in the arrays of steps."""
    return U(i) * U(nodes.MAX_DEPTH) + U(depth)


@inlined
def exploration_of(w, r, knobs):
    """Return how much a role explores: less, where the goals of walks lie close together."""
    return np.float32(knobs.exploration) * float_at(w.deviation, U(r))


@inlined
def _best_edge(t, w, r, first, n, floor, knobs, minimax_share):
    exploration = exploration_of(w, r, knobs)
    if t.uses_amaf != ZERO:
        found = best_edge_by_amaf(t, w, first, n, floor, exploration, np.float32(knobs.amaf_bias))
    else:
        found = best_edge(t, w, first, n, floor, exploration, np.float32(minimax_share), knobs.looks_ahead)
    return found


@subroutine
def _chosen_joint(t, f, w, node, step, knobs):
    """Let each role choose by its own statistics; return the edge that leads on, -1 where there is no room."""
    first, n_roles = node_at(t, node, nodes.FIRST), np.int64(f.n_roles)
    for r in range(n_roles):
        n, edge = node_at(t, node, nodes.BOUNDS + n_roles + r), nodes.NONE
        if n > 0:
            if r == np.int64(f.chance):
                edge = first + below(w, n)
            elif t.rule == U(REGRET):
                edge = draw_by_regret(t, w, step * f.n_roles + U(r), first, n)
            else:
                edge = _best_edge(t, w, r, first, n, -1, knobs, 0.0)
            first += n
        put(w.role_edge, step * f.n_roles + U(r), edge)
    key = joint_key(t, node, w.role_edge, step * f.n_roles, f.n_roles)
    slot = at(t.joint_edge, joint_place(t, key))
    if slot == 0:
        lock(t.lock)
        slot = joint_slot(t, node, key)
        unlock(t.lock)
    return slot


@inlined
def counts_early(t, node):
    """Return whether a walk counts as lost for roles that choose at once until its goals are known."""
    return node_at(t, node, nodes.DECIDER) == nodes.SIMULTANEOUS and t.rule == U(UCB)


@inlined
def count_early(t, edge, n_walks):
    """Count a walk that is on its way along an edge, or take that back with -1."""
    add_edge(t, edge, nodes.VISITS, n_walks)
    if t.uses_amaf != ZERO:
        add_pending(t, edge, n_walks)


@inlined
def count_choices(t, f, w, step, node, slot):
    """Count a walk at the edges that it takes: until its goals are known it is as good as lost."""
    count_early(t, slot, 1)
    if counts_early(t, node):
        for r in range(f.n_roles):
            edge = at(w.role_edge, step * f.n_roles + r)
            if edge >= 0:
                count_early(t, edge, 1)


@inlined
def _mark_of(w, leaf):
    """Return what stands for a leaf of this batch, below zero, in place of a child or a first edge."""
    return nodes.NONE - 1 - np.int64(w.first_leaf) - leaf


@inlined
def _leaf_of(w, mark):
    """Return which leaf of this batch a mark stands for, -1 where it is that of another thread, or none."""
    leaf = _mark_of(w, 0) - mark
    return leaf if 0 <= leaf < N_LANES else np.int64(-1)


@inlined
def unmark(t, w, leaf):
    """Take back the mark of a leaf that was not made, where it is there."""
    slot, node = at(w.slot, U(leaf)), at(w.above, U(leaf))
    if slot == nodes.NONE:
        replaced(t.node, U(node) * t.width + U(nodes.FIRST), _mark_of(w, leaf), np.int64(nodes.UNOPENED))
    else:
        replaced(t.edge, U(4) * U(slot) + U(nodes.CHILD), _mark_of(w, leaf), np.int64(nodes.NONE))


@inlined
def _begin_leaf(t, f, w, step, node, slot, n_leaves):
    """Note a new leaf below *slot*, or, where that is NONE, below an edge that the node is to get first."""
    put(w.above, U(n_leaves), node)
    put(w.slot, U(n_leaves), slot)
    d = node_at(t, node, nodes.DECIDER)
    for r in range(f.n_roles):
        edge = np.int64(nodes.NONE)
        if slot != nodes.NONE and d == nodes.SIMULTANEOUS:
            edge = at(w.role_edge, step * f.n_roles + r)
        elif slot != nodes.NONE and np.int64(r) == d:
            edge = slot
        put(w.chosen, U(n_leaves) * f.n_roles + r, edge)


@inlined
def chosen_slot(t, f, w, node, step, knobs):
    """Choose a move at an opened node; return the edge that leads on, -1 where there is no room."""
    d, first = node_at(t, node, nodes.DECIDER), node_at(t, node, nodes.FIRST)
    if d == nodes.SIMULTANEOUS:
        slot = _chosen_joint(t, f, w, node, step, knobs)
    else:
        n = node_at(t, node, nodes.BOUNDS + np.int64(f.n_roles) + d)
        if d == np.int64(f.chance):
            slot = first + below(w, n)
        else:
            floor = node_at(t, node, nodes.BOUNDS + d) & nodes.LOW
            slot = _best_edge(t, w, d, first, n, floor, knobs, knobs.minimax_share)
    return slot


@inlined
def share_leaf(t, f, w, step, node, slot, mark, n_leaves):
    """Return the leaf below *slot*, or of a node to be opened where that is NONE: that of a mark, or the next one."""
    leaf = _leaf_of(w, mark)
    if leaf < 0:
        leaf = np.int64(n_leaves)
        _begin_leaf(t, f, w, step, node, slot, leaf)
        if slot == nodes.NONE:
            replaced(t.node, U(node) * t.width + U(nodes.FIRST), mark, _mark_of(w, leaf))
        else:
            replaced(t.edge, U(4) * U(slot) + U(nodes.CHILD), mark, _mark_of(w, leaf))
    return leaf


@subroutine
def walk_alone(t, f, w, i, begun, depth, n_leaves, knobs):
    """Walk down to the end from a node; return the leaf, or FULL, or AT_NODE - node where it ended at a node."""
    node = np.int64(begun)
    while node_at(t, node, nodes.SOLVED) == 0 and depth < nodes.MAX_DEPTH:
        step = step_of(i, depth)
        put(w.node, step, node)
        depth += 1
        first = node_at(t, node, nodes.FIRST)
        if first < 0:
            put(w.edge, step, nodes.NONE)
            put(w.depth, U(i), depth)
            return share_leaf(t, f, w, step, node, np.int64(nodes.NONE), first, n_leaves)
        observe()
        slot = chosen_slot(t, f, w, node, step, knobs)
        if slot < 0:
            return np.int64(FULL)
        count_choices(t, f, w, step, node, slot)
        put(w.edge, step, slot)
        put(w.depth, U(i), depth)
        child = edge_at(t, slot, nodes.CHILD)
        if child < 0:
            return share_leaf(t, f, w, step, node, slot, child, n_leaves)
        node = child
    return AT_NODE - node
