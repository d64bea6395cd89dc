"""Standings: places by scores, and tie-breaks that are named where they decided."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, groupby
from typing import Final

from server.tournament.competition import Competition
from server.tournament.fixtures import MatchResult
from server.tournament.scoring import MEETINGS_COUNT, Measure, ScoringRules, match_points, mean_goals, meeting_points


class TieBreak(StrEnum):
    """What parts entrants with equal scores."""

    DIRECT_COMPARISON = "direct comparison"  # the points of meetings among them, if all of them have met
    BUCHHOLZ = "Buchholz"  # the sum of the scores of the opponents; a bye counts as an opponent with one's own score
    SONNEBORN_BERGER = "Sonneborn-Berger"  # the scores of the opponents, each times the points against it
    FEWER_ERRORS = "fewer errors"  # how many moves were substituted
    ORDER_OF_ENTRY = "order of entry"  # in a knockout, by starting ranks


TIE_BREAKS: Final = tuple(each for each in TieBreak if each is not TieBreak.ORDER_OF_ENTRY)
"""What parts equal scores, in this order."""


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
        decided_by: the tie-break that parts it from the entrant before it, in a knockout from the one that put it out;
            None if the score does, or nothing.
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
    out_by_rank: Collection[str] = (),
) -> tuple[Standing, ...]:
    """Return the standings after the results so far; annulled matches do not count.

    Args:
        competition: what was played.
        rules: what counts.
        byes: the rounds and names of entrants who get points for a bye, as `swiss.byes` gives them.
        groups: the names of those who share a place, the best first, where the format decides on places and not scores.
        out_by_rank: the names of those whom there their starting rank put behind opponents with as many points.
    """
    record = _Record(competition, rules, tuple(byes))
    places = _ranked(record) if groups is None else _placed(groups, out_by_rank)
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


def _placed(groups: Iterable[Sequence[str]], out_by_rank: Collection[str]) -> list[Place]:
    """Return the places of *groups*, of which each shares one; starting ranks decided on those *out_by_rank*."""
    places: list[Place] = []
    for group in groups:
        rank = len(places) + 1
        places += ((rank, name, TieBreak.ORDER_OF_ENTRY if name in out_by_rank else None) for name in group)
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
