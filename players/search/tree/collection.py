"""Recycling: what can still be reached from a state is moved together in the room of its tree, and the rest forgotten.

It goes in stages, each for the whole tree: nodes that are kept are marked, they move down in the order in which they
lie, so do their edges, and what names a node or an edge by its number is mended.
Source: Jones, Hosking and Moss 2011, The Garbage Collection Handbook, mark-compact collection.
"""

from math import inf
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.jit import inlined, kernel, subroutine
from gdl.compiler.kernels.lanes import N_LANES
from gdl.compiler.kernels.packing import copy_words
from gdl.compiler.kernels.words import ONE, ZERO, U, W, addresses, at, prefetch, put, put_word, word_at
from players.search.tree import nodes
from players.search.tree.joint import joint_place
from players.search.tree.leaves import place_of
from players.search.tree.nodes import (
    RuleFacts,
    Tree,
    amaf_at,
    edge_at,
    edge_minimax,
    fetch_node,
    move_at,
    next_block,
    node_at,
    node_minimax,
    put_amaf,
    put_edge,
    put_edge_minimax,
    put_node,
    put_node_minimax,
)

_KEPT_NODES: Final = 1 / 2
_KEPT_EDGES: Final = 3 / 4
"""How much of its room is in use after a tree is recycled, at most."""
_KEPT_JOINT: Final = 3 / 4
"""The same of its joint moves, of which there may be many more than nodes: those of different nodes lead to one."""
_GROWTH: Final = 2
"""Where too much is left, only what is below edges with so many times as many walks is kept, and so on."""
_TOO_MUCH: Final = -1
_TOO_MANY_JOINT: Final = -2
"""What is said in place of the number of marked nodes: too many of them, or of their edges, or of their joint moves."""
_DROPPED: Final = -1
"""Where a node moves that is not kept; until it is known where, those that are have zero."""
_NOTHING: Final = -2
_JOINT: Final = -1
"""What begins at an edge in place of the edges of a node: nothing that is kept, or the edge of a joint move."""
_AHEAD: Final = 8
_FAR_AHEAD: Final = 16
"""How many nodes before they are looked at their edges are fetched, and they themselves."""


class _Moves(NamedTuple):
    """What is kept, and where it moves. *Shapes*: N nodes, E edges.

    `node` (N,) is where a node moves, `queue` (N,) are those that are kept, the root first, and `owner` (E,) is that
    whose edges begin there, by its old number; for the edge of a joint move it is where it moves, once it has.
    """

    node: NDArray[np.int32]
    owner: NDArray[np.int32]
    queue: NDArray[np.int32]


@inlined
def _n_edges_of(t, f, node):
    """Return how many edges an opened node has, joint moves not counted."""
    n = np.int64(0)
    for r in range(np.int64(f.n_roles)):
        n += node_at(t, node, nodes.BOUNDS + np.int64(f.n_roles) + r)
    return n


@inlined
def _is_joint(t, node):
    return node_at(t, node, nodes.DECIDER) == nodes.SIMULTANEOUS


@inlined
def _mark_below(t, m, edge, min_visits, n_marked):
    """Mark what an edge leads to, where it was taken often enough; return how many nodes are marked then."""
    child = edge_at(t, edge, nodes.CHILD)
    if child >= 0 and edge_at(t, edge, nodes.VISITS) >= min_visits and at(m.node, U(child)) == _DROPPED:
        put(m.node, U(child), 0)
        put(m.queue, U(n_marked), child)
        n_marked += 1
    return n_marked


@inlined
def _thin_joint(t, first, min_visits):
    """Take those joint moves out of the chain of a node that were made less often."""
    before, column, slot = first, nodes.CHILD, edge_at(t, first, nodes.CHILD)
    while slot >= 0:
        following = edge_at(t, slot, nodes.TOTAL)
        if edge_at(t, slot, nodes.VISITS) < min_visits:
            put_edge(t, before, column, following)
        else:
            before, column = slot, nodes.TOTAL
        slot = following


@kernel
def _mark(tree, rules, moves, root, min_visits, min_joint_visits, max_nodes, max_edges, max_joint):
    """Mark the nodes that can be reached from *root* by edges that were taken *min_visits* times.

    Joint moves that were made less than *min_joint_visits* times are forgotten. Returns how many nodes there are,
    _TOO_MUCH where they or their edges are too many, or _TOO_MANY_JOINT.
    """
    t, f, m = addresses(tree), addresses(rules), addresses(moves)
    put(m.node, U(root), 0)
    put(m.queue, ZERO, root)
    n_marked, n_done, n_edges, n_joint = np.int64(1), np.int64(0), np.int64(1), np.int64(0)
    while n_done < n_marked:
        node = at(m.queue, U(n_done))
        n_done += 1
        if n_done + _FAR_AHEAD < n_marked:
            fetch_node(t, at(m.queue, U(n_done + _FAR_AHEAD)))
            ahead = node_at(t, at(m.queue, U(n_done + _AHEAD)), nodes.FIRST)
            if ahead >= 0:
                prefetch(t.edge, U(ahead // nodes.EDGES_A_LINE))
        first = node_at(t, node, nodes.FIRST)
        if first < 0:
            continue
        n = _n_edges_of(t, f, node)
        n_edges = next_block(n_edges) + n
        put(m.owner, U(first), node)
        if _is_joint(t, node):
            _thin_joint(t, first, min_joint_visits)
            slot = edge_at(t, first, nodes.CHILD)
            while slot >= 0:
                put(m.owner, U(slot), _JOINT)
                n_edges, n_joint = n_edges + 1, n_joint + 1
                n_marked = _mark_below(t, m, slot, min_visits, n_marked)
                slot = edge_at(t, slot, nodes.TOTAL)
        else:
            for edge in range(first, first + n):
                n_marked = _mark_below(t, m, edge, min_visits, n_marked)
        if n_marked > max_nodes or n_edges > max_edges:
            return np.int64(_TOO_MUCH)
        if n_joint > max_joint:
            return np.int64(_TOO_MANY_JOINT)
    return n_marked


@kernel
def _slide_nodes(tree, moves):
    """Move the marked nodes together, and note where they are."""
    t, m = addresses(tree), addresses(moves)
    to = np.int64(0)
    for node in range(np.int64(word_at(t.size, ZERO))):
        if at(m.node, U(node)) == _DROPPED:
            continue
        put(m.node, U(node), to)
        copy_words(t.words, U(to) * t.n_words, t.words, U(node) * t.n_words, t.n_words)
        for column in range(t.width):
            put_node(t, to, column, node_at(t, node, column))
        if t.uses_minimax != ZERO:
            put_node_minimax(t, to, node_minimax(t, node))
        to += 1
    put_word(t.size, ZERO, U(to))


@subroutine
def _slide_edge(t, edge, to):
    for column in range(4):
        put_edge(t, to, column, edge_at(t, edge, column))
    put(t.move, U(to), move_at(t, edge))
    if t.uses_amaf != ZERO:
        for column in range(3):
            put_amaf(t, to, column, amaf_at(t, edge, column))
    if t.uses_minimax != ZERO:
        put_edge_minimax(t, to, edge_minimax(t, edge))


@kernel
def _slide_edges(tree, rules, moves):
    """Move the edges together of nodes that have moved, and those of joint moves, in the order in which they lie."""
    t, f, m = addresses(tree), addresses(rules), addresses(moves)
    end, n_before = np.int64(1), np.int64(word_at(t.size, ONE))
    distance = 1 if word_at(t.size, U(2)) != ZERO else nodes.EDGES_A_LINE
    for begin in range(0, n_before, distance):
        owner, n, to = at(m.owner, U(begin)), np.int64(1), end
        if owner == _NOTHING:
            continue
        if owner == _JOINT:
            put(m.owner, U(begin), to)
        else:
            node = at(m.node, U(owner))
            n, to = _n_edges_of(t, f, node), next_block(end)
            put_node(t, node, nodes.FIRST, to)
        for i in range(n):
            _slide_edge(t, begin + i, to + i)
        end = to + n
    put_word(t.size, ONE, U(end))


@inlined
def _new_child(m, child):
    return at(m.node, U(child)) if child >= 0 else np.int64(nodes.NONE)


@inlined
def _list_joint(t, slot):
    """List the edge of a joint move, which keeps its hash in place of bounds and a move."""
    key = (U(edge_at(t, slot, nodes.LIMITS)) << U(32)) | (U(move_at(t, slot)) & U(0xFFFFFFFF))
    i = joint_place(t, key)
    put_word(t.joint_key, i, key)
    put(t.joint_edge, i, slot)
    put_word(t.size, U(2), word_at(t.size, U(2)) + ONE)


@subroutine
def _mend_joint(t, m, first):
    """Mend the chain of a node's joint moves, which begins at its first edge, and list them."""
    head = edge_at(t, first, nodes.CHILD)
    slot = at(m.owner, U(head)) if head >= 0 else np.int64(nodes.NONE)
    put_edge(t, first, nodes.CHILD, slot)
    while slot >= 0:
        _list_joint(t, slot)
        put_edge(t, slot, nodes.CHILD, _new_child(m, edge_at(t, slot, nodes.CHILD)))
        before = edge_at(t, slot, nodes.TOTAL)
        before = at(m.owner, U(before)) if before >= 0 else np.int64(nodes.NONE)
        put_edge(t, slot, nodes.TOTAL, before)
        slot = before


@kernel
def _mend(tree, rules, moves):
    """List nodes and joint moves by their hashes anew, and let edges lead to where nodes are now."""
    t, f, m = addresses(tree), addresses(rules), addresses(moves)
    n_nodes = np.int64(word_at(t.size, ZERO))
    for node in range(n_nodes):
        if node + _AHEAD < n_nodes:
            prefetch(t.table, place_of(t, t.words, U(node + _AHEAD) * t.n_words) // U(2 * W))
        i = place_of(t, t.words, U(node) * t.n_words)
        while at(t.table, i) != 0:
            i = (i + ONE) & t.table_mask
        put(t.table, i, node + 1)
        first = node_at(t, node, nodes.FIRST)
        if first >= 0 and _is_joint(t, node):
            _mend_joint(t, m, first)
        elif first >= 0:
            for edge in range(first, first + _n_edges_of(t, f, node)):
                put_edge(t, edge, nodes.CHILD, _new_child(m, edge_at(t, edge, nodes.CHILD)))


def _marked(tree: Tree, facts: RuleFacts, root: int, max_nodes: float) -> _Moves:
    """Return moves in which all is marked that is kept: as much as fits, of what was visited most."""
    n_nodes, n_edges, _ = tree.size.tolist()
    moves = _Moves(*(np.empty(n, np.int32) for n in (n_nodes, n_edges, n_nodes)))
    joint_room = (tree.joint_mask + 1) // 2
    # What is left is enough for a batch, in which each walk makes one joint move more at most.
    most_joint = int(min(_KEPT_JOINT * joint_room, joint_room - N_LANES))
    most = int(min(_KEPT_NODES * tree.max_nodes, max_nodes)), int(_KEPT_EDGES * tree.max_edges), most_joint
    min_visits, min_joint_visits = 1 if n_nodes <= most[0] and n_edges <= most[1] else _GROWTH, 0
    found = _TOO_MUCH
    while found < 0:
        moves.node.fill(_DROPPED)
        moves.owner.fill(_NOTHING)
        found = int(_mark(tree, facts, moves, root, min_visits, min_joint_visits, *most))
        if found == _TOO_MANY_JOINT:
            min_joint_visits = max(1, min_joint_visits * _GROWTH)
        else:
            min_visits *= _GROWTH
    return moves


def collect(tree: Tree, facts: RuleFacts, root: int, max_nodes: float = inf) -> int:
    """Forget what cannot be reached from *root*, or was visited too seldom for half of the room; return its new number.

    At most *max_nodes* are kept. No thread may be at work on the tree.
    """
    moves = _marked(tree, facts, root, max_nodes)
    _slide_nodes(tree, moves)
    _slide_edges(tree, facts, moves)
    tree.table.fill(0)
    tree.joint_edge.fill(0)
    tree.size[2] = 0
    _mend(tree, facts, moves)
    return int(moves.node[root])
