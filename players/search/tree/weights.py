"""What a state is worth by the sum of weights of its fluents, which are learned from random plays in the start clock.

Plays that are cut short and judged by such a sum say more, in less time, than long ones that end by chance. Fluents
share what they have in common: a weight belongs to a feature of states, not to a fluent. Plays at
random are decided by chance for the most part, so that an advantage counts for far too little in their results; the
weights are therefore enlarged until the sums of states differ as much as in plays that are decided by skill.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.compiled import CompiledGame
from gdl.compiler.kernels import lanes
from gdl.compiler.kernels.choice import work_for
from gdl.compiler.kernels.jit import kernel
from gdl.compiler.kernels.lanes import N_LANES, Lanes, Tally, lanes_for
from gdl.compiler.kernels.words import ONES, rows
from gdl.compiler.tables import Tables
from gdl.game import MAX_STEPS
from players.deadline import Deadline
from players.search.positions import has_two_sides
from players.search.tree.features import by_fluent, count_features, features_of

N_STEPS: Final = 8
"""How many steps a play goes on before it is judged; a few more where phases of the rules take turns."""
SPREAD: Final = 2.4
"""The standard deviation of the sums of states in random plays, in log-odds."""
_LONG_PLAYS: Final = 4
"""Plays are worth cutting where they are so many times as long."""
_N_SAMPLES: Final = 3
"""How many states of a play are looked at, in the mean."""
_N_LOOKS: Final = 6
_STEPS_BETWEEN_LOOKS: Final = 5
"""At which states of plays the learner looks for arguments that are numbers."""
_LAST_SHARE: Final = 0.95
"""Later states say who has won, not who will."""
_HELD_OUT: Final = 5
"""One load of plays in so many says what the weights explain of the others' results."""
_LEAST_EXPLAINED: Final = 0.005
_RIDGE: Final = 0.001
"""What a feature's weight costs, beside the variance of its counts."""


@dataclass(frozen=True, slots=True)
class FluentWeights:
    """A sum that says what a state is worth to the first of two roles, in log-odds.

    *Shapes*: `values` (F + 1,), a weight for each fluent, and a constant. Plays are cut after `n_steps` steps.
    """

    values: NDArray[np.float32]
    n_steps: int


@kernel
def add_products(counts, sums):
    """Add to *sums* (K, K) the products of each two counts of a sample, *counts* (N, K); many counts are zero.

    One core does it: the library that multiplies matrices would take all cores of the machine.
    """
    n_features = counts.shape[1]
    added = np.zeros((n_features, n_features), np.float32)  # twice as many to a vector
    for n in range(len(counts)):
        for i in range(n_features):
            count = counts[n, i]
            if count != 0:
                for j in range(n_features):
                    added[i, j] += count * counts[n, j]
    sums += added


class _Moments:
    """Sums over samples of features x (K,) and results y: what a regression needs of them."""

    def __init__(self, n_features: int) -> None:
        self.n = 0
        self.x, self.y = np.zeros(n_features), 0.0
        self.xx, self.xy, self.yy = np.zeros((n_features, n_features)), np.zeros(n_features), 0.0

    def add(self, counts: NDArray[np.float32], results: NDArray[np.float32]) -> None:
        """Add samples. *Shapes*: `counts` (N, K), `results` (N,)."""
        self.n += len(results)
        self.x += counts.sum(axis=0)
        self.y += float(results.sum())
        add_products(np.ascontiguousarray(counts), self.xx)
        self.xy += results @ counts
        self.yy += float(results @ results)

    @property
    def covariance(self) -> NDArray[np.float64]:
        """How counts vary together. *Shape*: (K, K)."""
        mean = self.x / self.n
        return self.xx / self.n - np.outer(mean, mean)

    def fitted(self) -> NDArray[np.float64]:
        """Return the slopes of the features (K,) that explain the results best."""
        covariance = self.covariance
        covariance[np.diag_indices_from(covariance)] += _RIDGE
        return np.asarray(np.linalg.solve(covariance, self._together), np.float64)

    @property
    def _together(self) -> NDArray[np.float64]:
        """How counts vary together with results. *Shape*: (K,)."""
        return self.xy / self.n - self.x / self.n * (self.y / self.n)

    def variance(self, slopes: NDArray[np.float64]) -> float:
        """Return how much the sums that *slopes* give to samples vary."""
        return float(slopes @ self.covariance @ slopes)

    def explained(self, slopes: NDArray[np.float64]) -> float:
        """Return the share of the variance of results that *slopes* explain, below zero where they say the opposite."""
        together = float(self._together @ slopes)
        variance = self.variance(slopes) * (self.yy / self.n - (self.y / self.n) ** 2)
        return together * abs(together) / variance if variance > 0 else 0.0


class WeightLearner:
    """Learns weights from random plays of *game* by *tables*, those that a search plays by.

    `mean_length` is that of the last plays.
    """

    def __init__(self, game: CompiledGame, tables: Tables, seed: int) -> None:
        self._rules, self._tables = game.rules, tables
        self._work = work_for(len(tables.choice_legal), seed)
        self._random = np.random.default_rng(seed)
        self._goals = [np.array([-1 if goal is None else goal for goal in goals]) for goals in game.rules.goals]
        self._is_fit = has_two_sides(game)
        self._features = by_fluent(len(game.rules.fluents), ())
        if self._is_fit:
            self._features = features_of(game.description, game.rules.fluents, self._holding())
        self._train, self._test = _Moments(self._features.n), _Moments(self._features.n)
        self._n_loads = 0
        self._totals: set[int] = set()
        self.mean_length = 64.0

    @property
    def n_steps(self) -> int:
        """After how many steps plays are cut: at the first phase of the rules again."""
        n_phases = len(self._rules.phases)
        return -(-N_STEPS // n_phases) * n_phases

    def learn(self, deadline: Deadline) -> bool:
        """Learn from plays until *deadline*; return whether the game is fit for that.

        It is where two roles play without chance, and whose goals have one sum at each end of a play.
        """
        if not self._is_fit:
            return False
        while not deadline.has_passed:
            if not self.play(deadline):
                return False
        return True

    def play(self, deadline: Deadline) -> bool:
        """Learn from 512 plays, if they end before *deadline*; return whether they are fit for that.

        They are unless they are short anyway, have no end, or goals have another sum than before.
        """
        ours, tally = self._lanes(), lanes.tally_for(self._goals, N_LANES)
        kept, steps = [], []
        n_phases = len(self._rules.phases)
        most = max(2, round(2 * self.mean_length / _N_SAMPLES / n_phases))
        while ours.clock[2] < N_LANES:
            if deadline.has_passed:
                return True
            n_steps = n_phases * int(self._random.integers(1, most))
            ending = lanes.play(self._tables, ours, self._work, n_steps, tally, lanes.NO_TRACE)
            if ending == lanes.STUCK or ours.clock[0] > MAX_STEPS:
                return False
            kept.append(self._counts(ours))
            steps.append(int(ours.clock[0]))
        return self._add(np.stack(kept), np.array(steps), tally)

    def _holding(self) -> NDArray[np.uint64]:
        """Return which fluents hold in some states of plays, a bit each, (F, words)."""
        ours, tally, n_fluents = self._lanes(), lanes.tally_for(self._goals, N_LANES), len(self._rules.fluents)
        found = []
        for _ in range(_N_LOOKS):
            found.append(ours.values[1 : 1 + n_fluents].copy())
            n_steps = _STEPS_BETWEEN_LOOKS * len(self._rules.phases)
            if lanes.play(self._tables, ours, self._work, n_steps, tally, lanes.NO_TRACE) == lanes.STUCK:
                break
        return np.concatenate(found, axis=1)

    def _counts(self, ours: Lanes) -> NDArray[np.float32]:
        """Return the features of the states of all lanes, (512, K)."""
        features, counts = self._features, np.zeros((N_LANES, self._features.n), np.float32)
        count_features(ours.values, features.begins, features.belongs, features.amounts, counts)
        return counts

    def _lanes(self) -> Lanes:
        start = rows(len(self._rules.fluents))
        start[list(self._rules.initial)] = ONES
        return lanes_for(self._tables.n_rows, np.ones(N_LANES, np.int64), np.arange(N_LANES), start)

    def _add(self, counts: NDArray[np.float32], steps: NDArray[np.int64], tally: Tally) -> bool:
        """Add the samples of a load. *Shapes*: `counts` (samples, 512, K), `steps` (samples,)."""
        lengths = tally.lengths[:, 1]
        self.mean_length = float(lengths.mean())
        first, second = self._results(tally)
        self._totals |= set((first + second).tolist())
        is_sum_same = len(self._totals) == 1 and min(first.min(), second.min()) >= 0
        if not is_sum_same or self.mean_length < _LONG_PLAYS * self.n_steps:
            return False
        low, high = self._goals[0].min(), self._goals[0].max()
        results = ((first - low) / max(high - low, 1)).astype(np.float32)
        is_before = steps[:, None] <= _LAST_SHARE * lengths
        moments = self._test if self._n_loads % _HELD_OUT == _HELD_OUT - 1 else self._train
        moments.add(counts[is_before], np.broadcast_to(results, is_before.shape)[is_before])
        self._n_loads += 1
        return True

    def _results(self, tally: Tally) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the goals of both roles in each lane, below zero where there is none."""
        n_first = len(self._goals[0])
        parts = (tally.goal_counts[:, :n_first], tally.goal_counts[:, n_first:])
        first, second = (
            np.where(part.any(axis=1), goals[part.argmax(axis=1)], -1)
            for part, goals in zip(parts, self._goals, strict=True)
        )
        return first, second

    def found(self) -> FluentWeights | None:
        """Return the weights, None where they explain hardly anything of the results, or there were too few plays."""
        if not self._train.n or not self._test.n:
            return None
        slopes = self._train.fitted()
        if self._test.explained(slopes) < _LEAST_EXPLAINED:
            return None
        scale = SPREAD / float(np.sqrt(self._train.variance(slopes)))
        constant = -float(self._train.x / self._train.n @ slopes)
        of_fluents = self._features.worth_of_fluents(slopes)
        return FluentWeights((scale * np.append(of_fluents, constant)).astype(np.float32), self.n_steps)


def load_weight_kernels() -> None:
    """Load the kernels that learn weights, compiled to the cache on disk the first time on a machine."""
    none = by_fluent(0, ())
    count_features(rows(1), none.begins, none.belongs, none.amounts, np.zeros((N_LANES, 0), np.float32))
    add_products(np.zeros((0, 0), np.float32), np.zeros((0, 0)))
