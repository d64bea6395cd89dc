"""What counts as a score: the goals of matches by which rules, and the points that they are worth."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import permutations
from statistics import fmean
from typing import Final

from server.tournament.competition import Pairing
from server.tournament.fixtures import MatchResult


class Measure(StrEnum):
    """What is added up to the score of an entrant."""

    GOALS = "goals"  # the mean goal of all matches, 0 to 100
    POINTS = "points"  # for every match, by whether the goal is better than, equal to or worse than the others'
    MEETINGS = "meetings"  # for every meeting, by whether the mean goal of its matches is better, equal or worse


@dataclass(frozen=True, slots=True)
class ScoringRules:
    """What counts in a competition.

    Attributes:
        measure: what is added up.
        better: the points for more than another.
        equal: the points for as much as another.
        worse: the points for less than another.
        forfeit_errors: a player with so many errors in a match has lost it; None if errors alone lose nothing.
        bye: what counts for a round without opponents, as points of a meeting; None for those of *better*.
    """

    measure: Measure = Measure.MEETINGS
    better: float = 1.0
    equal: float = 0.5
    worse: float = 0.0
    forfeit_errors: int | None = None
    bye: float | None = None

    @property
    def bye_points(self) -> float:
        """The points for a round without opponents."""
        return self.better if self.bye is None else self.bye

    def points(self, goal: float, other: float) -> float:
        """Return the points for *goal* against *other*."""
        return self.better if goal > other else self.equal if goal == other else self.worse


MEETINGS_COUNT: Final = ScoringRules()


def losers(result: MatchResult, rules: ScoringRules) -> frozenset[str]:
    """Return who has lost a match whatever the goals are: players who did not come, or made too many errors."""
    limit = rules.forfeit_errors
    pairs = zip(result.players, result.errors, strict=False)
    by_errors = (player for player, errors in pairs if limit is not None and errors >= limit)
    return frozenset((*result.forfeited, *by_errors))


def counted_goals(result: MatchResult, rules: ScoringRules) -> tuple[int, ...]:
    """Return the goals that count, in the order of the roles.

    Players who have lost whatever the goals are get 0, and each of the others at least what the best of them had
    reached: what substitutes won for a player counts for its opponents.
    """
    lost = losers(result, rules)
    reached = max(
        (goal for player, goal in zip(result.players, result.goals, strict=True) if player in lost), default=0
    )
    pairs = zip(result.players, result.goals, strict=True)
    return tuple(0 if player in lost else max(goal, reached) for player, goal in pairs)


def rated_goals(result: MatchResult, rules: ScoringRules) -> tuple[int, ...]:
    """Return goals in the order that counts, which is all that ratings read: who has lost is behind a goal of 0."""
    lost = losers(result, rules)
    pairs = zip(result.players, counted_goals(result, rules), strict=True)
    return tuple(-1 if player in lost else goal for player, goal in pairs)


def rated_result(result: MatchResult, rules: ScoringRules) -> MatchResult | None:
    """Return *result* with goals in the order that counts, as ratings read it; None where it tells nothing of strength.

    What substitutes won for a player counts for the others. A match to which a player did not come, and one that all
    have lost, tell nothing.
    """
    if result.forfeited or losers(result, rules).issuperset(result.players):
        return None
    return replace(result, goals=rated_goals(result, rules))


def mean_goals(results: Iterable[MatchResult], rules: ScoringRules) -> dict[str, float]:
    """Return the mean of the goals that count of each player, over all its seats in *results*."""
    goals: defaultdict[str, list[int]] = defaultdict(list)
    for result in results:
        for player, goal in zip(result.players, counted_goals(result, rules), strict=True):
            goals[player].append(goal)
    return {player: fmean(found) for player, found in goals.items()}


def meeting_points(pairing: Pairing, rules: ScoringRules) -> dict[str, float]:
    """Return what each player gets for a meeting, by mean goals: the mean of its points against each other player."""
    return _compared(pairing.results, rules)


def match_points(pairing: Pairing, rules: ScoringRules) -> dict[str, float]:
    """Return what each player gets for the matches of a meeting, summed up; for each, a mean over the other players.

    The matches of one set of a game of one role are compared with each other.
    """
    set_of = {match.match_id: match.set_id for match in pairing.matches}
    contests: defaultdict[str, list[MatchResult]] = defaultdict(list)
    for result in pairing.results:
        contests[set_of[result.match_id] if len(result.players) == 1 else result.match_id].append(result)
    total: defaultdict[str, float] = defaultdict(float)
    for results in contests.values():
        for player, points in _compared(results, rules).items():
            total[player] += points
    return dict(total)


def _compared(results: Sequence[MatchResult], rules: ScoringRules) -> dict[str, float]:
    """Return the points of each player for its mean goal against those of the others: a mean, 0 for a player alone."""
    total = {player: 0.0 for result in results for player in result.players}
    for (one, _), points in points_between(results, rules).items():
        total[one] += points
    n_others = max(1, len(total) - 1)
    return {player: points / n_others for player, points in total.items()}


def points_between(results: Sequence[MatchResult], rules: ScoringRules) -> dict[tuple[str, str], float]:
    """Return the points of each player for its mean goal against that of each other.

    A player who has lost all its matches whatever the goals are is worse than any other, also than another such player.
    """
    goals = mean_goals(results, rules)
    stays = {player for result in results for player in result.players if player not in losers(result, rules)}

    def points(one: str, other: str) -> float:
        if one not in stays:
            return rules.worse
        return rules.points(goals[one], goals[other]) if other in stays else rules.better

    return {(one, other): points(one, other) for one, other in permutations(goals, 2)}
