"""Round robin, gauntlet, and score tables: schedules that do not depend on results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from server.tournament.competition import Competition, count_meetings
from server.tournament.fixtures import (
    Meeting,
    ScheduledMatch,
    TournamentGame,
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
    every two entrants have met so often in the game; how often entrants play differs by 1 set at most.

    Attributes:
        cycles: how often entrants meet.
        single: whether a meeting in a game of two roles is one match instead of one with either seat; in the next cycle
            the seats are exchanged.
    """

    cycles: int = 1
    single: bool = False

    def __call__(self, competition: Competition) -> tuple[ScheduledMatch, ...]:
        """Return all matches that are not scheduled yet."""
        given: list[ScheduledMatch] = []
        for game in competition.games:
            schedule = self._in_pairs if game.group_size == 2 else self._in_groups
            given += schedule(competition, game)
        known = {match.match_id for match in competition.scheduled}
        missing = (match for match in given if match.match_id not in known)
        return tuple(sorted(missing, key=lambda match: match.round))

    def _in_pairs(self, competition: Competition, game: TournamentGame) -> Iterator[ScheduledMatch]:
        entrants = competition.entrants
        table = berger_table(len(entrants))
        for cycle in range(1, self.cycles + 1):
            for number, pairs in enumerate(table, (cycle - 1) * len(table) + 1):
                for pair in pairs:
                    if max(pair) <= len(entrants) and all(entrants[i - 1].withdrawn_after is None for i in pair):
                        yield from self._meeting(competition, game, (pair, cycle, number))

    def _meeting(
        self, competition: Competition, game: TournamentGame, place: tuple[tuple[int, int], int, int]
    ) -> tuple[ScheduledMatch, ...]:
        (one, other), cycle, number = place
        is_in_order = has_first_role(one, other) == (cycle % 2 == 1)
        first, second = (one, other) if is_in_order else (other, one)
        players = (competition.names[first - 1], competition.names[second - 1])
        legs = 1 if self.single and game.n_roles == 2 else None
        return matches_of(Meeting(players, number, f"round robin {cycle}"), (game,), competition.seed, legs=legs)

    def _in_groups(self, competition: Competition, game: TournamentGame) -> Iterator[ScheduledMatch]:
        names = [entrant.name for entrant in competition.entrants if entrant.withdrawn_after is None]
        if len(names) < game.n_roles:
            return
        pairings = [pairing for pairing in competition.pairings if pairing.matches[0].game == game.name]
        met = count_meetings(pairings)
        n_played = Counter(name for pairing in pairings for name in pairing.players)
        number = max((pairing.round for pairing in pairings), default=0)
        while any(met[frozenset(two)] < self.cycles for two in combinations(names, 2)):
            number += 1
            for group in balanced_groups(names, game.n_roles, met, n_played):
                met.update(map(frozenset, combinations(group, 2)))
                n_played.update(group)
                meeting = Meeting(group, number, f"{game.name} {number}")
                yield from matches_of(meeting, (game,), competition.seed)


def balanced_groups(
    names: Sequence[str], size: int, met: Counter[frozenset[str]], n_played: Counter[str]
) -> list[tuple[str, ...]]:
    """Return groups of *size* for a round: those play who have played least, and meet whom they have met least.

    Two of those who have met least are in one group in any case, so that rounds come to an end.
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
    from the beginning of the field.

    Attributes:
        challengers: the names of the challengers.
        cycles: how often each meets the field.
    """

    challengers: tuple[str, ...]
    cycles: int = 1

    def __call__(self, competition: Competition) -> tuple[ScheduledMatch, ...]:
        """Return all matches that are not scheduled yet."""
        known = {match.match_id for match in competition.scheduled}
        active = [entrant.name for entrant in competition.entrants if entrant.withdrawn_after is None]
        field = [name for name in active if name not in self.challengers]
        given: list[ScheduledMatch] = []
        for cycle in range(1, self.cycles + 1):
            for challenger in (name for name in active if name in self.challengers):
                for game in competition.games:
                    for number, others in enumerate(_opponents(field, game.group_size - 1, cycle), 1):
                        meeting = Meeting((challenger, *others), (cycle - 1) * len(field) + number, f"gauntlet {cycle}")
                        given += matches_of(meeting, (game,), competition.seed)
        missing = (match for match in given if match.match_id not in known)
        return tuple(sorted(missing, key=lambda match: match.round))


def _opponents(field: Sequence[str], n: int, cycle: int) -> Iterator[tuple[str, ...]]:
    """Yield the field in groups of *n*, differently in each cycle."""
    if len(field) < n:
        return
    shift = (cycle - 1) % len(field) if n > 1 else 0
    turned = [*field[shift:], *field[:shift]]
    for i in range(0, len(turned), n):
        yield tuple((turned + turned)[i : i + n])


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
            ValueError: a game has more than one role.
        """
        for game in competition.games:
            if game.n_roles > 1:
                raise ValueError(f"{game.name} has {game.n_roles} roles; score tables are for games of one role")
        known = {match.match_id for match in competition.scheduled}
        names = [entrant.name for entrant in competition.entrants if entrant.withdrawn_after is None]
        given: list[ScheduledMatch] = []
        for attempt in range(1, self.attempts + 1):
            for game in competition.games:
                set_id = digest(competition.seed, "score table", game.name, attempt)
                ids = [f"{set_id}.{digest(name)[1:]}" for name in names]
                given += (
                    scheduled_match(match_id, game.name, (name,), attempt, (set_id, set_id))
                    for match_id, name in zip(ids, names, strict=True)
                )
        return tuple(match for match in given if match.match_id not in known)
