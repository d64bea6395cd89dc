"""The ladder: an endless competition that picks the meetings that tell most about the ratings."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from server.tournament.competition import Competition
from server.tournament.fixtures import Meeting, ScheduledMatch, derived_seed, matches_of
from server.tournament.ratings import ELO_PER_LOGIT

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
        active = (name for name in competition.active_in(competition.last_round + 1) if name in self.free)
        free = sorted(active, key=lambda name: derived_seed(competition.seed, competition.last_round, name))
        told = information([self.estimates.get(name, NEWCOMER) for name in free])
        met = np.array([[competition.meetings[frozenset((one, other))] for other in free] for one in free], np.int64)
        n_played = Counter(pairing.matches[0].game for pairing in competition.pairings)
        given: list[ScheduledMatch] = []
        left = list(range(len(free)))
        for number in range(competition.last_round + 1, competition.last_round + 1 + self.n_meetings):
            playable = [game for game in competition.games if game.group_size <= len(left)]
            if not playable:
                break
            game = min(playable, key=lambda game: n_played[game.name])
            group = _pick(told, met, left, game.group_size)
            n_played[game.name] += 1
            left = [i for i in left if i not in group]
            meeting = Meeting(tuple(free[i] for i in group), number, f"ladder {number}")
            given += matches_of(meeting, (game,), competition.seed, self.sets)
        return tuple(given)


def _pick(told: _Floats, met: npt.NDArray[np.int64], left: list[int], size: int) -> list[int]:
    """Return the two of *left* who tell most about each other, then one by one who tells most about those picked."""
    own = np.ix_(left, left)
    pairs = np.argwhere(np.triu(told[own] >= told[own].max() - 1e-9, 1))
    times = met[own][pairs[:, 0], pairs[:, 1]]
    group = [left[i] for i in pairs[int(times.argmin())]]
    while len(group) < size:
        rest = [i for i in left if i not in group]
        group.append(max(rest, key=lambda i: float(told[i, group].sum())))
    return group


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
        difference = np.clip((mean + deviation * node) / ELO_PER_LOGIT, -_CERTAIN, _CERTAIN)
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
