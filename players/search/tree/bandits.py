"""How a role chooses at a node by more than bounds of its edges: by what plays say as well, or by a mixed strategy.

Where several roles choose at once, upper confidence bounds run after each other: a mixed strategy does not. A role's
edges there have no bounds; they keep what the strategy is made of in their place.
"""

from typing import Final

import numpy as np

from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.words import ONE, U, float_at, put_float
from players.search.tree import nodes
from players.search.tree.bounds import MADE_BY, below, n_walks_along
from players.search.tree.nodes import amaf_at, edge_at, high_of, move_at, pending

UCB: Final = 0
REGRET: Final = 1
RULES: Final = {"ucb": UCB, "regret": REGRET}
"""How roles choose where several do, by name."""
MANY_VISITS: Final = 50
"""A node with as many visits goes by its own plays, and those below it by them that have fewer."""
EXPLORED: Final = 0.1
"""The share of choices by regret matching that are drawn from all moves alike."""
MAX_WEIGHT: Final = 8.0
"""The most that a play counts for its rarity: more were unbiased sooner, and nothing but noise with many moves."""


@inlined
def _known_plays(t, w, edge, has_many):
    """Return the sum of goals and the number of the plays that tell of an edge's move, noting them if *has_many*."""
    place = U(2) * U(move_at(t, edge))
    if has_many:
        total, n_plays = amaf_at(t, edge, nodes.AMAF_TOTAL), amaf_at(t, edge, nodes.AMAF_PLAYS)
        put_float(w.reference, place, total)
        put_float(w.reference, place + ONE, n_plays)
    else:
        total, n_plays = float_at(w.reference, place), float_at(w.reference, place + ONE)
    return total, n_plays


@inlined
def _value(t, edge, total, n_plays, bias):
    """Return the mean of an edge's walks, weighted with that of *n_plays*; walks on their way count as lost."""
    n_walks = np.float32(edge_at(t, edge, nodes.VISITS))
    n_done = n_walks - np.float32(pending(t, edge))
    value = np.float32(nodes.EVEN)
    if n_done > 0:
        value = np.float32(edge_at(t, edge, nodes.TOTAL)) / n_done
    if n_plays > 0:
        share = n_plays / (n_plays + n_done + bias * n_plays * n_done)
        value += share * (total / n_plays - value)
    limits = edge_at(t, edge, nodes.LIMITS)
    value = min(max(value, np.float32(limits & nodes.LOW)), np.float32(high_of(limits)))
    return value * (n_done + np.float32(1)) / (n_walks + np.float32(1))


@subroutine
def best_edge_by_amaf(t, w, first, n, floor, exploration, bias):
    """Return the edge among *n* with the highest bound, of walks and plays together; as `bounds.best_edge` in all else.

    *bias* is how far off the mean of plays is: the larger, the sooner an edge's own walks count more. Below a node with
    `MANY_VISITS` those with fewer go by what it knows of the moves of a role.
    Source: Cazenave 2015, generalized rapid action value estimation (GRAVE).
    """
    visits = n_walks_along(t, first, n) + MADE_BY
    c = np.float32(exploration) * np.sqrt(np.log(np.float32(visits)))
    has_many, shift = visits >= MANY_VISITS, below(w, n)
    best, found = np.float32(-1e9), first + shift
    for i in range(n):
        e = first + i + shift
        if i + shift >= n:
            e -= n
        total, n_plays = _known_plays(t, w, e, has_many)
        limits = edge_at(t, e, nodes.LIMITS)
        if limits & nodes.LOW == high_of(limits) or high_of(limits) <= floor:
            continue
        spread = c / np.sqrt(np.float32(edge_at(t, e, nodes.VISITS) + 1))
        bound = np.float32(0.01) * _value(t, e, total, n_plays, bias) + spread
        if bound > best:
            best, found = bound, e
    return found


@inlined
def regret_at(t, edge):
    """Return what a role regrets not to have got by an edge, in percent."""
    return float_at(t.edge, U(4) * U(edge) + U(nodes.LIMITS))


@inlined
def _put_regret(t, edge, value):
    put_float(t.edge, U(4) * U(edge) + U(nodes.LIMITS), value)


@inlined
def _fraction(w):
    """Return a number from 0 to below 1."""
    return np.float32(below(w, 1 << 24)) / np.float32(1 << 24)


@subroutine
def _positive_sum(t, first, n):
    total = np.float32(0)
    for e in range(first, first + n):
        total += max(regret_at(t, e), np.float32(0))
    return total


@inlined
def _share(t, edge, total, n):
    """Return with which probability regret matching takes an edge, where the positive regrets add up to *total*."""
    return max(regret_at(t, edge), np.float32(0)) / total if total > 0 else np.float32(1) / np.float32(n)


@subroutine
def draw_by_regret(t, w, place, first, n):
    """Return an edge among *n*, drawn as regret matching has it; its probability is noted at a *place* of `likely`."""
    total, explored = _positive_sum(t, first, n), np.float32(EXPLORED)
    found = first + below(w, n)
    if total > 0 and _fraction(w) >= explored:
        left = _fraction(w) * total
        for e in range(first, first + n):
            regret = regret_at(t, e)
            if regret > 0:
                found = e
                left -= regret
                if left < 0:
                    break
    even = np.float32(1) / np.float32(n)
    put_float(w.likely, place, explored * even + (np.float32(1) - explored) * _share(t, found, total, n))
    return found


@inlined
def _estimate(t, e, mean, edge, goal, weight):
    """Return what edge *e* would have come to: its mean so far, corrected where it is the *edge* that was taken."""
    found, taken = mean, edge_at(t, e, nodes.VISITS)
    if taken > 0:
        found = np.float32(edge_at(t, e, nodes.TOTAL)) / np.float32(taken)
    if e == edge:
        found += weight * (np.float32(goal) - found)
    return found


@subroutine
def learn_regret(t, w, place, first, n, edge, goal):
    """Add to the regrets of a role what a play through an edge, one of *n*, tells; return what the strategy is worth.

    What was drawn to explore is corrected for in that, so that the nodes above learn nothing wrong of it.
    Source: Hart and Mas-Colell 2000, regret matching; Schmid et al. 2019, baselines in sampled regret minimisation.
    """
    total, n_plays, goals = _positive_sum(t, first, n), 0, 0
    for e in range(first, first + n):
        n_plays += edge_at(t, e, nodes.VISITS)
        goals += edge_at(t, e, nodes.TOTAL)
    mean = np.float32(goals) / np.float32(n_plays) if n_plays > 0 else np.float32(goal)
    weight = min(np.float32(1) / float_at(w.likely, place), np.float32(MAX_WEIGHT))
    worth = np.float32(0)
    for e in range(first, first + n):
        worth += _share(t, e, total, n) * _estimate(t, e, mean, edge, goal, weight)
    for e in range(first, first + n):
        _put_regret(t, e, regret_at(t, e) + _estimate(t, e, mean, edge, goal, weight) - worth)
    return worth
