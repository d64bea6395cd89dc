"""Sequential tests of whether a player is stronger than another: after each pair of matches, stop or go on.

The test is the generalised sequential probability ratio test (GSPRT) with normalised Elo, as fishtest and fastchess
have it. A match is worth 0, 1/2 or 1 point; a pair of matches with roles exchanged 0, 1/4, 1/2, 3/4 or 1 point a match,
which takes the luck of seats out of the variance. Hypotheses say how far the expected score `mu` is from 1/2, in
standard deviations `sigma` of a match:

    (mu - 1/2) / sigma = t = elo * ln(10) / 800

(the mean of a pair deviates less, so that `t` of pairs is `sqrt(2)` times that). The log-likelihood ratio of `N`
observations with the frequencies `f` is `N * sum f(i) * ln(p1(i) / p0(i))`, where `p0` and `p1` are the distributions
on which the frequencies are most likely, of those that have `t0` and `t1`. With the scores `b(i)` less 1/2, such a
distribution and its mean `mu` and deviation `sigma` are found by iteration of

    p(i) = f(i) / (1 + x * phi(i)),     phi(i) = b(i) - t / 2 * (sigma + (b(i) - mu) ** 2 / sigma),     sum p * phi = 0

The test accepts H1 (`elo1`) when the ratio reaches `ln((1 - beta) / alpha)`, and H0 (`elo0`) when it reaches
`ln(beta / (1 - alpha))` (Wald).

*Source*: Van den Bergh, Comments on Normalized Elo, section 4.1 (www.cantate.be/Fishtest/normalized_elo_practical.pdf);
fastchess, `sprt.cpp`; fishtest, `LLRcalc.py`, whose `LLR_normalized` this is.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.tournament.fixtures import MatchResult

Floats: TypeAlias = NDArray[np.float64]

ELO_PER_DEVIATION: Final = 800 / math.log(10)
"""Points of normalised Elo for each standard deviation of a match."""
MOST_ELO: Final = 150.0
"""Hypotheses are at most so far from 0: farther out, the iteration may not end."""
_MOST_ROUNDS: Final = 200
_ABSENT: Final = 1e-3  # the count of what never happened, as fishtest and fastchess have it


class Decision(StrEnum):
    """What a sequential test says: which hypothesis it accepts, or that it needs more matches."""

    H0 = "H0"
    H1 = "H1"
    CONTINUE = "continue"


@dataclass(frozen=True, slots=True)
class SprtTest:
    """A sequential test of H0, that a player is ahead by `elo0`, against H1, that it is by `elo1`.

    Its `counts` are those of matches lost, drawn and won, or of pairs of matches with 0, 1/2, 1, 3/2 and 2 points.

    Attributes:
        elo0: normalised Elo under H0.
        elo1: normalised Elo under H1.
        alpha: the probability with which H1 may be accepted where H0 is true.
        beta: the probability with which H0 may be accepted where H1 is true.

    Raises:
        ValueError: `elo0` is not below `elo1`, one of them is beyond `MOST_ELO`, or alpha and beta are not above 0 with
            a sum below 1.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        if not -MOST_ELO <= self.elo0 < self.elo1 <= MOST_ELO:
            raise ValueError(f"the hypotheses must be {-MOST_ELO} <= elo0 < elo1 <= {MOST_ELO}")
        if not (self.alpha > 0 and self.beta > 0 and self.alpha + self.beta < 1):
            raise ValueError("alpha and beta must be above 0, and their sum below 1")

    @property
    def lower(self) -> float:
        """The log-likelihood ratio at which H0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The log-likelihood ratio at which H1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def llr(self, counts: Sequence[int]) -> float:
        """Return the log-likelihood ratio of H1 to H0.

        Raises:
            ValueError: there are neither three nor five *counts*.
        """
        return float(self.llrs([counts])[0])

    def llrs(self, counts: ArrayLike) -> Floats:
        """Return the log-likelihood ratio of each of many tests, whose *counts* are a row each.

        Raises: as `llr`.
        """
        regular = np.asarray(counts, dtype=np.float64)
        if regular.shape[-1] not in (3, 5):
            raise ValueError(f"the counts must be three of matches or five of pairs, not {regular.shape[-1]}")
        regular = np.where(regular == 0, _ABSENT, regular)
        total = regular.sum(axis=-1, keepdims=True)
        frequencies = regular / total
        scale = math.sqrt(2 if regular.shape[-1] == 5 else 1) / ELO_PER_DEVIATION
        losses0, losses1 = (_losses(frequencies, elo * scale) for elo in (self.elo0, self.elo1))
        ratios: Floats = total[:, 0] * (losses0 - losses1)
        return ratios

    def decision(self, counts: Sequence[int]) -> Decision:
        """Return what the test says after *counts*.

        Raises: as `llr`.
        """
        ratio = self.llr(counts)
        if ratio >= self.upper:
            return Decision.H1
        return Decision.H0 if ratio <= self.lower else Decision.CONTINUE


def pentanomial(results: Iterable[MatchResult], player: str, other: str) -> tuple[int, ...]:
    """Return in how many pairs of matches *player* made 0, 1/2, 1, 3/2 and 2 points against *other*.

    A pair is two matches of a game with the two roles exchanged: in each game the first with the first, the second with
    the second, and so on. A match without its counterpart does not count yet.
    """
    points: dict[tuple[str, int], list[float]] = defaultdict(list)
    for result in results:
        if result.players == (player, other):
            points[result.game, 0].append(result.points(0, 1))
        elif result.players == (other, player):
            points[result.game, 1].append(result.points(1, 0))
    games = {game for game, _ in points}
    sums = Counter(
        first + second for game in games for first, second in zip(points[game, 0], points[game, 1], strict=False)
    )
    return tuple(sums[worth / 2] for worth in range(5))


def _losses(frequencies: Floats, t: float) -> Floats:
    """Return the mean logarithm that the likeliest distributions with *t* lose to *frequencies*, a row each.

    Rows leave when mean and variance of their distributions stay. What is lost is stationary in these, so that it is
    exact to the square of their last steps.
    """
    scores = np.linspace(-0.5, 0.5, frequencies.shape[-1])
    losses, left = np.zeros(len(frequencies)), np.arange(len(frequencies))
    moments = np.tile([0.0, np.mean(scores**2)], (len(left), 1))
    x = np.zeros((len(left), 1))
    for _ in range(_MOST_ROUNDS):
        mean, deviation = moments[:, :1], np.sqrt(moments[:, 1:])
        phi = scores - t / 2 * (deviation + (scores - mean) ** 2 / deviation)
        x = _secular_root(frequencies, phi, x)
        losses[left] = np.sum(frequencies * np.log1p(x * phi), axis=-1)
        likely = frequencies / (1 + x * phi)
        means = likely @ scores
        following = np.stack([means, likely @ scores**2 - means**2], axis=-1)
        moves = np.any(np.abs(following - moments) > 1e-6, axis=-1)
        if not moves.any():
            break
        left, frequencies, x, moments = left[moves], frequencies[moves], x[moves], following[moves]
    return losses


def _secular_root(frequencies: Floats, phi: Floats, start: Floats) -> Floats:
    """Return the x of each row where the sum of `f * phi / (1 + x * phi)`, which falls between two poles, is 0.

    By Newton's method from *start*, whose steps stay within the interval in which the sign changes, and off its ends.
    """
    low, high = -1 / phi.max(axis=-1, keepdims=True), -1 / phi.min(axis=-1, keepdims=True)
    x = np.where((start > low) & (start < high), start, 0)
    for _ in range(_MOST_ROUNDS):
        terms = phi / (1 + x * phi)
        weighted = frequencies * terms
        value = weighted.sum(axis=-1, keepdims=True)
        low, high = np.where(value > 0, x, low), np.where(value < 0, x, high)
        newton = x + value / (weighted * terms).sum(axis=-1, keepdims=True)
        before, x = x, np.clip(newton, low + (x - low) / 1000, high - (high - x) / 1000)
        if np.max(np.abs(x - before), initial=0) < 1e-10:
            break
    return x
