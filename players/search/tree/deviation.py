"""How far the goals of walks lie apart: where they hardly differ, exploration as for wins and losses drowns that.

In a race that random plays hardly ever finish nearly all goals are zero, and the few others decide.
Source: Auer, Cesa-Bianchi and Fischer 2002, UCB1-tuned, here by the variance of all walks of a move, not of each edge.
"""

from typing import Final

import numpy as np

from gdl.compiler.kernels.jit import subroutine
from gdl.compiler.kernels.words import ONE, U, at, put_float, put_word, word_at
from players.search.tree.nodes import ENDED

N_SUMS: Final = 3
"""Of each role the number of walks, the sum of their goals, and that of the squares."""
WIDE: Final = 25.0
"""The standard deviation, in percent, from which on bounds are as wide as for wins and losses."""
NARROWEST: Final = 0.05
_LEAST_WALKS: Final = 512


@subroutine
def note_goals(f, w, n):
    """Add what the first *n* walks of a batch came to."""
    for r in range(U(f.n_roles)):
        place = U(N_SUMS) * r
        total, squares = word_at(w.goal_sums, place + ONE), word_at(w.goal_sums, place + U(2))
        n_noted = word_at(w.goal_sums, place)
        for i in range(U(n)):
            if at(w.leaf, i) == ENDED:
                continue
            n_noted += ONE
            goal = U(at(w.goals, i * U(f.n_roles) + r))
            total += goal
            squares += goal * goal
        put_word(w.goal_sums, place, n_noted)
        put_word(w.goal_sums, place + ONE, total)
        put_word(w.goal_sums, place + U(2), squares)


@subroutine
def find_deviation(f, w):
    """Give each role the width of its bounds, as a share, by the goals that were added."""
    for r in range(U(f.n_roles)):
        place, share = U(N_SUMS) * r, np.float32(1)
        n = np.float64(word_at(w.goal_sums, place))
        if n >= _LEAST_WALKS:
            mean, squares = word_at(w.goal_sums, place + ONE) / n, word_at(w.goal_sums, place + U(2)) / n
            deviation = np.sqrt(max(squares - mean * mean, 0.0))
            share = np.float32(min(max(deviation / WIDE, NARROWEST), 1.0))
        put_float(w.deviation, r, share)
