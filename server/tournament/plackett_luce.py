"""The Plackett-Luce model of rankings, with ties: from results of matches to strengths, and how certain these are.

A match ranks its roles by their goals. The model takes the ranking as a row of choices: of all roles, who comes first;
of the rest, who comes next. A set `T` of one or more roles is chosen from those that are left, `A`, with a chance that
is proportional to

    delta(|T|) * product over r in T of a(r) ** (1 / |T|),     a(r) = exp(strength of the player + effect of the role)

where `delta(1)` is 1, and `delta(k)` says how often `k` roles tie in the game. For two roles without ties that is the
model of Bradley and Terry, with ties that of Davidson. Every choice is a multinomial logit, linear in the parameters,
so that the logarithm of the posterior is concave and has one mode.

*Source*: Firth, Kosmidis and Turner, Davidson-Luce model for multi-item choice with ties, 2019 (arXiv:1909.07123);
Davidson, On extending the Bradley-Terry model to accommodate ties, 1970.
"""

from __future__ import annotations  # an annotation that is evaluated loads scipy

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations
from typing import Final, TypeAlias

import numpy as np
import scipy  # its packages load when they are first used: half a second, which servers without tournaments save
from numpy.typing import NDArray

from server.tournament.fixtures import MatchResult

Floats: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.int64]
Stages: TypeAlias = tuple[tuple[int, ...], ...]

MOST_ROLES: Final = 10
"""A choice from more roles than these has too many sets that can tie."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """Where the parameters of the model are in their vector.

    Attributes:
        players: the strength of each player.
        roles: the effect of each role of each game; empty if roles have none.
        ties: the logarithm of `delta` by game and number of those who tie, of ties that there were. That a tie which
            never was is impossible is what maximum likelihood says, too.
    """

    players: Mapping[str, int]
    roles: Mapping[tuple[str, int], int]
    ties: Mapping[tuple[str, int], int]

    @property
    def size(self) -> int:
        """How many parameters there are."""
        return len(self.players) + len(self.roles) + len(self.ties)


@lru_cache(maxsize=4096)
def stages_of(goals: tuple[int, ...]) -> Stages:
    """Return the roles by their goals, the best first, those with equal goals together."""
    levels = sorted(set(goals), reverse=True)
    return tuple(tuple(role for role, goal in enumerate(goals) if goal == level) for level in levels)


def parameters_of(results: Sequence[MatchResult], *, has_role_effects: bool) -> Parameters:
    """Return the parameters that *results* tell of, in alphabetical order."""
    players = sorted({player for result in results for player in result.players})
    rankings = {(result.game, stages_of(result.goals)) for result in results}
    roles = sorted({(game, role) for game, stages in rankings for role in chain.from_iterable(stages)})
    ties = sorted({(game, len(stage)) for game, stages in rankings for stage in stages if len(stage) > 1})
    numbers = iter(range(len(players) + len(roles) + len(ties)))
    return Parameters(
        dict(zip(players, numbers, strict=False)),
        dict(zip(roles, numbers, strict=False)) if has_role_effects else {},
        dict(zip(ties, numbers, strict=False)),
    )


@dataclass(frozen=True, slots=True)
class RankedChoices:
    """Choices between alternatives whose utility is linear in the parameters.

    Attributes:
        features: a row for each alternative, a column for each parameter; those of a choice follow each other.
        sizes: how many alternatives each choice has.
        chosen: the row of the alternative that each choice took.
    """

    features: scipy.sparse.csr_array
    sizes: Numbers
    chosen: Numbers

    def log_likelihood(self, values: Floats) -> float:
        """Return the logarithm of the chance of all choices."""
        utilities = self.features @ values
        highest, shares = self._shares(utilities)
        return float(np.sum(utilities[self.chosen] - highest - np.log(shares)))

    def chances(self, values: Floats) -> Floats:
        """Return the chance of each alternative."""
        utilities = self.features @ values
        highest, shares = self._shares(utilities)
        chances: Floats = np.exp(utilities - np.repeat(highest, self.sizes)) / np.repeat(shares, self.sizes)
        return chances

    def gradient(self, values: Floats) -> Floats:
        """Return the gradient of the logarithm of the chance."""
        surprise = -self.chances(values)
        surprise[self.chosen] += 1
        gradient: Floats = self.features.T @ surprise
        return gradient

    def information(self, values: Floats) -> Floats:
        """Return Fisher's information, which for these models is the negative Hessian as well."""
        weighted = self.features.multiply(self.chances(values)[:, None]).tocsr()
        means = self._sums @ weighted
        information: Floats = (self.features.T @ weighted - means.T @ means).toarray()
        return information

    @property
    def _starts(self) -> Numbers:
        return np.cumsum(self.sizes) - self.sizes

    @property
    def _sums(self) -> scipy.sparse.csr_array:
        """The matrix that adds up the alternatives of each choice."""
        rows = int(self.sizes.sum())
        ends = np.append(0, np.cumsum(self.sizes))
        return scipy.sparse.csr_array((np.ones(rows), np.arange(rows), ends), shape=(len(self.sizes), rows))

    def _shares(self, utilities: Floats) -> tuple[Floats, Floats]:
        """Return the highest utility of each choice, and the sum of the exponentials of all, relative to it."""
        highest = np.maximum.reduceat(utilities, self._starts)
        return highest, np.add.reduceat(np.exp(utilities - np.repeat(highest, self.sizes)), self._starts)


def choices_of(results: Iterable[MatchResult], parameters: Parameters) -> RankedChoices:
    """Return the choices that the rankings of *results* consist of."""
    alike: dict[tuple[str, Stages], list[list[int]]] = defaultdict(list)
    for result in results:
        alike[result.game, stages_of(result.goals)].append([parameters.players[name] for name in result.players])
    blocks = [
        block
        for (game, stages), players in alike.items()
        for block in _blocks(game, stages, np.array(players, dtype=np.int64), parameters)
    ]
    n_rows = [block.n_choices * block.n_alternatives for block in blocks]
    firsts = np.cumsum([0, *n_rows])
    rows = np.concatenate([first + block.rows for first, block in zip(firsts, blocks, strict=False)])
    columns = np.concatenate([block.columns for block in blocks])
    weights = np.concatenate([block.weights for block in blocks])
    features = scipy.sparse.csr_array((weights, (rows, columns)), shape=(int(firsts[-1]), parameters.size))
    return RankedChoices(
        features,
        np.concatenate([np.full(block.n_choices, block.n_alternatives) for block in blocks]),
        np.concatenate([first + block.chosen for first, block in zip(firsts, blocks, strict=False)]),
    )


@dataclass(frozen=True, slots=True)
class _Block:
    """Choices that are alike but for the players: the entries of their rows, counted from the block's first."""

    n_choices: int
    n_alternatives: int
    rows: Numbers
    columns: Numbers
    weights: Floats
    chosen: Numbers


def _blocks(game: str, stages: Stages, players: Numbers, parameters: Parameters) -> Iterator[_Block]:
    """Yield the choices of matches of *game* that ended alike, whose *players* are a row for each match."""
    sizes = [1, *(size for tied, size in parameters.ties if tied == game)]
    left = tuple(sorted(chain.from_iterable(stages)))
    for stage in stages:
        if len(left) == 1:
            return
        sets = [chosen for size in sizes for chosen in combinations(left, size)]
        yield _block(game, sets, sets.index(stage), players, parameters)
        left = tuple(role for role in left if role not in stage)


def _block(game: str, sets: Sequence[tuple[int, ...]], chosen: int, players: Numbers, parameters: Parameters) -> _Block:
    """Return the choice number *chosen* from *sets* of roles, once for each row of *players*."""
    seats = [(row, role, 1 / len(roles)) for row, roles in enumerate(sets) for role in roles]
    same = [(row, parameters.roles[game, role], weight) for row, role, weight in seats if parameters.roles]
    same += [(row, parameters.ties[game, len(roles)], 1.0) for row, roles in enumerate(sets) if len(roles) > 1]
    n_choices = len(players)
    of_players = players[:, [role for _, role, _ in seats]]
    of_all = np.tile(np.array([column for _, column, _ in same], dtype=np.int64), (n_choices, 1))
    rows = np.array([row for row, _, _ in chain(seats, same)], dtype=np.int64)
    firsts = len(sets) * np.arange(n_choices)
    return _Block(
        n_choices,
        len(sets),
        (firsts[:, None] + rows).ravel(),
        np.hstack([of_players, of_all]).ravel(),
        np.tile(np.array([weight for _, _, weight in chain(seats, same)]), n_choices),
        firsts + chosen,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """The normal distribution that the posterior is near its mode (Laplace's approximation).

    *Units*: those of the parameters, natural logarithms of odds.
    """

    mode: Floats
    covariance: Floats


def posterior(choices: RankedChoices, deviations: Floats) -> Posterior:
    """Return the posterior of the parameters, whose prior is normal with mean 0 and standard *deviations*."""
    precision = deviations**-2.0
    found = scipy.optimize.minimize(
        lambda values: 0.5 * float(values @ (precision * values)) - choices.log_likelihood(values),
        np.zeros(len(precision)),
        method="trust-exact",
        jac=lambda values: precision * values - choices.gradient(values),
        hess=lambda values: np.diag(precision) + choices.information(values),
        # The region is wide at first, so that steps are Newton's unless one of them does not lead uphill as it should.
        options={"gtol": 1e-6, "maxiter": 200, "initial_trust_radius": 1e3, "max_trust_radius": 1e6},
    )
    mode: Floats = found.x
    factor = scipy.linalg.cho_factor(np.diag(precision) + choices.information(mode))
    return Posterior(mode, scipy.linalg.cho_solve(factor, np.eye(len(mode))))
