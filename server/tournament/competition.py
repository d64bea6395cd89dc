"""A competition so far, what a schedule reads of it, and which matches come next."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Final, Protocol

from server.errors import ScheduleError
from server.tournament.fixtures import Entrant, MatchResult, ScheduledMatch, TournamentGame, forfeit

MAX_MATCHES: Final = 200_000
"""How many matches a schedule may give at once: they are kept together, and looked at again at each step."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Entrants who meet in a round: their matches in the order they were scheduled, and the results that count."""

    pairing_id: str
    round: int
    matches: tuple[ScheduledMatch, ...]
    results: tuple[MatchResult, ...]
    is_decided: bool

    @property
    def players(self) -> tuple[str, ...]:
        """The names of the entrants who meet, in the order of the first seats that they have."""
        return tuple(dict.fromkeys(name for match in self.matches for name in match.players))


@dataclass(frozen=True)
class Competition:
    """Everything that a schedule reads.

    Attributes:
        entrants: in the order of their starting ranks, the strongest first; late entrants are added at the end.
        games: the games that are played.
        seed: decides the ids and seeds of matches, and what is drawn by lot.
        scheduled: all matches that schedules gave before, in their order.
        results: the ends of scheduled matches, each with the id of its match, in any order.
        annulled: the ids of matches that do not count, and are not played or not played again.
        replayed: the ids of matches that do not count, and are played again.

    Raises:
        ValueError: a name or an id is there twice, there is no game, or an id is not that of a scheduled match.
    """

    entrants: tuple[Entrant, ...]
    games: tuple[TournamentGame, ...]
    seed: int = 0
    scheduled: tuple[ScheduledMatch, ...] = ()
    results: tuple[MatchResult, ...] = ()
    annulled: frozenset[str] = field(default=frozenset())
    replayed: frozenset[str] = field(default=frozenset())

    def __post_init__(self) -> None:
        if not self.games:
            raise ValueError("a competition needs a game")
        _refuse_repeats("entrant", (entrant.name for entrant in self.entrants))
        _refuse_repeats("game", (game.name for game in self.games))
        _refuse_repeats("match", (match.match_id for match in self.scheduled))
        _refuse_repeats("result of match", (result.match_id for result in self.results))
        named = {result.match_id for result in self.results} | self.annulled | self.replayed
        unknown = sorted(named - {match.match_id for match in self.scheduled})
        if unknown:
            raise ValueError(f"match {unknown[0]} was not scheduled")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all entrants, those who have withdrawn too, in the order of their starting ranks."""
        return tuple(entrant.name for entrant in self.entrants)

    @cached_property
    def rank_of(self) -> dict[str, int]:
        """The starting rank of each entrant, from 0."""
        return {name: rank for rank, name in enumerate(self.names)}

    @cached_property
    def last_round(self) -> int:
        """The number of the last round that was scheduled; 0 before the first."""
        return max((match.round for match in self.scheduled), default=0)

    @cached_property
    def counted_results(self) -> dict[str, MatchResult]:
        """The results that count, by the ids of their matches."""
        void = self.annulled | self.replayed
        return {result.match_id: result for result in self.results if result.match_id not in void}

    @cached_property
    def pairings(self) -> tuple[Pairing, ...]:
        """All meetings, in the order they were scheduled."""
        matches: dict[str, list[ScheduledMatch]] = {}
        for match in self.scheduled:
            matches.setdefault(match.pairing_id, []).append(match)
        waiting = {match.pairing_id for match in (*self.open_matches, *self.missing_replays)}
        return tuple(self._pairing(key, tuple(found), key not in waiting) for key, found in matches.items())

    def _pairing(self, pairing_id: str, matches: tuple[ScheduledMatch, ...], is_decided: bool) -> Pairing:
        counted = self.counted_results
        results = tuple(counted[match.match_id] for match in matches if match.match_id in counted)
        return Pairing(pairing_id, matches[0].round, matches, results, is_decided)

    @cached_property
    def open_matches(self) -> tuple[ScheduledMatch, ...]:
        """The scheduled matches that have no result yet, and are to be played."""
        closed = {result.match_id for result in self.results} | self.annulled | self.replayed
        return tuple(match for match in self.scheduled if match.match_id not in closed)

    @cached_property
    def missing_replays(self) -> tuple[ScheduledMatch, ...]:
        """The matches to be played in the place of annulled ones, and not scheduled yet."""
        known = {match.match_id for match in self.scheduled}
        replays = (match.again() for match in self.scheduled if match.match_id in self.replayed)
        return tuple(replay for replay in replays if replay.match_id not in known)

    @cached_property
    def meetings(self) -> Counter[frozenset[str]]:
        """How often each two entrants were paired in different pairings, whatever came of it."""
        return count_meetings(self.pairings)

    def active_in(self, round_number: int) -> tuple[str, ...]:
        """Return the names of the entrants who can play in round *round_number*, in the order of starting ranks."""
        return tuple(entrant.name for entrant in self.entrants if entrant.plays_in(round_number))


class Schedule(Protocol):
    """A format: gives the matches that follow from a competition so far.

    Equal competitions give equal matches; matches that are scheduled already may be given again. What one call gives is
    kept as a whole or not at all (in one transaction), so that a server that was killed simply asks again.
    """

    def __call__(self, competition: Competition) -> tuple[ScheduledMatch, ...]:
        """Return the next matches; none if results are waited for, or the competition is over."""


def bounded(given: Iterable[ScheduledMatch]) -> Iterator[ScheduledMatch]:
    """Yield what is *given*.

    Raises:
        ScheduleError: it is more than `MAX_MATCHES`.
    """
    for number, match in enumerate(given, 1):
        if number > MAX_MATCHES:
            raise ScheduleError(f"its schedule has more than {MAX_MATCHES:,} matches; let it have fewer rounds")
        yield match


def next_matches(schedule: Schedule, competition: Competition) -> tuple[ScheduledMatch, ...]:
    """Return the matches that are scheduled next: first those that are played again, then what *schedule* gives."""
    known = {match.match_id for match in competition.scheduled}
    given = (*competition.missing_replays, *schedule(competition))
    return tuple(match for match in given if match.match_id not in known)


def is_over(schedule: Schedule, competition: Competition) -> bool:
    """Return whether every match is played or annulled, and *schedule* gives no other."""
    return not competition.open_matches and not next_matches(schedule, competition)


def count_meetings(pairings: Iterable[Pairing]) -> Counter[frozenset[str]]:
    """Return in how many of *pairings* each two entrants met."""
    return Counter(frozenset(two) for pairing in pairings for two in combinations(pairing.players, 2))


def forfeits_of_withdrawn(competition: Competition) -> tuple[MatchResult, ...]:
    """Return the results of the open matches that entrants who have withdrawn do not play."""
    entrants = {entrant.name: entrant for entrant in competition.entrants}
    found: list[MatchResult] = []
    for match in competition.open_matches:
        gone = [name for name in match.players if _is_lost_to(match, entrants[name])]
        if gone:
            found.append(forfeit(match, gone))
    return tuple(found)


def _is_lost_to(match: ScheduledMatch, entrant: Entrant) -> bool:
    """Return whether *entrant* has withdrawn before *match*, which keeps its round when it is played again."""
    is_again = match.attempt > 1 and entrant.has_withdrawn
    return is_again or entrant.has_withdrawn_before(match.round)


def _refuse_repeats(what: str, names: Iterable[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(f"{what} {repeated[0]} is there twice")
