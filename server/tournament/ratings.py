"""Ratings of players from results of matches: on the scale of Elo, with intervals, whatever roles they had.

Ratings are the mode of the posterior of the Plackett-Luce model with ties (`server.tournament.plackett_luce`), and the
intervals those of Laplace's approximation to it. A role that wins oftener than others has an effect of its own in each
game, so that a lucky seat earns nothing.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from server.tournament.fixtures import MatchResult
from server.tournament.plackett_luce import MOST_ROLES, Parameters, Posterior, choices_of, parameters_of, posterior

ELO_PER_LOGIT: Final = 400 / math.log(10)
"""Elo points for each natural logarithm of odds."""
MEAN_ELO: Final = 1500.0
"""The mean of all players, if no player is the anchor."""
PRIOR_ELO: Final = 400.0
"""The standard deviation that the prior gives to players and roles."""
_PRIOR_OF_TIES: Final = 3.0  # in logits: from 1 % to 99 % of ties between equals are within two of them
_QUANTILE: Final = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class Rating:
    """How strong a player is, with the 95 % interval of that.

    Attributes:
        player: its name.
        elo: points of Elo.
        low: the lower end of the interval.
        high: the upper end.
        n_matches: how many matches it played against others.
    """

    player: str
    elo: float
    low: float
    high: float
    n_matches: int

    @property
    def deviation(self) -> float:
        """The standard deviation of the points."""
        return (self.high - self.low) / (2 * _QUANTILE)


def elo_range(ratings: Iterable[Rating]) -> tuple[float, float]:
    """Return the lowest and the highest end of the intervals of *ratings*; zeros where there is none."""
    found = tuple(ratings)
    return (min(each.low for each in found), max(each.high for each in found)) if found else (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class RoleEffect:
    """What a seat is worth beside the mean of the roles of its game, in points of Elo, with the 95 % interval.

    Attributes:
        game: the name of the game.
        role: the number of the role.
        elo: points of Elo.
        low: the lower end of the interval.
        high: the upper end.
    """

    game: str
    role: int
    elo: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """The ratings of players that played each other.

    Attributes:
        players: the best first.
        roles: by game and number of the role.
        n_matches: how many matches they follow from.
    """

    players: tuple[Rating, ...]
    roles: tuple[RoleEffect, ...]
    n_matches: int
    _parameters: Parameters = field(repr=False)
    _posterior: Posterior = field(repr=False)

    def rating_of(self, player: str) -> Rating:
        """Return the rating of *player*.

        Raises:
            KeyError: it has none.
        """
        found = {rating.player: rating for rating in self.players}
        return found[player]

    def lead(self, player: str, other: str) -> tuple[float, float, float]:
        """Return by how much *player* is ahead of *other*, and the 95 % interval of that. *Units*: points of Elo.

        Raises:
            KeyError: one of them has no rating.
        """
        deviation = math.sqrt(self._variance(player, other))
        return _interval(ELO_PER_LOGIT * self._lead(player, other), ELO_PER_LOGIT * deviation)

    def superiority(self, player: str, other: str) -> float:
        """Return the likelihood that *player* is stronger than *other*, by the posterior of both together.

        Raises:
            KeyError: one of them has no rating.
        """
        variance = self._variance(player, other)
        return NormalDist().cdf(self._lead(player, other) / math.sqrt(variance)) if variance else 0.5

    def _variance(self, player: str, other: str) -> float:
        """Return the variance of how much stronger *player* is than *other*. *Units*: logits squared."""
        one, two = self._parameters.players[player], self._parameters.players[other]
        covariance = self._posterior.covariance
        return max(0.0, float(covariance[one, one] + covariance[two, two] - 2 * covariance[one, two]))

    def expected_score(self, player: str, other: str, game: str | None = None) -> float:
        """Return the points that *player* can expect from a match against *other*: 1 for a win, 1/2 for a draw.

        Without a *game* that is the curve of Elo, of a game without draws and luck of seats. With a game of two roles,
        it is the mean over both seatings, with the draws and effects of roles of that game.

        Raises:
            KeyError: one of them has no rating.
            ValueError: *game* was not played, or has not two roles.
        """
        lead = self._lead(player, other)
        if game is None:
            return 1 / (1 + math.exp(-lead))
        luck, tie = self._seats(game)
        return (_points(lead + luck, tie) + _points(lead - luck, tie)) / 2

    def _lead(self, player: str, other: str) -> float:
        """How much stronger *player* is than *other*. *Units*: logits."""
        players, mode = self._parameters.players, self._posterior.mode
        return float(mode[players[player]] - mode[players[other]])

    def _seats(self, game: str) -> tuple[float, float]:
        """Return what the first role of *game* has ahead of the second, in logits, and the weight of its draws."""
        effects = [role.elo for role in self.roles if role.game == game]
        if len(effects) != 2:
            raise ValueError(f"no ratings of matches of two roles of {game!r}")
        column = self._parameters.ties.get((game, 2))
        return (effects[0] - effects[1]) / ELO_PER_LOGIT, 0.0 if column is None else math.exp(
            self._posterior.mode[column]
        )


def fit_ratings(
    results: Iterable[MatchResult],
    *,
    games: Collection[str] | None = None,
    has_role_effects: bool = True,
    prior_elo: float = PRIOR_ELO,
    anchor: tuple[str, float] | None = None,
) -> Ratings:
    """Return the ratings that *results* give to the players.

    What counts of a match is who came before whom, and who tied. Games of one role compare tables of points, not
    players in a match: they are left out, as are games of more than `MOST_ROLES` roles. A match that a player plays
    against itself tells of the roles and the draws alone. Groups of players that never met are held together by the
    prior only, which their intervals show.

    The intervals hold for the strength over the matches played, as if each player had one strength in all *games*.

    Args:
        results: the matches, in any order.
        games: the games that count; None for all.
        has_role_effects: whether roles have effects, for each game its own.
        prior_elo: the standard deviation of the normal prior of strengths and effects, in points of Elo.
        anchor: a player and the Elo that it has by definition; without it the mean of the players is `MEAN_ELO`.

    Raises:
        ValueError: the anchor has no match that counts, or *prior_elo* is not positive.
    """
    if not prior_elo > 0:
        raise ValueError(f"the deviation of the prior must be positive, not {prior_elo}")
    counted = [result for result in results if _counts(result) and (games is None or result.game in games)]
    parameters = parameters_of(counted, has_role_effects=has_role_effects)
    if anchor is not None and anchor[0] not in parameters.players:
        raise ValueError(f"the anchor {anchor[0]!r} has no match that counts")
    if not counted:
        return Ratings((), (), 0, parameters, Posterior(np.zeros(0), np.zeros((0, 0))))
    deviations = np.full(parameters.size, prior_elo / ELO_PER_LOGIT)
    deviations[list(parameters.ties.values())] = _PRIOR_OF_TIES
    found = posterior(choices_of(counted, parameters), deviations)
    players = _ratings(counted, parameters, found, anchor)
    return Ratings(players, _role_effects(counted, parameters, found), len(counted), parameters, found)


def _counts(result: MatchResult) -> bool:
    return 2 <= len(result.players) <= MOST_ROLES


def fit_ratings_by_game(results: Iterable[MatchResult], anchor: tuple[str, float] | None = None) -> dict[str, Ratings]:
    """Return the ratings in each game alone, as `fit_ratings` gives them, by the name of the game.

    The *anchor* has its Elo in the games in which it has a match that counts; in others the mean is `MEAN_ELO`.
    """
    by_game: dict[str, list[MatchResult]] = {}
    for result in results:
        by_game.setdefault(result.game, []).append(result)
    return {
        game: fit_ratings(of_game, anchor=anchor if anchor and _has_match(anchor[0], of_game) else None)
        for game, of_game in sorted(by_game.items())
    }


def _has_match(player: str, results: Iterable[MatchResult]) -> bool:
    return any(player in result.players for result in results if _counts(result))


def _ratings(
    results: Iterable[MatchResult], parameters: Parameters, found: Posterior, anchor: tuple[str, float] | None
) -> tuple[Rating, ...]:
    """Return the ratings of all players, the best first, relative to the anchor or their mean."""
    seated = (set(result.players) for result in results)
    n_matches = Counter(chain.from_iterable(players for players in seated if len(players) > 1))
    columns = list(parameters.players.values())
    if anchor is None:
        weights, origin = np.full(len(columns), 1 / len(columns)), MEAN_ELO
    else:
        weights, origin = np.array([float(player == anchor[0]) for player in parameters.players]), anchor[1]
    means, deviations = _relative(found, columns, weights)
    rated = [
        Rating(player, *_interval(origin + mean, deviation), n_matches[player])
        for player, mean, deviation in zip(parameters.players, means, deviations, strict=True)
    ]
    return tuple(sorted(rated, key=lambda rating: (-rating.elo, rating.player)))


def _role_effects(results: Iterable[MatchResult], parameters: Parameters, found: Posterior) -> tuple[RoleEffect, ...]:
    """Return the effects of roles, relative to their mean in each game."""
    n_roles = {result.game: len(result.players) for result in results}
    effects = []
    for game, count in sorted(n_roles.items()):
        columns = [parameters.roles[game, role] for role in range(count) if parameters.roles]
        if columns:
            values = zip(*_relative(found, columns, np.full(count, 1 / count)), strict=True)
            effects += [RoleEffect(game, role, *_interval(*value)) for role, value in enumerate(values)]
        else:
            effects += [RoleEffect(game, role, 0.0, 0.0, 0.0) for role in range(count)]
    return tuple(effects)


def _relative(found: Posterior, columns: list[int], weights: NDArray[np.float64]) -> tuple[list[float], list[float]]:
    """Return mean and deviation of the parameters in *columns* less their mean by *weights*. *Units*: Elo."""
    values, covariance = found.mode[columns], found.covariance[np.ix_(columns, columns)]
    shared = covariance @ weights
    variances = np.diag(covariance) - 2 * shared + weights @ shared
    deviations = np.sqrt(np.maximum(variances, 0))  # the anchor's variance is 0 but for rounding
    return list(ELO_PER_LOGIT * (values - weights @ values)), list(ELO_PER_LOGIT * deviations)


def _interval(mean: float, deviation: float) -> tuple[float, float, float]:
    return float(mean), float(mean - _QUANTILE * deviation), float(mean + _QUANTILE * deviation)


def _points(lead: float, tie: float) -> float:
    """Return the expected points of a player ahead by *lead* logits, where draws have the weight *tie* (Davidson)."""
    win, loss = math.exp(lead / 2), math.exp(-lead / 2)
    return (win + tie / 2) / (win + loss + tie)


N_POINTS: Final = 40
"""How often the ratings are looked at."""


@dataclass(frozen=True, slots=True)
class RatingsAfter:
    """The ratings of all players, by name, after the first `n_results` results."""

    n_results: int
    ratings: Mapping[str, Rating]


def rating_history(results: Sequence[MatchResult], n_points: int = N_POINTS) -> tuple[RatingsAfter, ...]:
    """Return the ratings after up to *n_points* numbers of *results*, which are in the order of time; the last is all.

    Each is a fit of its own, so that a later result does not change what was known before.
    """
    n = len(results)
    numbers = sorted({round(n * i / n_points) for i in range(n_points + 1)} - {0})
    fits = ((number, fit_ratings(results[:number]).players) for number in numbers)
    return tuple(RatingsAfter(number, {each.player: each for each in rated}) for number, rated in fits)
