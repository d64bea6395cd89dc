"""Nested rollout policy adaptation for one role: plays are drawn by a policy, which learns from the best one so far.

Each rollout of the algorithm is 512 plays in the lanes of the compiled engine, of which the best one counts.
Source: Rosin, "Nested Rollout Policy Adaptation for Monte Carlo Tree Search", 2011.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.compiled import CompiledGame
from gdl.compiler.kernels import graphs, policies
from gdl.compiler.kernels.lanes import N_LANES
from players.search.planning.circuits import Moves, best_goal_of, words_of
from players.search.planning.graphs import graph_for

POLICY_LEVEL: Final = 2
N_ITERATIONS: Final = 40
"""How often a level calls the one below it."""
ALPHA: Final = 1.0
MAX_PLAN_STEPS: Final = 300
MAX_LOGITS: Final = 200_000
_NO_SCORE: Final = (-2, 0)


@dataclass(slots=True)
class _Best:
    """The best play of a level: its goal and how near the conditions of the best goal its end is, and its moves."""

    score: tuple[int, int] = _NO_SCORE
    moves: NDArray[np.int32] | None = None
    starts: NDArray[np.int64] | None = None
    legal: NDArray[np.int32] | None = None


class PolicySearch:
    """A search from one state of a compiled game of one role; attributes as of `GraphSearch`."""

    def __init__(self, game: CompiledGame, packed: bytes, random: Random) -> None:
        self.goal, self.plan = -1, Moves()
        self.is_done = self.has_seen_all = self.is_refuted = False
        self.n_iterations = 0
        self._target = best_goal_of(game)
        self._tables = game.rules.single
        self._graph = graph_for(game, is_timeless=False, max_mb=0)
        self._room = graphs.room_for(self._tables)
        self._plays = policies.plays_for(MAX_PLAN_STEPS, random.getrandbits(32))
        self._state = words_of(game, packed)
        self._n_moves = len(self._tables.choice_legal)
        self._work = self._runs()

    def advance(self, n_units: int) -> bool:
        """Play *n_units* times in all lanes; return whether a better end was found."""
        before = self.goal
        for _ in range(n_units):
            if self.is_done:
                break
            next(self._work)
        return self.goal > before

    def pause(self) -> None:
        """Do nothing: it works when it is called only."""

    def close(self) -> None:
        """Do no more."""
        self.is_done = True

    def _runs(self) -> Iterator[None]:
        """Begin again and again with a policy that knows nothing: one of moves alone, then one of moves and ages."""
        n_ages = max(1, min(MAX_PLAN_STEPS, MAX_LOGITS // max(1, self._n_moves)))
        while True:
            for ages in {1: None, n_ages: None}:
                yield from self._level(POLICY_LEVEL, np.zeros((ages, self._n_moves)), _Best())

    def _level(self, level: int, logits: NDArray[np.float64], best: _Best) -> Iterator[None]:
        """Improve *best* by a level, yielding after every call of the kernel."""
        if level == 0:
            self._play(logits, best)
            yield
            return
        own = logits.copy()
        for _ in range(N_ITERATIONS):
            found = _Best()
            yield from self._level(level - 1, own, found)
            if found.score >= best.score:
                best.score, best.moves, best.starts, best.legal = found.score, found.moves, found.starts, found.legal
            if best.moves is not None:
                adapted = own.copy()
                policies.adapt(own, adapted, best.moves, best.starts, best.legal, ALPHA)
                own = adapted

    def _play(self, logits: NDArray[np.float64], best: _Best) -> None:
        """Let *best* be the best of the plays that the policy draws."""
        plays = self._plays
        policies.play(self._tables, self._graph, self._room, plays, self._state, np.exp(logits))
        self.n_iterations += N_LANES
        lane = int(np.lexsort((-plays.lengths, -plays.distances, plays.goals))[-1])
        goal, moves = int(plays.goals[lane]), plays.moves[lane, : plays.lengths[lane]].copy()
        best.score, best.moves = (goal, -int(plays.distances[lane])), moves
        best.starts, best.legal = np.zeros(len(moves) + 1, np.int64), np.empty(len(moves) * self._n_moves, np.int32)
        n_legal = policies.options(self._tables, self._room, self._state, moves, best.starts, best.legal)
        best.legal = best.legal[:n_legal].copy()
        if goal > self.goal:
            self.goal, self.plan = goal, tuple(moves.tolist())
            self.is_done = goal >= self._target
