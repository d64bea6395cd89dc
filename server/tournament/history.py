"""Ratings over time: how they were after more and more of the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from server.tournament.ratings import Rating, fit_ratings
from server.tournament.results import MatchResult

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
    numbers = sorted({round(n * i / n_points) for i in range(1, n_points + 1)} - {0})
    fits = ((number, fit_ratings(results[:number]).players) for number in numbers)
    return tuple(RatingsAfter(number, {each.player: each for each in rated}) for number, rated in fits)
