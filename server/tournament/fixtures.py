"""The fixtures of a competition: entrants, games, matches in sets with rotating seats, and what came of them so far."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Final, Protocol, Self, TypeAlias

from server.errors import ScheduleError

MAX_ROLES: Final = 8
MAX_MATCHES: Final = 200_000
"""How many matches a schedule may give at once: they are kept together, and looked at again at each step."""
_SEED_BITS: Final = 63  # as many as fit into any JSON reader's integers


@dataclass(frozen=True, slots=True)
class Entrant:
    """A player of a competition.

    Attributes:
        name: its name, unlike those of the others.
        since_round: the first round in which it can play; more than 1 for a late entrant.
        withdrawn_after: the last round in which it can play; None while it has not withdrawn.
    """

    name: str
    since_round: int = 1
    withdrawn_after: int | None = None

    @property
    def has_withdrawn(self) -> bool:
        """Whether the entrant has withdrawn, after any round."""
        return self.withdrawn_after is not None

    def plays_in(self, round_number: int) -> bool:
        """Return whether the entrant can play in round *round_number*, of which the first is 1."""
        return self.since_round <= round_number and not self.has_withdrawn_before(round_number)

    def has_withdrawn_before(self, round_number: int) -> bool:
        """Return whether the entrant has withdrawn before round *round_number*."""
        return self.withdrawn_after is not None and self.withdrawn_after < round_number


@dataclass(frozen=True, slots=True)
class TournamentGame:
    """A game of a competition, with its number of roles, `random` not counted.

    Raises:
        ValueError: it has no role, or more than 8.
    """

    name: str
    n_roles: int

    def __post_init__(self) -> None:
        if not 1 <= self.n_roles <= MAX_ROLES:
            raise ValueError(f"{self.name} has {self.n_roles} roles; competitions take games of 1 to {MAX_ROLES}")

    @property
    def group_size(self) -> int:
        """How many entrants meet in a pairing: one for each role; in a game of one role two, who play it each alone."""
        return max(2, self.n_roles)


Games: TypeAlias = tuple[TournamentGame, ...]


@dataclass(frozen=True, slots=True)
class ScheduledMatch:
    """A match that is to be played.

    Attributes:
        match_id: its id, which the seed of the competition and what the match is decide.
        game: the name of the game.
        players: the names of the entrants in the order of the game's roles.
        seed: decides the moves of `random` and of substitutes; equal within a set.
        scramble_seed: decides the names that players with a scrambling profile see; equal within a set.
        round: the number of the round, from 1.
        pairing_id: what the matches have in common by which the same entrants meet in this round.
        set_id: what the matches of a set have in common: the same entrants, game and seeds, with rotated seats.
        attempt: how often the match was scheduled, from 1; more after it was annulled to be played again.
    """

    match_id: str
    game: str
    players: tuple[str, ...]
    seed: int
    scramble_seed: int
    round: int
    pairing_id: str
    set_id: str
    attempt: int = 1

    def again(self) -> Self:
        """Return the match that is played in the place of this one: equal but for its id and the number of attempts."""
        original_id = self.match_id if self.attempt == 1 else self.match_id.rpartition("-")[0]
        attempt = self.attempt + 1
        return replace(self, match_id=f"{original_id}-{attempt}", attempt=attempt)


@dataclass(frozen=True, slots=True)
class Meeting:
    """The entrants *players* who meet in *round*; *label* tells the meeting from others of the same entrants."""

    players: tuple[str, ...]
    round: int
    label: str

    def pairing_id(self, seed: int) -> str:
        """Return the id of the meeting in a competition with *seed*: it depends on the label and who meets."""
        return digest(seed, "pairing", self.label, *sorted(self.players))


def matches_of(
    meeting: Meeting, games: tuple[TournamentGame, ...], seed: int, n_sets: int = 1, legs: int | None = None
) -> tuple[ScheduledMatch, ...]:
    """Return the matches of a meeting: in each of *games*, *n_sets* sets, with *seed* the seed of the competition.

    The seats rotate within a set, so that each entrant plays each role once against the same opponents, with the same
    seeds: duplicate matches. A set of a game of one role has a match of each entrant. With *legs* a set has only so
    many matches, the first of the rotation.
    """
    pairing_id = meeting.pairing_id(seed)
    matches: list[ScheduledMatch] = []
    for game in games:
        for number in range(1, n_sets + 1):
            set_id = digest(pairing_id, game.name, number)
            lineups = rotations(meeting.players, game.n_roles)[:legs]
            matches += (
                scheduled_match(f"{set_id}.{i}", game.name, lineup, meeting.round, (pairing_id, set_id))
                for i, lineup in enumerate(lineups, 1)
            )
    return tuple(matches)


def scheduled_match(
    match_id: str, game: str, players: tuple[str, ...], round_number: int, ids: tuple[str, str]
) -> ScheduledMatch:
    """Return a match with the seeds of its set; *ids* are those of its pairing and its set."""
    pairing_id, set_id = ids
    return ScheduledMatch(
        match_id, game, players, derived_seed(set_id, "chance"), derived_seed(set_id, "scrambling"),
        round_number, pairing_id, set_id,
    )  # fmt: skip


def rotations(players: tuple[str, ...], n_roles: int) -> tuple[tuple[str, ...], ...]:
    """Return who sits where in each match of a set: every one of *players* has each of *n_roles* roles once.

    Raises:
        ValueError: there are not as many players as roles.
    """
    if n_roles == 1:
        return tuple((player,) for player in players)
    if len(players) != n_roles:
        raise ValueError(f"{len(players)} players cannot take {n_roles} roles")
    return tuple(players[i:] + players[:i] for i in range(n_roles))


def digest(*parts: object) -> str:
    """Return a word of letters and digits, beginning with a letter, that depends on *parts* alone."""
    return "t" + hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()


def derived_seed(*parts: object) -> int:
    """Return a seed of 63 bits that depends on *parts* alone."""
    whole = hashlib.blake2b(repr(parts).encode(), digest_size=8).digest()
    return int.from_bytes(whole, "big") >> (64 - _SEED_BITS)


@dataclass(frozen=True, slots=True)
class MatchResult:
    """The end of a match between players of a competition.

    Attributes:
        game: the name of the game.
        players: who played each role, in the order of the game's roles, without `random`.
        goals: what each of them reached, 0 to 100.
        errors: how many moves of each the game manager made instead, since they were illegal, late or missing.
        match_id: the id of the match, by which its record is found.
        forfeited: who did not come, so that no move was made; it counts in standings, and says nothing of strength.
    """

    game: str
    players: tuple[str, ...]
    goals: tuple[int, ...]
    errors: tuple[int, ...] = ()
    match_id: str = ""
    forfeited: tuple[str, ...] = ()

    def goal_of(self, player: str) -> float:
        """Return the mean goal of the seats of *player*.

        Raises:
            ValueError: the player had no seat.
        """
        found = [goal for name, goal in zip(self.players, self.goals, strict=True) if name == player]
        if not found:
            raise ValueError(f"{player} did not play in the match {self.match_id}")
        return sum(found) / len(found)

    def points(self, role: int, other: int) -> float:
        """Return what the player of *role* gets against that of *other*: 1 for more, 1/2 for as much, 0 for less."""
        difference = self.goals[role] - self.goals[other]
        return 1.0 if difference > 0 else 0.5 if difference == 0 else 0.0


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


def forfeit(match: ScheduledMatch, absent: Iterable[str]) -> MatchResult:
    """Return the result of a match that is not played since the players *absent* did not come.

    They get 0; the others get 100, as if they had won. The result counts in standings; ratings leave it out.
    """
    missing = frozenset(absent)
    goals = tuple(0 if player in missing else 100 for player in match.players)
    errors = (0,) * len(match.players)
    forfeited = tuple(player for player in match.players if player in missing)
    return MatchResult(match.game, match.players, goals, errors, match.match_id, forfeited)


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
