"""What plays say of a move wherever they make it (all moves as first), kept for each edge beside its own statistics.

A walk knows little of most moves that it chooses among; the plays below a node tell of each of its moves in which it
was made later, too. Threads do not tell each other of it.
Source: Gelly and Silver 2011, Monte-Carlo tree search and rapid action value estimation.
"""

import numpy as np

from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.lanes import N_LANES
from gdl.compiler.kernels.words import ONE, ZERO, U, W, addresses, at, put_word, word_at
from players.search.tree import nodes
from players.search.tree.nodes import add_amaf, move_at, node_at
from players.search.tree.plays import Goals, copies_of
from players.search.tree.walks import step_of


@inlined
def _add_plays(t, edge, made, goals, begin, end):
    """Add the *goals* of the lanes from *begin* to *end* that have *made* the move of an edge, both at addresses."""
    total, n_plays = np.int64(0), np.int64(0)
    for lane in range(begin, end):
        if word_at(made, U(lane >> 6)) >> U(lane & 63) & ONE != ZERO:
            total += at(goals, U(lane))
            n_plays += 1
    if n_plays > 0:
        add_amaf(t, edge, nodes.AMAF_TOTAL, total)
        add_amaf(t, edge, nodes.AMAF_PLAYS, n_plays)


@inlined
def _row_of(made, t, edge):
    """Return the address of the lanes that have made the move of an edge."""
    return made + U(8 * W) * U(move_at(t, edge))


@inlined
def _mark(row, begin, end):
    """Note at the address of a row that the lanes from *begin* to *end* have made the move."""
    for lane in range(begin, end):
        place = U(lane >> 6)
        put_word(row, place, word_at(row, place) | ONE << U(lane & 63))


@subroutine
def _learn_from_walk(t, f, w, i, made, goals, begin, end):
    """Let the nodes on the way of walk *i* know which moves its plays, and it below them, have made."""
    n_roles = np.int64(f.n_roles)
    for depth in range(at(w.depth, U(i)) - 1, -1, -1):
        step = step_of(i, depth)
        node, slot = at(w.node, step), at(w.edge, step)
        if slot == nodes.NONE:
            continue
        d, edge = node_at(t, node, nodes.DECIDER), node_at(t, node, nodes.FIRST)
        for r in range(n_roles):
            taken = at(w.role_edge, step * f.n_roles + U(r)) if d == nodes.SIMULTANEOUS else slot
            end_of_role = edge + node_at(t, node, nodes.BOUNDS + n_roles + r)
            if edge == end_of_role:
                continue
            _mark(_row_of(made, t, taken), begin, end)
            if r == np.int64(f.chance):
                edge = end_of_role
            while edge < end_of_role:
                _add_plays(t, edge, _row_of(made, t, edge), goals + U(4 * N_LANES) * U(r), begin, end)
                edge += 1


@subroutine
def learn(tables, t, f, w, plays):
    """Let the nodes on the way of each walk know what the plays of a batch came to, by the moves made."""
    made = addresses(plays.work).made + U(8 * W) * U(1 + tables.n_fluents)
    goals, copies = addresses(Goals(plays.goals)).goals, copies_of(plays.n_open[0])
    for j in range(plays.n_open[0]):
        _learn_from_walk(t, f, w, plays.walk[j], made, goals, j * copies, (j + 1) * copies)
