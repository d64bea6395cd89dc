"""Two players head to head: what one made against the other, altogether and in each seat."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final

from server.storage.results import rated_results
from server.storage.rows import RatedResult
from server.tournament.ratings import Rating, fit_ratings

_N_MATCHES: Final = 40
_N_OPPONENTS: Final = 12


@dataclass(frozen=True, slots=True)
class MeetingTally:
    """What one player made against another: won, drawn and lost matches, and the means of the goals that count."""

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
    if not found:
        return Encounters(None)
    encounters = Encounters(
        _tally(found, one, other), tuple(by_seat(found, one, other)), latest=tuple(found[: -_N_MATCHES - 1 : -1])
    )
    rated = rated_results(found)
    if not rated:
        return encounters
    fitted = fit_ratings(rated, anchor=(other, 0.0))
    return replace(encounters, lead=fitted.rating_of(one), superiority=fitted.superiority(one, other))


def by_seat(results: Sequence[RatedResult], one: str, other: str) -> list[SeatTally]:
    """Return what *one* made against *other* in each role of each game."""
    found: defaultdict[tuple[str, int], list[RatedResult]] = defaultdict(list)
    for each in results:
        found[each.result.game, each.result.players.index(one)].append(each)
    return [SeatTally(game, role, _tally(of_seat, one, other)) for (game, role), of_seat in sorted(found.items())]


def _tally(found: Sequence[RatedResult], one: str, other: str) -> MeetingTally:
    goals = [(_goal(each, one), _goal(each, other)) for each in found]
    places = [
        (-1.0 if one in each.lost else own, -1.0 if other in each.lost else its)
        for each, (own, its) in zip(found, goals, strict=True)
    ]
    n_won = sum(own > its for own, its in places)
    n_lost = sum(own < its or own < 0 for own, its in places)  # where both have lost, neither has drawn
    means = fmean(own for own, _ in goals), fmean(its for _, its in goals)
    return MeetingTally(len(goals), n_won, len(goals) - n_won - n_lost, n_lost, *means)


def _goal(each: RatedResult, player: str) -> float:
    return replace(each.result, goals=each.goals).goal_of(player)


def opponents(player: str, found: Iterable[RatedResult]) -> list[tuple[str, int]]:
    """Return whom *player* has met in its results *found*, each with how often; the most frequent ones first."""
    met: Counter[str] = Counter()
    for each in found:
        met.update({other for other in each.result.players if other != player})
    return met.most_common(_N_OPPONENTS)
