"""What plays come to in the mean by each of their moves, wherever it is made; plays prefer moves that do well.

Source: Finnsson and Bjornsson 2008, Simulation-based approach to general game playing (MAST).
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.jit import subroutine
from gdl.compiler.kernels.words import ONE, ZERO, W, lowest_bit
from gdl.compiler.tables import N_LEVELS, CompiledRules, LevelledTables, Tables, levelled
from players.search.tree.deviation import WIDE

LEVEL_WIDTH: Final = 2.0
"""How much more plays come to, in percent, where they have a move of one level more; less where goals lie together."""
_EVEN_LEVEL: Final = 1
"""The level of moves after which plays come to as much as after others."""
_KEPT: Final = 0.5
"""How much the plays of earlier moves count."""
_LEAST_PLAYS: Final = 512
_GROWTH: Final = 2.0
"""Levels are found anew each time that there were so many times the plays."""
_PLAY_VARIANCE: Final = 2_500.0
"""At most the variance of the goal of a play, in percent."""


class MoveSums(NamedTuple):
    """What plays came to. *Shapes*: M moves, none where that is not wanted.

    `role` (M,) is that of a move; `n_plays` (M,) counts the plays in which it was made, `total` (M,) adds up the goals
    of its role in them, and `squares` (M,) their squares.
    """

    role: NDArray[np.int32]
    n_plays: NDArray[np.float64]
    total: NDArray[np.float64]
    squares: NDArray[np.float64]


def sums_for(role: NDArray[np.int32]) -> MoveSums:
    """Return sums of no plays for moves of such roles. *Shape*: `role` (M,)."""
    return MoveSums(role, *(np.zeros(len(role)) for _ in range(3)))


def no_sums() -> MoveSums:
    """Return the sums of a search whose plays prefer no moves."""
    return sums_for(np.zeros(0, np.int32))


@subroutine
def add_moves(n_fluents, plays, sums):
    """Add the goals of the plays of a batch to the sums of the moves that they have made."""
    made, goals = plays.work.made, plays.goals
    for move in range(len(sums.role)):
        role, n_plays, total, squares = sums.role[move], 0, 0, 0
        for k in range(W):
            x = made[1 + n_fluents + move, k]
            while x != ZERO:
                n_plays += 1
                goal = goals[role, 64 * k + lowest_bit(x)]
                total += goal
                squares += goal * goal
                x &= x - ONE
        sums.n_plays[move] += n_plays
        sums.total[move] += total
        sums.squares[move] += squares


class MoveAverages:
    """The sums of a search, and the levels that they give to moves in plays by *tables*."""

    def __init__(self, rules: CompiledRules, tables: Tables) -> None:
        self._tables = tables
        role = np.concatenate([np.full(len(moves), number) for number, moves in enumerate(rules.moves_of)])
        self.sums = sums_for(role.astype(np.int32))
        self._wanted = float(_LEAST_PLAYS)

    def begin(self) -> None:
        """Let the plays of the moves before count less than those of this one."""
        self.sums.n_plays[:] *= _KEPT
        self.sums.total[:] *= _KEPT
        self.sums.squares[:] *= _KEPT
        self._wanted = float(_LEAST_PLAYS)

    def levelled(self, n_plays: int) -> LevelledTables | None:
        """Return tables by what is known after *n_plays* plays of this move; None where it is not much more."""
        if n_plays < self._wanted:
            return None
        self._wanted = _GROWTH * n_plays
        return levelled(self._tables, self.levels())

    def levels(self) -> NDArray[np.int64]:
        """Return the level of each move. *Shape*: (M,)."""
        found = np.full(len(self.sums.role), _EVEN_LEVEL)
        for role in range(self.sums.role.max(initial=-1) + 1):
            ours = np.flatnonzero((self.sums.role == role) & (self.sums.n_plays > 0))
            n_plays, total = self.sums.n_plays[ours], self.sums.total[ours]
            spread = _spread(n_plays, total, self.sums.squares[ours])
            if len(ours) > 1 and spread > 0:
                better = advantages(n_plays, total / min(spread / WIDE, 1.0))
                found[ours] = np.clip(np.floor(better / LEVEL_WIDTH + _EVEN_LEVEL + 0.5), 0, N_LEVELS - 1)
        return found

    def explained(self) -> float:
        """Return which share of the variance of what plays come to their moves explain, beyond what chance does.

        It is the mean of the roles that have a choice, 0 where there is none.
        """
        shares = []
        for role in range(self.sums.role.max(initial=-1) + 1):
            ours = np.flatnonzero((self.sums.role == role) & (self.sums.n_plays > 0))
            if len(ours) > 1:
                shares.append(_explained(self.sums.n_plays[ours], self.sums.total[ours], self.sums.squares[ours]))
        return float(np.mean(shares)) if shares else 0.0


def _explained(n_plays: NDArray[np.float64], total: NDArray[np.float64], squares: NDArray[np.float64]) -> float:
    variance = _spread(n_plays, total, squares) ** 2
    if variance == 0:
        return 0.0
    between = float(np.average((total / n_plays - total.sum() / n_plays.sum()) ** 2, weights=n_plays))
    return max(0.0, between / variance - len(n_plays) / float(n_plays.sum()))


def _spread(n_plays: NDArray[np.float64], total: NDArray[np.float64], squares: NDArray[np.float64]) -> float:
    """Return the standard deviation of what plays came to, each counted once for each of its moves, in percent."""
    n = max(float(n_plays.sum()), 1.0)
    return float(np.sqrt(max(squares.sum() / n - (total.sum() / n) ** 2, 0.0)))


def advantages(n_plays: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how much more the plays with each of a role's moves come to than all do, as far as that is no chance.

    Means of few plays are drawn towards that of all, by how much moves differ beyond what chance makes of it
    (empirical Bayes). *Shapes*: all (M,).
    """
    differences = total / n_plays - total.sum() / n_plays.sum()
    by_chance = _PLAY_VARIANCE * len(n_plays) / n_plays.sum()
    variance = max(0.0, float(np.average(differences**2, weights=n_plays)) - by_chance)
    drawn = differences * variance / (variance + _PLAY_VARIANCE / n_plays)
    return np.asarray(drawn, np.float64)
