"""Joint moves: where several roles choose at a node, an edge leads on for each of them, found by a hash."""

import numpy as np

from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.words import ONE, ZERO, U, at, put, put_word, word_at
from players.search.tree import nodes
from players.search.tree.nodes import edge_at, move_at, node_at, put_edge
from players.search.tree.sharing import observe, publish


@inlined
def _mixed(h, x):
    h = (h ^ x) * U(0x9E3779B97F4A7C15)
    return h ^ (h >> U(29))


@subroutine
def hash_at(words, begin, n):
    """Return a hash of the *n* words from number *begin* on of those at an address."""
    h = U(1469598103934665603)
    for s in range(U(n)):
        h = _mixed(h, word_at(words, begin + s))
    return h


@subroutine
def joint_key(t, node, chosen, begin, n_roles):
    """Return a hash of a joint move at a node; it is the same wherever the node lies.

    The edges of the roles are the items of *chosen* from number *begin* on.
    """
    h = hash_at(t.words, U(node) * t.n_words, t.n_words)
    for r in range(U(n_roles)):
        edge = at(chosen, begin + r)
        h = _mixed(h, U(move_at(t, edge) + 1) if edge >= 0 else ZERO)
    return h


@inlined
def joint_place(t, key):
    """Return the place of a joint move in the table, or, where it is not there, the place where it is to be."""
    i = key & t.joint_mask
    while at(t.joint_edge, i) != 0:
        observe()
        if word_at(t.joint_key, i) == key:
            break
        i = (i + ONE) & t.joint_mask
    return i


@subroutine
def joint_slot(t, node, key):
    """Return the edge that leads on after a joint move, a new one where there is none; -1 where there is no room.

    To be called with the lock.
    """
    i = joint_place(t, key)
    if at(t.joint_edge, i) != 0:
        return at(t.joint_edge, i)
    slot, n_joint = word_at(t.size, U(1)), word_at(t.size, U(2))
    if slot + ONE > t.max_edges or U(2) * n_joint > t.joint_mask:
        return np.int64(-1)
    put_word(t.size, U(1), slot + ONE)
    put_word(t.size, U(2), n_joint + ONE)
    put_word(t.joint_key, i, key)
    first = node_at(t, node, nodes.FIRST)
    put_edge(t, slot, nodes.TOTAL, edge_at(t, first, nodes.CHILD))
    put_edge(t, slot, nodes.VISITS, 0)
    put_edge(t, slot, nodes.CHILD, nodes.NONE)
    put_edge(t, slot, nodes.LIMITS, np.int64(key >> U(32)))
    put(t.move, slot, np.int64(key & U(0xFFFFFFFF)))
    put_edge(t, first, nodes.CHILD, np.int64(slot))
    publish()
    put(t.joint_edge, i, np.int64(slot))
    return np.int64(slot)
