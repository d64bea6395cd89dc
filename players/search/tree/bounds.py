"""Upper confidence bounds of a role's edges at a node, and the choice of the edge with the highest.

Walks choose at some twenty nodes each, so that a search spends most of its time here.
Source: Auer, Cesa-Bianchi and Fischer 2002, UCB1; Cazenave and Saffidine 2010, score bounded Monte Carlo tree search.
"""

from typing import Final

import numpy as np

from gdl.compiler.kernels.jit import inlined, subroutine
from gdl.compiler.kernels.words import ZERO, U, lowest_bit, put_word, word_at
from players.search.tree.fours import ABSENT, N, equal_of_four, highest_of_four, put_four, walks_of_four

MADE_BY: Final = 2
"""The visits of a node beside those along its edges: that by which it was made, and the one that is to go on now."""


@inlined
def below(w, n):
    """Return a number below *n*, by a linear congruential generator.

    Source: Knuth, The Art of Computer Programming 2, MMIX.
    """
    state = word_at(w.random, ZERO) * U(6364136223846793005) + U(1442695040888963407)
    put_word(w.random, ZERO, state)
    return np.int64(((state >> U(32)) * U(n)) >> U(32))


@inlined
def n_walks_along(t, first, n):
    """Return how many walks went along *n* edges from the *first* on."""
    n_walks = np.int64(0)
    for place in range(0, n, N):
        n_walks += walks_of_four(t.edge, U(first + place), n - place)
    return n_walks


@inlined
def weigh_again(t, w, first, n, number, c, floor, minimax_share, is_judged):
    """Find the bound of an edge, which is that of a *number* among *n*, anew, and of those beside it."""
    place = number // N * N
    edges = (U(first + place), np.int64(n - place), np.float32(c), np.int64(floor))
    minimax = (t.edge_minimax, np.float32(minimax_share), np.int64(is_judged))
    put_four(t.edge, *edges, *minimax, w.bounds, U(place))


@inlined
def weigh(t, w, first, n, floor, exploration, minimax_share, is_judged):
    """Find the bounds of *n* edges of a role from the *first* on; return the width of that of one that was taken once.

    The mean of an edge's walks is mixed with what minimax says of it, of which *minimax_share* counts at first; without
    walks that stands for it alone, where edges are judged before. An edge whose worth is proven has nothing more to
    tell, and one that cannot lead to more than *floor*, which is proven for another one, will not be taken: both are
    left out.
    """
    visits = n_walks_along(t, first, n) + MADE_BY
    c = np.float32(exploration) * np.sqrt(np.log(np.float32(visits)))
    for place in range(0, n, N):
        weigh_again(t, w, first, n, place, c, floor, minimax_share, is_judged)
    return c


@inlined
def highest(w, n):
    """Return the number of the edge with the highest of *n* bounds, of equal ones any."""
    best, n_fours, shift = np.float32(ABSENT), (n + N - 1) // N, below(w, n)
    for place in range(0, n, N):
        best = max(best, highest_of_four(w.bounds, U(place)))
    four, turn, found = shift // N, U(shift % N), np.int64(0)
    for _ in range(n_fours):
        are = equal_of_four(w.bounds, U(N * four), best)
        if are != ZERO:
            turned = (are >> turn | are << (U(N) - turn)) & U((1 << N) - 1)
            found = np.int64(N * four) + np.int64((turn + U(lowest_bit(turned))) % U(N))
            break
        four = four + 1 if four + 1 < n_fours else 0
    return found


@subroutine
def best_edge(t, w, first, n, floor, exploration, minimax_share, is_judged):
    """Return the edge among *n* with the highest upper confidence bound.

    Those not taken yet come first, unless they are judged before.
    """
    weigh(t, w, first, n, floor, exploration, minimax_share, is_judged)
    return first + highest(w, n)
