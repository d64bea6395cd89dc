"""Self-play: many plays at once, in which every move is searched for and becomes something to learn from."""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.game import Game
from players.environments.vector import VectorGame
from players.learning.forest import Evaluate, Forest, targets_of

MAX_STEPS: Final = 400
"""A play that lasts longer is given up, and nothing is learned from it."""

_FRESH_POSITIONS: Final = 20_000
"""So many positions are learned from however old they are."""


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """How moves are searched for in self-play.

    Attributes:
        walks: how many walks a search has from which the policy is learned.
        quick_walks: how many the others have, which only take plays to their ends.
        thorough_share: how many of all searches are of the first kind.
        considered: how many first moves a search compares at most.
    """

    walks: int = 32
    quick_walks: int = 8
    thorough_share: float = 0.25
    considered: int = 12


DEFAULT_PLAN: Final = SearchPlan()


class Samples(NamedTuple):
    """Positions to learn from. *Shapes*: `bits` (S, ceil(F / 8)) packed, `policy` (S, A), `values` (S, R).

    `policy` is how likely each action should be, -1 where it is illegal; `values` are what players can expect.
    """

    bits: NDArray[np.uint8]
    policy: NDArray[np.float16]
    values: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Step:
    number: int
    bits: NDArray[np.uint8]
    policy: NDArray[np.float16]
    values: NDArray[np.float32]


class SelfPlay:
    """*n* plays of a game against itself, each of whose moves is searched for.

    Attributes:
        n_plays: how many plays have ended.
        n_steps: how many moves were made in all plays.
    """

    def __init__(self, game: Game, n: int, evaluate: Evaluate, seed: int, plan: SearchPlan = DEFAULT_PLAN) -> None:
        self.plan = plan
        self.live = VectorGame(game, n, seed=seed, is_flat=True)
        lanes = VectorGame(self.live.game, n, is_flat=True, auto_reset=False)
        most_walks = max(self.plan.walks, self.plan.quick_walks)
        self.forest = Forest(lanes, evaluate, n, n * (most_walks + 1))
        self.random = np.random.default_rng(seed)
        self.n_plays = self.n_steps = 0
        self._began = np.zeros(n, np.int64)
        self._now = 0
        self._steps: list[_Step] = []

    def warm_up(self) -> None:
        """Search once, which loads the kernels."""
        self._search(1)

    def step(self) -> Samples | None:
        """Make a move in all plays; return the positions of those that ended, None where none did."""
        is_thorough = self.random.random() < self.plan.thorough_share
        chosen, policy, values = self._search(self.plan.walks if is_thorough else self.plan.quick_walks)
        if is_thorough:
            bits = np.packbits(self.live.bits(), axis=1)
            self._steps.append(_Step(self._now, bits, policy.astype(np.float16), values))
        rewards, ended = self.live.step(chosen)
        found = self._ended(rewards, ended)
        self._now += 1
        self.n_steps += self.live.n
        self.n_plays += int(ended.sum())
        self._began[ended] = self._now
        self._give_up()
        oldest = int(self._began.min())
        self._steps = [step for step in self._steps if step.number >= oldest]
        return found

    def _search(self, n_walks: int) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.float32]]:
        forest = self.forest
        forest.plant(self.live.save())
        forest.perturb(self.random.gumbel(size=forest.n_root_edges).astype(np.float32))
        widths = forest.trees.width[forest.roots]
        for targets in targets_of(widths.tolist(), self.plan.considered, n_walks):
            forest.walk(targets)
        return forest.decide()

    def _ended(self, rewards: NDArray[np.float32], ended: NDArray[np.bool_]) -> Samples | None:
        """Return what was kept of the plays that ended; a value is half the end, half what the search expected."""
        parts = []
        for step in self._steps:
            which = np.flatnonzero(ended & (self._began <= step.number))
            if len(which):
                values = ((rewards[which] + step.values[which]) / 2).astype(np.float32)
                parts.append(Samples(step.bits[which], step.policy[which], values))
        if not parts:
            return None
        return Samples(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def _give_up(self) -> None:
        endless = self._now - self._began >= MAX_STEPS
        if endless.any():
            self.live.reset(endless)
            self._began[endless] = self._now


class ReplayBuffer:
    """The positions that are learned from, the newest of at most *capacity*."""

    def __init__(self, n_fluents: int, n_actions: int, n_players: int, capacity: int) -> None:
        self.n_fluents, self.capacity = n_fluents, capacity
        self._all = Samples(
            np.zeros((capacity, (n_fluents + 7) // 8), np.uint8),
            np.zeros((capacity, n_actions), np.float16),
            np.zeros((capacity, n_players), np.float32),
        )
        self.n_added = 0

    def __len__(self) -> int:
        return min(self.n_added, self.capacity)

    def add(self, samples: Samples) -> None:
        """Take in *samples*, in place of the oldest where there is no more room."""
        n = len(samples.bits)
        places = (self.n_added + np.arange(n)) % self.capacity
        self._all.bits[places] = samples.bits
        self._all.policy[places] = samples.policy
        self._all.values[places] = samples.values
        self.n_added += n

    def draw(self, n: int, random: np.random.Generator) -> Samples:
        """Return *n* of the newer half of all positions so far, or of the last few thousand."""
        newest = min(len(self), max(_FRESH_POSITIONS, self.n_added // 2))
        which = (self.n_added - 1 - random.integers(newest, size=n)) % self.capacity
        return Samples(self._all.bits[which], self._all.policy[which], self._all.values[which])


_PLAYS: Final = 64
_WALKS: Final = 8
_RANDOM_STEPS: Final = 2
"""Moves at random that begin each play, so that plays differ."""


def score_against(game: Game, ours: Evaluate, other: Evaluate | None, seed: int) -> float:
    """Return the mean of our goals, from 0 to 1, against *other*; None for one that moves at random.

    Each side has a short search; seats are shared out equally.
    """
    live = VectorGame(game, _PLAYS, seed=seed, is_flat=True, auto_reset=False)
    lanes = VectorGame(live.game, _PLAYS, is_flat=True, auto_reset=False)
    forests = [
        None if evaluate is None else Forest(lanes, evaluate, _PLAYS, _PLAYS * (_WALKS + 1))
        for evaluate in (ours, other)
    ]
    seat = np.arange(_PLAYS) % len(live.players)
    for step in range(MAX_STEPS):
        if live.is_over.all():
            break
        moves = [_moves(live, forest if step >= _RANDOM_STEPS else None) for forest in forests]
        live.step(np.where(live.to_move == seat, *moves), checks=False)
    goals = live.goals[np.arange(_PLAYS), seat]
    return float(np.where(goals >= 0, goals, 50).mean() / 100)


def _moves(live: VectorGame, forest: Forest | None) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
    """Return a move for each play: that of a search, or one at random."""
    if forest is None:
        return live.sample_actions().copy()
    forest.plant(live.save())
    for _ in range(_WALKS):
        forest.walk()
    chosen, _, _ = forest.decide()
    return chosen
