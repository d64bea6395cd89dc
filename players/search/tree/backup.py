"""The last stage of a batch: what walks came to is added to their edges, and what is proven is noted.

A node has bounds of each role's goal under best play; it is solved where they meet. They come from ends alone, so that
they hold whatever was sampled.
Source: Cazenave and Saffidine 2010, score bounded Monte Carlo tree search.
"""

from typing import Final

import numpy as np

from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.words import ZERO, U, at, put, put_float
from players.search.tree import nodes
from players.search.tree.bandits import REGRET, learn_regret
from players.search.tree.implicit import back_up_minimax
from players.search.tree.nodes import add_edge, add_pending, any_goal, edge_at, high_of, node_at, put_edge, put_node
from players.search.tree.sharing import lock, publish, unlock
from players.search.tree.walks import count_choices, counts_early, step_of

_MANY: Final = 1 << 24
"""With more visits than that, those of an edge and their sum are halved, so that sums stay within 32 bits."""


@subroutine
def _limits_below(t, f, edge, r):
    child = edge_at(t, edge, nodes.CHILD)
    return node_at(t, child, nodes.BOUNDS + r) if child >= 0 else any_goal(f, r)


@subroutine
def _mark_if_solved(t, f, node):
    is_solved = True
    for r in range(np.int64(f.n_roles)):
        limits = node_at(t, node, nodes.BOUNDS + r)
        is_solved &= limits & nodes.LOW == high_of(limits)
    if is_solved:
        publish()
        put_node(t, node, nodes.SOLVED, 1)


@inlined
def _other_goal(f, d, r, goal):
    """Return the goal of a role where that of role *d* is known, in a game in which one wins what the other loses."""
    return at(f.low, U(d)) + at(f.high, U(r)) - goal


@subroutine
def _bound_decision(t, f, node, d):
    """Give a node the bounds that follow from those below it, where role *d* alone chooses."""
    n_roles = np.int64(f.n_roles)
    first = node_at(t, node, nodes.FIRST)
    end = first + node_at(t, node, nodes.BOUNDS + n_roles + d)
    low, high = np.int64(-1), np.int64(-1)
    for e in range(first, end):
        limits = edge_at(t, e, nodes.LIMITS)
        low, high = max(low, limits & nodes.LOW), max(high, high_of(limits))
    put_node(t, node, nodes.BOUNDS + d, low | high << 8)
    for r in range(n_roles):
        if r == d:
            continue
        if f.is_opposed != ZERO and r != np.int64(f.chance):  # also where recycling has taken children
            limits = _other_goal(f, d, r, high) | _other_goal(f, d, r, low) << 8
            put_node(t, node, nodes.BOUNDS + r, limits)
            continue
        lowest, highest = np.int64(nodes.LOW), np.int64(0)
        for e in range(first, end):
            if high_of(edge_at(t, e, nodes.LIMITS)) >= low:
                limits = _limits_below(t, f, e, r)
                lowest, highest = min(lowest, limits & nodes.LOW), max(highest, high_of(limits))
        put_node(t, node, nodes.BOUNDS + r, lowest | highest << 8)
    _mark_if_solved(t, f, node)


@subroutine
def _bound_chance(t, f, node, d):
    """Give a node where chance alone chooses the means of the bounds below it."""
    n_roles = np.int64(f.n_roles)
    first, n = node_at(t, node, nodes.FIRST), node_at(t, node, nodes.BOUNDS + n_roles + d)
    for r in range(n_roles):
        low, high = np.int64(0), np.int64(0)
        for e in range(first, first + n):
            limits = _limits_below(t, f, e, r)
            low += limits & nodes.LOW
            high += high_of(limits)
        put_node(t, node, nodes.BOUNDS + r, low // n | (high + n - 1) // n << 8)
    _mark_if_solved(t, f, node)


@subroutine
def _prove(t, f, node, d):
    """Let a node know what is proven of those below it."""
    if node_at(t, node, nodes.SOLVED) == 0:
        if d == np.int64(f.chance):
            _bound_chance(t, f, node, d)
        else:
            _bound_decision(t, f, node, d)


@inlined
def _add(t, edge, goal):
    add_edge(t, edge, nodes.TOTAL, goal)
    visits = edge_at(t, edge, nodes.VISITS)
    if visits > _MANY:
        put_edge(t, edge, nodes.TOTAL, edge_at(t, edge, nodes.TOTAL) >> 1)
        put_edge(t, edge, nodes.VISITS, visits >> 1)


@subroutine
def _take_proven(t, f, w, goals, node, d):
    """Let the goals be those of the move of role *d* that is proven best, if any, since it would make that one.

    What is open of others' goals there counts as low as it can be: of moves that are equally good for it the role may
    make the worst one for them, and a role above would else count on the best. It stays as the walk found it where
    recycling has taken the child.
    """
    n_roles, first = np.int64(f.n_roles), node_at(t, node, nodes.FIRST)
    floor = node_at(t, node, nodes.BOUNDS + d) & nodes.LOW
    for e in range(first, first + node_at(t, node, nodes.BOUNDS + n_roles + d)):
        limits = edge_at(t, e, nodes.LIMITS)
        if limits & ~nodes.CLOSED == floor | floor << 8:
            child = edge_at(t, e, nodes.CHILD)
            for r in range(n_roles):
                if r == d:
                    put(w.goals, goals + U(r), floor)
                elif f.is_opposed != ZERO and r != np.int64(f.chance):  # also where recycling has taken the child
                    put(w.goals, goals + U(r), _other_goal(f, d, r, floor))
                elif child >= 0:
                    put(w.goals, goals + U(r), node_at(t, child, nodes.BOUNDS + r) & nodes.LOW)
            return


@subroutine
def _add_joint(t, f, w, step, node, goals):
    """Add the goals of a walk to the edges that the roles chose at a node."""
    n_roles, first = np.int64(f.n_roles), node_at(t, node, nodes.FIRST)
    for r in range(n_roles):
        n, edge = node_at(t, node, nodes.BOUNDS + n_roles + r), at(w.role_edge, step * f.n_roles + U(r))
        if edge < 0:
            continue
        goal = at(w.goals, goals + U(r))
        if t.rule == U(REGRET) and r != np.int64(f.chance):
            worth = np.int64(learn_regret(t, w, step * f.n_roles + U(r), first, n, edge, goal) + np.float32(0.5))
            put(w.goals, goals + U(r), min(max(worth, at(f.low, U(r))), at(f.high, U(r))))
        if not counts_early(t, node):
            add_edge(t, edge, nodes.VISITS, 1)
        elif t.uses_amaf != ZERO:
            add_pending(t, edge, -1)
        _add(t, edge, goal)
        first += n


@inlined
def _known_below(t, child, d):
    """Return what an edge says of its child: the bounds for role *d*, and whether it is solved."""
    return node_at(t, child, nodes.BOUNDS + d) | nodes.CLOSED * node_at(t, child, nodes.SOLVED)


@inlined
def back_up(t, f, w, i, end):
    """Add the goals of walk *i*, which ended at node *end*, to the edges on its way."""
    n_roles, child = np.int64(f.n_roles), np.int64(end)
    goals = U(i) * f.n_roles
    for depth in range(at(w.depth, U(i)) - 1, -1, -1):
        step = step_of(i, depth)
        node, slot = at(w.node, step), at(w.edge, step)
        for r in range(n_roles):
            limits = node_at(t, child, nodes.BOUNDS + r)
            goal = at(w.goals, goals + U(r))
            put(w.goals, goals + U(r), min(max(goal, limits & nodes.LOW), high_of(limits)))
        if t.uses_amaf != ZERO:
            add_pending(t, slot, -1)
        d = node_at(t, node, nodes.DECIDER)
        if d == nodes.SIMULTANEOUS:
            _add_joint(t, f, w, step, node, goals)
        else:
            _add(t, slot, at(w.goals, goals + U(d)))
            if t.uses_minimax != ZERO:
                back_up_minimax(t, f, node, slot, child)
            if edge_at(t, slot, nodes.LIMITS) != _known_below(t, child, d):
                lock(t.lock)
                put_edge(t, slot, nodes.LIMITS, _known_below(t, child, d))
                _prove(t, f, node, d)
                unlock(t.lock)
            floor = node_at(t, node, nodes.BOUNDS + d) & nodes.LOW
            looks_worse = edge_at(t, slot, nodes.TOTAL) < floor * edge_at(t, slot, nodes.VISITS)
            if floor > at(f.low, U(d)) and d != np.int64(f.chance) and looks_worse:
                _take_proven(t, f, w, goals, node, d)
        child = node


@subroutine
def back_up_all(t, f, w, n):
    """Add the goals of the first *n* walks of a batch whose leaves are nodes by now; others were added before."""
    for i in range(n):
        leaf, step = at(w.leaf, U(i)), step_of(i, at(w.depth, U(i)) - 1)
        if leaf == nodes.ENDED:
            continue
        end, node = at(w.end, U(leaf)), at(w.node, step)
        if at(w.edge, step) == nodes.NONE:  # the node above was opened in this batch
            slot = at(w.slot, U(leaf))
            put(w.edge, step, slot)
            for r in range(f.n_roles):
                put(w.role_edge, step * f.n_roles + r, at(w.chosen, U(leaf) * f.n_roles + r))
                n = node_at(t, node, nodes.BOUNDS + np.int64(f.n_roles + r))
                put_float(w.likely, step * f.n_roles + r, np.float32(1) / np.float32(max(n, 1)))
            count_choices(t, f, w, step, node, slot)
        back_up(t, f, w, i, end)
