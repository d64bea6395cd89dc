"""What plays say of moves wherever they are made: a prior for the choice among moves that are not well known yet.

Source: Finnsson and Bjornsson 2008, simulation-based approach to general game playing (MAST); Nijssen and Winands 2010,
progressive history.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from gdl.compiler.kernels.jit import subroutine
from gdl.compiler.kernels.lanes import N_LANES
from gdl.compiler.kernels.words import ONE, ZERO, W, lowest_bit
from players.search.tree.plays import goal_in

_LIMIT: Final = 1e5
"""With more plays than that of a move, its sums are halved: what was learned long ago fades."""
_SPREAD: Final = 3.0
"""No prior is more standard deviations than that from the mean."""


@subroutine
def _goals_of_lanes(f, plays, r, goals):
    for lane in range(N_LANES):
        goals[lane] = goal_in(f, plays, lane, r)


@subroutine
def _add_plays(row, plays, goals, entry):
    """Add the goals of the lanes that have made the move of a row."""
    made = plays.work.made
    for k in range(W):
        x = made[row, k] & plays.played[0, k]
        while x != ZERO:
            entry[0] += goals[k * 64 + lowest_bit(x)]
            entry[1] += 1
            x &= x - ONE
        made[row, k] = ZERO
    if entry[1] > _LIMIT:
        entry[0] /= 2
        entry[1] /= 2


@subroutine
def _set_priors(history, begin, end, prior):
    """Set each prior to how many standard deviations a move's mean lies above that of the role's moves."""
    n, total, squares = 0, 0.0, 0.0
    for m in range(begin, end):
        if history[m, 1] > 0:
            mean = history[m, 0] / history[m, 1]
            n, total, squares = n + 1, total + mean, squares + mean * mean
    if n < 2:
        return
    middle = total / n
    spread = np.sqrt(max(squares / n - middle * middle, 1e-6))
    for m in range(begin, end):
        prior[m] = 0
        if history[m, 1] > 0:
            z = (history[m, 0] / history[m, 1] - middle) / spread
            prior[m] = max(-_SPREAD, min(_SPREAD, z))


@subroutine
def learn(tables, f, walks, plays, history):
    """Add what the plays of a round came to to the *history* of the moves that they made, and set the priors.

    *Shapes*: `history` (M, 2), the sum of goals and the number of plays for each move.
    """
    goals = np.zeros(N_LANES)
    first_row = 1 + tables.n_fluents
    for r in range(len(tables.role_start[0]) - 1):
        begin, end = tables.role_start[0, r], tables.role_start[0, r + 1]
        _goals_of_lanes(f, plays, r, goals)
        for m in range(begin, end):
            _add_plays(first_row + m, plays, goals, history[m])
        _set_priors(history, begin, end, walks.prior)
