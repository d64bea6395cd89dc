"""Standings: what counts as a score, and tie-breaks that are named where they decided."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, groupby, permutations
from statistics import fmean
from typing import Final

from server.tournament.competition import Competition, Pairing
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


class TieBreak(StrEnum):
    """What parts entrants with equal scores."""

    DIRECT_COMPARISON = "direct comparison"  # the points of meetings among them, if all of them have met
    BUCHHOLZ = "Buchholz"  # the sum of the scores of the opponents; a bye counts as an opponent with one's own score
    SONNEBORN_BERGER = "Sonneborn-Berger"  # the scores of the opponents, each times the points against it
    FEWER_ERRORS = "fewer errors"  # how many moves were substituted


TIE_BREAKS: Final = tuple(TieBreak)


@dataclass(frozen=True, slots=True)
class Standing:
    """The place of an entrant.

    Attributes:
        rank: from 1; equal for those whom nothing parts.
        name: the name of the entrant.
        score: what counts, by the measure of the rules.
        n_matches: how many matches count.
        n_byes: how many rounds without opponents count.
        tie_breaks: its value of each tie-break.
        decided_by: the tie-break that parts it from the entrant before it; None if the score does, or nothing.
    """

    rank: int
    name: str
    score: float
    n_matches: int
    n_byes: int
    tie_breaks: Mapping[TieBreak, float]
    decided_by: TieBreak | None = None


def standings(
    competition: Competition,
    rules: ScoringRules = MEETINGS_COUNT,
    byes: Iterable[tuple[int, str]] = (),
    groups: Sequence[Sequence[str]] | None = None,
) -> tuple[Standing, ...]:
    """Return the standings after the results so far; annulled matches do not count.

    Args:
        competition: what was played.
        rules: what counts.
        byes: the rounds and names of entrants who get points for a bye, as `swiss.byes` gives them.
        groups: the names of those who share a place, the best first, where the format decides on places and not scores.
    """
    record = _Record(competition, rules, tuple(byes))
    places = _ranked(record) if groups is None else _placed(groups)
    return tuple(
        Standing(
            rank=rank,
            name=name,
            score=record.scores[name],
            n_matches=record.n_matches[name],
            n_byes=record.n_byes(name),
            tie_breaks={each: record.tie_break(each, name, record.equals(name)) for each in TIE_BREAKS},
            decided_by=decided_by,
        )
        for rank, name, decided_by in places
    )


Points = Mapping[str, float]


def _scores(
    competition: Competition, rules: ScoringRules, byes: Sequence[tuple[int, str]], meetings: Iterable[Points]
) -> Mapping[str, float]:
    """Return the score of every entrant who has any, by the measure of *rules*."""
    match rules.measure:
        case Measure.GOALS:
            return mean_goals(competition.counted_results.values(), rules)
        case Measure.MEETINGS:
            return _summed(chain(meetings, ({name: rules.bye_points} for _, name in byes)))
        case Measure.POINTS:
            n_matches = {number: _n_matches_in(competition, number) for number in {number for number, _ in byes}}
            for_byes = ({name: rules.bye_points * n_matches[number]} for number, name in byes)
            return _summed(chain((match_points(pairing, rules) for pairing in competition.pairings), for_byes))


def _summed(points: Iterable[Points]) -> Mapping[str, float]:
    total: defaultdict[str, float] = defaultdict(float)
    for found in points:
        for name, value in found.items():
            total[name] += value
    return total


def _n_matches_in(competition: Competition, round_number: int) -> int:
    """Return how many matches an entrant with opponents has in a round, in which a match was scheduled."""
    in_round = (match for match in competition.scheduled if match.round == round_number and match.attempt == 1)
    return max(Counter(player for match in in_round for player in match.players).values())


class _Record:
    """What is read off the results once: scores, opponents, points of meetings and errors of every entrant."""

    def __init__(self, competition: Competition, rules: ScoringRules, byes: tuple[tuple[int, str], ...]) -> None:
        self.names, self.byes = competition.names, byes
        self.n_matches = dict.fromkeys(self.names, 0)
        self.errors = dict.fromkeys(self.names, 0.0)
        for result in competition.counted_results.values():
            self._count(result)
        meetings = [meeting_points(pairing, rules) for pairing in competition.pairings]
        self._own: dict[str, list[Mapping[str, float]]] = {name: [] for name in self.names}
        for points in meetings:
            for name in points:
                self._own[name].append(points)
        found = _scores(competition, rules, byes, meetings)
        self.scores = {name: round(found.get(name, 0.0), 9) for name in self.names}
        self._by_score: defaultdict[float, list[str]] = defaultdict(list)
        for name, score in self.scores.items():
            self._by_score[score].append(name)

    def _count(self, result: MatchResult) -> None:
        for player in result.players:
            self.n_matches[player] += 1
        for player, errors in zip(result.players, result.errors, strict=False):
            self.errors[player] += errors

    def n_byes(self, name: str) -> int:
        return sum(resting == name for _, resting in self.byes)

    def equals(self, name: str) -> Sequence[str]:
        """Return the names with the score of *name*."""
        return self._by_score[self.scores[name]]

    def tie_break(self, tie_break: TieBreak, name: str, tied: Sequence[str]) -> float:
        """Return the value of a tie-break for *name* among *tied*; the more, the better."""
        values: dict[TieBreak, Callable[[], float]] = {
            TieBreak.DIRECT_COMPARISON: lambda: self._direct(name, tied),
            TieBreak.BUCHHOLZ: lambda: self._buchholz(name),
            TieBreak.SONNEBORN_BERGER: lambda: self._sonneborn_berger(name),
            TieBreak.FEWER_ERRORS: lambda: -self.errors[name],
        }
        return round(values[tie_break](), 9)

    def _direct(self, name: str, tied: Sequence[str]) -> float:
        others = set(tied) - {name}
        return sum(points[name] for points in self._own[name] if not others.isdisjoint(points))

    def _buchholz(self, name: str) -> float:
        opponents = (other for points in self._own[name] for other in points if other != name)
        return sum(self.scores[other] for other in opponents) + self.n_byes(name) * self.scores[name]

    def _sonneborn_berger(self, name: str) -> float:
        return sum(self.scores[other] * points[name] for points in self._own[name] for other in points if other != name)

    def have_all_met(self, tied: Sequence[str]) -> bool:
        """Return whether each two of *tied* have met."""
        return all(set().union(*self._own[name]).issuperset(tied) for name in tied)


Place = tuple[int, str, TieBreak | None]


def _placed(groups: Iterable[Sequence[str]]) -> list[Place]:
    """Return the places of *groups*, of which each shares one."""
    places: list[Place] = []
    for group in groups:
        rank = len(places) + 1
        places += ((rank, name, None) for name in group)
    return places


def _ranked(record: _Record) -> list[Place]:
    """Return rank, name and what parted it from the one before, for every entrant."""
    in_order = sorted(record.names, key=lambda name: -record.scores[name])
    places: list[Place] = []
    for _, found in groupby(in_order, key=record.scores.__getitem__):
        for group, decided_by in _parted(record, list(found), TIE_BREAKS):
            rank = len(places) + 1
            places += ((rank, name, decided_by if i == 0 else None) for i, name in enumerate(group))
    return places


def _parted(
    record: _Record, tied: list[str], tie_breaks: tuple[TieBreak, ...]
) -> list[tuple[list[str], TieBreak | None]]:
    """Return *tied* in groups that stay equal, the best first, with the tie-break that parts each from the one before.

    The direct comparison begins anew among those whom it leaves together; other tie-breaks leave them together again.
    """
    if len(tied) < 2 or not tie_breaks:
        return [(tied, None)]
    first, rest = tie_breaks[0], tie_breaks[1:]
    if first is TieBreak.DIRECT_COMPARISON and not record.have_all_met(tied):
        return _parted(record, tied, rest)
    values = {name: record.tie_break(first, name, tied) for name in tied}
    in_order = sorted(tied, key=lambda name: -values[name])
    groups = [list(found) for _, found in groupby(in_order, key=values.__getitem__)]
    if len(groups) == 1:
        return _parted(record, tied, rest)
    parted: list[tuple[list[str], TieBreak | None]] = []
    for i, group in enumerate(groups):
        inner = _parted(record, group, tie_breaks)
        parted += [(inner[0][0], first if i else None), *inner[1:]]
    return parted
