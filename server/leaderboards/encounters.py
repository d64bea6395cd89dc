"""Two players head to head: what one made against the other, altogether and in each seat."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from server.storage.rows import RatedResult
from server.tournament.fixtures import MatchResult
from server.tournament.ratings import Rating, fit_ratings

_N_MATCHES: Final = 40
_N_OPPONENTS: Final = 12


@dataclass(frozen=True, slots=True)
class MeetingTally:
    """What one player made against another: won, drawn and lost matches, and the mean goals of both."""

    n_matches: int
    wins: int
    draws: int
    losses: int
    mean_goal: float
    other_goal: float


@dataclass(frozen=True, slots=True)
class SeatTally:
    """What one player made against another in a game, in the role with the number *role*."""

    game: str
    role: int
    tally: MeetingTally


@dataclass(frozen=True, slots=True)
class Encounters:
    """All matches of two players: what the first made altogether (None where they have not met) and in each seat.

    `lead` is its rating above the other, `superiority` the likelihood that it is stronger, `latest` their last matches.
    """

    total: MeetingTally | None
    seats: tuple[SeatTally, ...] = ()
    lead: Rating | None = None
    superiority: float | None = None
    latest: tuple[RatedResult, ...] = ()


def encounters_of(one: str, other: str, found: Sequence[RatedResult]) -> Encounters:
    """Return what *one* made against *other* by their results *found*, which are in the order of time."""
    results = [each.result for each in found]
    if not results:
        return Encounters(None)
    fitted = fit_ratings(results, anchor=(other, 0.0))
    return Encounters(
        _tally(results, one, other),
        tuple(by_seat(results, one, other)),
        fitted.rating_of(one),
        fitted.superiority(one, other),
        tuple(found[: -_N_MATCHES - 1 : -1]),
    )


def by_seat(results: Sequence[MatchResult], one: str, other: str) -> list[SeatTally]:
    """Return what *one* made against *other* in each role of each game."""
    found: defaultdict[tuple[str, int], list[MatchResult]] = defaultdict(list)
    for result in results:
        found[result.game, result.players.index(one)].append(result)
    return [SeatTally(game, role, _tally(of_seat, one, other)) for (game, role), of_seat in sorted(found.items())]


def _tally(results: Sequence[MatchResult], one: str, other: str) -> MeetingTally:
    goals = [(result.goal_of(one), result.goal_of(other)) for result in results]
    n_won, n_lost = sum(own > its for own, its in goals), sum(own < its for own, its in goals)
    means = fmean(own for own, _ in goals), fmean(its for _, its in goals)
    return MeetingTally(len(goals), n_won, len(goals) - n_won - n_lost, n_lost, *means)


def opponents(player: str, found: Iterable[RatedResult]) -> list[tuple[str, int]]:
    """Return whom *player* has met in its results *found*, each with how often; the most frequent ones first."""
    met: Counter[str] = Counter()
    for each in found:
        met.update({other for other in each.result.players if other != player})
    return met.most_common(_N_OPPONENTS)
