"""Recycling: the part of a tree that can still be reached, copied into an empty one in the order of a walk."""

import numpy as np

from gdl.compiler.kernels.jit import inlined, kernel, subroutine
from gdl.compiler.kernels.words import ONE, ZERO, U, addresses, at, put, put_word, word_at
from players.search.tree import nodes
from players.search.tree.leaves import insert_at
from players.search.tree.nodes import (
    amaf_at,
    edge_at,
    edge_minimax,
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


@subroutine
def _copy_node(old, new, f, node):
    """Return the number in the new tree of a node of the old one, which is added where it is not there yet."""
    n_before = word_at(new.size, ZERO)
    found = insert_at(new, f, old.words, U(node) * old.n_words)
    if found >= 0 and word_at(new.size, ZERO) != n_before:
        for column in range(old.width):
            put_node(new, found, column, node_at(old, node, column))
        if new.uses_minimax != ZERO:
            put_node_minimax(new, found, node_minimax(old, node))
    return found


@subroutine
def _copy_edge(old, new, f, edge, min_visits):
    """Append an edge, and what it leads to where that was visited often enough; return its number, -1 without room."""
    slot = word_at(new.size, ONE)
    if slot >= new.max_edges:
        return np.int64(-1)
    put_word(new.size, ONE, slot + ONE)
    for column in range(4):
        put_edge(new, slot, column, edge_at(old, edge, column))
    if new.uses_amaf != ZERO:
        for column in range(3):
            put_amaf(new, slot, column, amaf_at(old, edge, column))
    if new.uses_minimax != ZERO:
        put_edge_minimax(new, slot, edge_minimax(old, edge))
    put(new.move, slot, move_at(old, edge))
    child = edge_at(old, edge, nodes.CHILD)
    if child >= 0:
        is_kept = edge_at(old, edge, nodes.VISITS) >= min_visits
        child = _copy_node(old, new, f, child) if is_kept else np.int64(nodes.NONE)
        if is_kept and child < 0:
            return np.int64(-1)
        put_edge(new, slot, nodes.CHILD, child)
    return np.int64(slot)


@inlined
def _key_of(t, slot):
    """Return the hash of the joint move that an edge stands for, which it keeps in place of bounds and a move."""
    return (U(edge_at(t, slot, nodes.LIMITS)) << U(32)) | (U(move_at(t, slot)) & U(0xFFFFFFFF))


@subroutine
def _copy_joint(old, new, f, head, first, min_visits):
    """Append the edges that lead on after joint moves, and list them in the table; return whether there was room."""
    previous = np.int64(nodes.NONE)
    while head >= 0:
        slot = _copy_edge(old, new, f, head, min_visits)
        if slot < 0:
            return False
        i = _key_of(old, head) & new.joint_mask
        while at(new.joint_edge, i) != 0:
            i = (i + ONE) & new.joint_mask
        put_word(new.joint_key, i, _key_of(old, head))
        put(new.joint_edge, i, slot)
        put_word(new.size, U(2), word_at(new.size, U(2)) + ONE)
        put_edge(new, slot, nodes.TOTAL, previous)
        previous, head = slot, edge_at(old, head, nodes.TOTAL)
    put_edge(new, first, nodes.CHILD, previous)
    return True


@subroutine
def _copy_edges(old, new, f, node, min_visits):
    """Give a node of the new tree, a copy as it was, its edges and joint moves; return whether there was room."""
    n_roles, old_first = np.int64(f.n_roles), node_at(new, node, nodes.FIRST)
    n_edges = np.int64(0)
    for r in range(n_roles):
        n_edges += node_at(new, node, nodes.BOUNDS + n_roles + r)
    first = next_block(np.int64(word_at(new.size, ONE)))
    put_word(new.size, ONE, U(first))
    put_node(new, node, nodes.FIRST, first)
    is_joint = node_at(new, node, nodes.DECIDER) == nodes.SIMULTANEOUS
    for edge in range(old_first, old_first + n_edges):
        # the first edge of a node with joint moves names the last of these in place of a child
        if _copy_edge(old, new, f, edge, np.int64(1) << 40 if is_joint else min_visits) < 0:
            return False
    return not is_joint or _copy_joint(old, new, f, edge_at(old, old_first, nodes.CHILD), first, min_visits)


@kernel
def collect(old_tree, new_tree, rules, root, min_visits, max_nodes):
    """Copy what is reachable from *root* by edges that were taken *min_visits* times into an empty tree.

    Returns the number of the root there, or -1 where that is more than *max_nodes* nodes or does not fit.
    """
    old, new, f = addresses(old_tree), addresses(new_tree), addresses(rules)
    found, node = _copy_node(old, new, f, root), 0
    while node < np.int64(word_at(new.size, ZERO)):
        if node >= max_nodes:
            return np.int64(-1)
        if node_at(new, node, nodes.FIRST) >= 0 and not _copy_edges(old, new, f, node, min_visits):
            return np.int64(-1)
        node += 1
    return found
