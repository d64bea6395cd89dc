"""Round robin, gauntlet, and score tables: schedules that do not depend on results."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

from server.errors import ScheduleError
from server.tournament.competition import Competition, bounded, count_meetings
from server.tournament.fixtures import (
    Entrant,
    Games,
    MatchSet,
    Meeting,
    ScheduledMatch,
    digest,
    matches_of,
    scheduled_match,
)
from server.tournament.grouping import Group, least_cost_groups


def berger_table(n: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return the rounds of a round robin of *n* numbers from 1, each as pairs of who has the first role and who not.

    An odd *n* has the table of the next even number, in which the opponent *n* + 1 stands for a round off.
    *Source*: FIDE Handbook C.05 annex 1, tables of J. Berger (Schach-Jahrbuch, 1893).
    """
    even = n + n % 2
    return tuple(tuple(_berger_round(even, number)) for number in range(1, even)) if n > 1 else ()


def _berger_round(n: int, number: int) -> Iterator[tuple[int, int]]:
    last = (number + 1) // 2 if number % 2 else (number + n) // 2
    yield (last, n) if number % 2 else (n, last)
    for distance in range(1, n // 2):
        yield (last + distance - 1) % (n - 1) + 1, (last - distance - 1) % (n - 1) + 1


def has_first_role(one: int, other: int) -> bool:
    """Return whether of two numbers from 1 *one* has the first role: the lower, if just one of the two is even.

    That is the rule of the Berger tables without its exception for the last number, so that it does not depend on how
    many there are: with late entrants, too, how often a number has each role differs by 1 at most.
    """
    return (one < other) == ((one + other) % 2 == 1)


@dataclass(frozen=True, slots=True)
class RoundRobin:
    """Every entrant meets every other equally often in every game.

    All matches are given at once, in the order of the rounds, and those of late entrants as these come; no new meetings
    are given to entrants who have withdrawn. Games of more than two roles are played in groups, round by round, until
    every two entrants have met so often in the game; how often entrants play differs by 1 set at most, late ones aside.

    Attributes:
        cycles: how often entrants meet.
        single: whether a meeting in a game of two roles is one match instead of one with either seat; in the next cycle
            the seats are exchanged.
    """

    cycles: int = 1
    single: bool = False

    def __call__(self, competition: Competition) -> tuple[ScheduledMatch, ...]:
        """Return all matches that are not scheduled yet.

        Raises:
            ScheduleError: there are more matches than `MAX_MATCHES`.
        """
        given = (
            self._in_pairs(competition, games) if size == 2 else self._in_groups(competition, games)
            for size, games in games_by_size(competition).items()
        )
        return not_scheduled(competition, chain.from_iterable(given))

    def _in_pairs(self, competition: Competition, games: Games) -> Iterator[ScheduledMatch]:
        for meeting in self._meetings(competition):
            for game in games:
                legs = 1 if self.single and game.n_roles == 2 else None
                yield from matches_of(meeting, (game,), competition.seed, legs=legs)

    def _meetings(self, competition: Competition) -> Iterator[Meeting]:
        """Yield the meetings of two by the table, cycle by cycle; in every other one the second has the first role."""
        entrants = _numbered(competition)
        table = berger_table(len(entrants))
        for cycle in range(1, self.cycles + 1):
            for number, pairs in enumerate(table, (cycle - 1) * len(table) + 1):
                for one, other in pairs:
                    is_first = has_first_role(one, other) == (cycle % 2 == 1)
                    places = (one, other) if is_first else (other, one)
                    players = [entrants[place - 1] for place in places if place <= len(entrants)]
                    if len(players) == 2 and all(player.withdrawn_after is None for player in players):
                        yield Meeting(tuple(player.name for player in players), number, f"round robin {cycle}")

    def _in_groups(self, competition: Competition, games: Games) -> Iterator[ScheduledMatch]:
        names, size = staying(competition), games[0].n_roles
        if len(names) < size:
            return
        pairings = [pairing for pairing in competition.pairings if len(pairing.players) == size]
        met = count_meetings(pairings)
        n_played = Counter(name for pairing in pairings for name in pairing.players)
        number = max((pairing.round for pairing in pairings), default=0)
        while any(met[frozenset(two)] < self.cycles for two in combinations(names, 2)):
            number += 1
            for group in balanced_groups(names, size, met, n_played):
                met.update(map(frozenset, combinations(group, 2)))
                n_played.update(group)
                yield from matches_of(Meeting(group, number, f"round robin {number}"), games, competition.seed)


def _numbered(competition: Competition) -> list[Entrant]:
    """Return the entrants that have numbers in the table: all but those who withdrew before they had a match."""
    known = {name for match in competition.scheduled for name in match.players}
    return [entrant for entrant in competition.entrants if entrant.withdrawn_after is None or entrant.name in known]


def balanced_groups(
    names: Sequence[str], size: int, met: Counter[frozenset[str]], n_played: Counter[str]
) -> list[tuple[str, ...]]:
    """Return groups of *size* for a round: those play who have played least, and meet whom they have met least.

    Two of those who have met least are in one group, unless one of them has played more and rests; so rounds come to
    an end.
    """
    n_resting = len(names) % size
    rarest = min(combinations(names, 2), key=lambda two: (met[frozenset(two)], n_played[two[0]] + n_played[two[1]]))
    by_need = sorted(names, key=lambda name: (n_played[name], name not in rarest))
    playing = by_need[: len(names) - n_resting]
    playing.sort(key=lambda name: name not in rarest)

    def cost(group: Group) -> tuple[int, ...]:
        counts = [met[frozenset((playing[i], playing[j]))] for i, j in combinations(group, 2)]
        is_parted = (0 in group) != (1 in group) and set(rarest) <= set(playing)
        return int(is_parted), sum((count + 1) ** 2 for count in counts)

    return [tuple(playing[i] for i in group) for group in least_cost_groups(len(playing), size, cost)]


@dataclass(frozen=True, slots=True)
class Gauntlet:
    """Each challenger meets everyone of the field; the others do not meet each other.

    In games of more than two roles a challenger meets so many of the field at once; the last of these groups is filled
    with those that it has met least.

    Attributes:
        challengers: the names of the challengers.
        cycles: how often each meets the field.
    """

    challengers: tuple[str, ...]
    cycles: int = 1

    def __call__(self, competition: Competition) -> tuple[ScheduledMatch, ...]:
        """Return all matches that are not scheduled yet.

        Raises:
            ScheduleError: there are more matches than `MAX_MATCHES`.
        """
        given = (
            self._matches_of(challenger, competition, games)
            for games in games_by_size(competition).values()
            for challenger in staying(competition)
            if challenger in self.challengers
        )
        return not_scheduled(competition, chain.from_iterable(given))

    def _matches_of(self, challenger: str, competition: Competition, games: Games) -> Iterator[ScheduledMatch]:
        field, n_others = (
            [name for name in staying(competition) if name not in self.challengers],
            games[0].group_size - 1,
        )
        own = [
            pairing
            for pairing in competition.pairings
            if challenger in pairing.players and len(pairing.players) == n_others + 1
        ]
        met = Counter(name for pairing in own for name in pairing.players)
        number = max((pairing.round for pairing in own), default=0)
        for cycle in range(1, self.cycles + 1):
            while len(field) >= n_others and any(met[name] < cycle for name in field):
                number += 1
                others = sorted(field, key=lambda name: met[name])[:n_others]
                met.update(others)
                meeting = Meeting((challenger, *others), number, f"gauntlet {number}")
                yield from matches_of(meeting, games, competition.seed)


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Every entrant plays every game of one role alone, each attempt with the same seeds for all.

    Attributes:
        attempts: how often each game is played.
    """

    attempts: int = 1

    def __call__(self, competition: Competition) -> tuple[ScheduledMatch, ...]:
        """Return all matches that are not scheduled yet.

        Raises:
            ScheduleError: a game has more than one role, or there are more matches than `MAX_MATCHES`.
        """
        for game in competition.games:
            if game.n_roles > 1:
                raise ScheduleError(f"{game.name} has {game.n_roles} roles; score tables are for games of one role")
        return not_scheduled(competition, self._attempts_of(competition))

    def _attempts_of(self, competition: Competition) -> Iterator[ScheduledMatch]:
        names = staying(competition)
        for attempt in range(1, self.attempts + 1):
            for game in competition.games:
                set_id = digest(competition.seed, "score table", game.name, attempt)
                own = MatchSet(set_id, set_id, competition.seed)
                for name in names:
                    match_id = f"{set_id}.{digest(name)[1:]}"
                    yield scheduled_match(match_id, game.name, (name,), attempt, own)


def games_by_size(competition: Competition) -> dict[int, Games]:
    """Return the games by how many entrants meet in them."""
    sizes = sorted({game.group_size for game in competition.games})
    return {size: tuple(game for game in competition.games if game.group_size == size) for size in sizes}


def staying(competition: Competition) -> list[str]:
    """Return the names of the entrants who have not withdrawn."""
    return [entrant.name for entrant in competition.entrants if entrant.withdrawn_after is None]


def not_scheduled(competition: Competition, given: Iterable[ScheduledMatch]) -> tuple[ScheduledMatch, ...]:
    """Return those of *given* that are not scheduled yet, in the order of the rounds.

    Raises:
        ScheduleError: there are more than `MAX_MATCHES`.
    """
    known = {match.match_id for match in competition.scheduled}
    missing = (match for match in bounded(given) if match.match_id not in known)
    return tuple(sorted(missing, key=lambda match: match.round))
