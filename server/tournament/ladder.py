"""The ladder: an endless competition that picks the meetings that tell most about the ratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from server.tournament.competition import Competition
from server.tournament.fixtures import Meeting, ScheduledMatch, TournamentGame, derived_seed, matches_of

SCALE: Final = 400 / np.log(10)  # Elo points of one unit of the logistic function
_CERTAIN: Final = 30.0  # a difference of so many units leaves no doubt of who wins
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is known of the strength of a player. *Units*: Elo points."""

    rating: float
    deviation: float


NEWCOMER: Final = Estimate(1500.0, 350.0)


@dataclass(frozen=True, slots=True)
class Ladder:
    """Gives meetings of free players, one after the other those that tell most, until too few are free.

    What a meeting tells is the mutual information of who wins and of how far the ratings are apart: high where ratings
    are uncertain and the result is open. Of equal meetings the one is taken that happened least often, then by lot.

    Attributes:
        estimates: the rating of each player, and its standard deviation; who is missing counts as a newcomer.
        free: the names of those who can play now.
        n_meetings: how many meetings to give at most.
        sets: how many sets a meeting has.
    """

    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    free: Collection[str] = ()
    n_meetings: int = 1
    sets: int = 1

    def __call__(self, competition: Competition) -> tuple[ScheduledMatch, ...]:
        """Return the matches of the next meetings; each is a round of its own, and has the game played least so far."""
        round_number = competition.last_round
        free = [name for name in competition.active_in(round_number + 1) if name in self.free]
        n_played = Counter(pairing.matches[0].game for pairing in competition.pairings)
        given: list[ScheduledMatch] = []
        for _ in range(self.n_meetings):
            playable = [game for game in competition.games if game.group_size <= len(free)]
            if not playable:
                break
            game = min(playable, key=lambda game: n_played[game.name])
            group = self._pick(competition, free, game, round_number)
            round_number += 1
            n_played[game.name] += 1
            free = [name for name in free if name not in group]
            meeting = Meeting(group, round_number, f"ladder {round_number}")
            given += matches_of(meeting, (game,), competition.seed, self.sets)
        return tuple(given)

    def _pick(
        self, competition: Competition, free: list[str], game: TournamentGame, round_number: int
    ) -> tuple[str, ...]:
        """Return the two who tell most about each other, then one by one who tells most about those picked."""
        told = information([self.estimates.get(name, NEWCOMER) for name in free])
        met = competition.meetings
        n = len(free)
        pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
        best = max(told[i, j] for i, j in pairs)
        equal = [(i, j) for i, j in pairs if told[i, j] > best - 1e-9]
        picked = list(
            min(
                equal,
                key=lambda pair: (
                    met[frozenset(free[i] for i in pair)],
                    derived_seed(competition.seed, round_number, *(free[i] for i in pair)),
                ),
            )
        )
        while len(picked) < game.group_size:
            rest = [i for i in range(n) if i not in picked]
            picked.append(max(rest, key=lambda i: float(told[i, picked].sum())))
        return tuple(free[i] for i in picked)


def information(estimates: list[Estimate]) -> _Floats:
    """Return how much a game of each two tells about the difference of their ratings. *Units*: nats; 0 with itself.

    *Shapes*: a square matrix, symmetric. It is the entropy of the expected result minus the expected entropy of the
    result, over the normal distribution of the difference, with the logistic curve of Elo.
    *Source*: D. Lindley, On a measure of the information provided by an experiment, Ann. Math. Stat. 27 (1956).
    """
    ratings = np.array([estimate.rating for estimate in estimates], dtype=np.float64)
    variances = np.array([estimate.deviation for estimate in estimates], dtype=np.float64) ** 2
    mean = ratings[:, None] - ratings[None, :]
    deviation = np.sqrt(variances[:, None] + variances[None, :])
    expected, entropy = np.zeros_like(mean), np.zeros_like(mean)
    for node, weight in zip(_NODES, _WEIGHTS / _WEIGHTS.sum(), strict=True):
        difference = np.clip((mean + deviation * node) / SCALE, -_CERTAIN, _CERTAIN)
        chance = 1 / (1 + np.exp(-difference))
        expected += weight * chance
        entropy += weight * _entropy(chance)
    told: _Floats = np.maximum(_entropy(expected) - entropy, 0.0)
    np.fill_diagonal(told, 0.0)
    return told


def _entropy(chance: _Floats) -> _Floats:
    """Return the entropy of results that one side wins with *chance*."""
    inside = np.clip(chance, 1e-12, 1 - 1e-12)
    entropy: _Floats = -inside * np.log(inside) - (1 - inside) * np.log1p(-inside)
    return entropy
