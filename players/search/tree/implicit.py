"""Implicit minimax: what weights say of the states of the tree, backed up by minimax beside the means of walks.

The mean of an edge's walks sees a refutation only after it was walked many times; minimax sees it at once. Both are
mixed where a move is chosen. It is for two roles of which one wins what the other loses.
Source: Lanctot, Winands, Pepels and Sturtevant 2014, Monte Carlo tree search with heuristic evaluations using implicit
minimax backups.
"""

from typing import Final

import numpy as np

from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.words import ONE, ZERO, U, W, addresses, at, float_at
from players.search.tree import nodes
from players.search.tree.nodes import edge_minimax, high_of, node_at, node_minimax, put_edge_minimax, put_node_minimax
from players.search.tree.plays import Weights, first_lanes, weigh, weighed

MINIMAX_SHARE: Final = 0.6
"""How much what minimax says of a move counts beside the mean of its first walks."""
HALF_SHARE_WALKS: Final = np.float32(300)
"""After so many walks along an edge, what minimax says of it counts half as much as at first."""


@subroutine
def judge_leaves(t, f, w, n_leaves, values, lane_bits, plays):
    """Let new nodes know what the weights say of them; *values* (rows, W) has their states, in the order of leaves."""
    for k in range(W):
        lane_bits[0, k] = ~first_lanes(n_leaves, k)
    weigh(plays, values, lane_bits, len(plays.weights) - 1)
    sums = addresses(Weights(plays.weights, plays.sums)).sums
    for j in range(n_leaves):
        node = at(w.end, U(j))
        if node_minimax(t, node) == np.float32(nodes.EVEN):
            put_node_minimax(t, node, weighed(f, float_at(sums, U(j)), 0))


@inlined
def for_role(f, value, r):
    """Return for a role, one of two, what is worth *value* to the first, or the other way round."""
    return value if r == 0 else np.float32(at(f.high, ZERO) + at(f.low, ONE)) - value


@subroutine
def expect_of_edges(t, f, node, first, d):
    """Let the new edges of a node, from *first* on, at which role *d* chooses, be worth as much as it is."""
    value = for_role(f, node_minimax(t, node), d)
    for e in range(first, first + node_at(t, node, nodes.BOUNDS + np.int64(f.n_roles) + d)):
        put_edge_minimax(t, e, value)


@subroutine
def back_up_minimax(t, f, node, slot, child):
    """Let an edge know what its child is worth, and the node above it what the best edge is.

    Edges that were not walked yet are worth as much as their node was before: its role may do something else.
    """
    d = node_at(t, node, nodes.DECIDER)
    limits = node_at(t, child, nodes.BOUNDS + d)
    value = min(
        max(for_role(f, node_minimax(t, child), d), np.float32(limits & nodes.LOW)), np.float32(high_of(limits))
    )
    before, best = edge_minimax(t, slot), for_role(f, node_minimax(t, node), d)
    put_edge_minimax(t, slot, value)
    if value > best:
        best = value
    elif before >= best and value < before:
        best, first = value, node_at(t, node, nodes.FIRST)
        for e in range(first, first + node_at(t, node, nodes.BOUNDS + np.int64(f.n_roles) + d)):
            best = max(best, edge_minimax(t, e))
    put_node_minimax(t, node, for_role(f, best, d))
