"""Knockout, single and double: who loses a meeting (or two) is out, and the last entrant wins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from server.errors import ScheduleError
from server.tournament import fixtures, scoring, swiss
from server.tournament.competition import Competition, Pairing, bounded


class Vacancy(Enum):
    """A place in a bracket without an entrant."""

    BYE = "bye"  # there never is one: the opponent goes on without a meeting
    OPEN = "open"  # a meeting that is not over decides who it is


Slot = str | Vacancy


@dataclass(frozen=True, slots=True)
class Knockout:
    """Entrants are placed by their starting ranks so that the first two can meet in the last round only.

    The best ranked have byes if the number of entrants is no power of two. Points of a meeting decide who goes on; as
    long as they are equal there are further meetings, and in the end the better starting rank decides. An opponent of
    an entrant who has withdrawn goes on without a meeting. Late entrants cannot take part.

    In games of more than two roles heats take the place of pairs: the better half of each heat goes on, the best
    ranked have byes if heats are not filled, and too small a last heat is filled with the best of those who are out.

    Attributes:
        is_double: whether two lost meetings put an entrant out (two roles at most); who lost one goes on among its
            like, and the last of them must win twice against the entrant who lost none.
        sets: how many sets a meeting has in each of its games.
        extra_meetings: how many further meetings there can be when points are equal.
        all_games: whether every meeting is played in all games, which then have as many roles; else they take turns.
        rules: what a meeting counts.
    """

    is_double: bool = False
    sets: int = 1
    extra_meetings: int = 2
    all_games: bool = False
    rules: scoring.ScoringRules = scoring.MEETINGS_COUNT

    def __call__(self, competition: Competition) -> tuple[fixtures.ScheduledMatch, ...]:
        """Return the matches of all meetings whose entrants are known.

        Raises:
            ScheduleError: a double knockout has a game of more than two roles, entrants are fewer than a game's roles,
                or there are more matches than `MAX_MATCHES`.
        """
        meetings = self._bracket(competition).due
        return tuple(bounded(match for meeting in meetings for match in self._matches(meeting, competition)))

    def _matches(self, meeting: fixtures.Meeting, competition: Competition) -> tuple[fixtures.ScheduledMatch, ...]:
        games = swiss.games_of_round(competition.games, meeting.round, self.all_games)
        return fixtures.matches_of(meeting, games, competition.seed, self.sets)

    def winner(self, competition: Competition) -> str | None:
        """Return the name of the winner, or None before there is one."""
        winner = self._bracket(competition).winner
        return winner if isinstance(winner, str) else None

    def places(self, competition: Competition) -> tuple[tuple[str, ...], ...]:
        """Return the names of the entrants, the best first; together those who share a place.

        First are the winner, or all who are not out; then those who were put out in the last round, and so on.
        """
        bracket = self._bracket(competition)
        admitted = [entrant.name for entrant in competition.entrants if entrant.since_round <= 1]
        out_in = {name: bracket.out_in.get(name, 0) for name in admitted if name != bracket.winner}
        staying = tuple(name for name in out_in if not out_in[name])
        groups = [tuple(name for name in out_in if out_in[name] == number) for number in set(out_in.values()) - {0}]
        in_order = sorted(groups, key=lambda group: -out_in[group[0]])
        first = (bracket.winner,) if isinstance(bracket.winner, str) else ()
        return tuple(group for group in (first, staying, *in_order) if group)

    def out_by_rank(self, competition: Competition) -> frozenset[str]:
        """Return the names of those who were put out with as many points as who went on, by their starting ranks."""
        bracket = self._bracket(competition)
        return frozenset(bracket.behind_by_rank & bracket.out_in.keys())

    def _bracket(self, competition: Competition) -> _Bracket:
        bracket = _Bracket(self, competition)
        names = [entrant.name for entrant in competition.entrants if entrant.since_round <= 1]
        sizes = {game.group_size for game in competition.games}
        if sizes != {2} and (self.is_double or len(sizes) > 1):
            raise ScheduleError("games of a knockout have as many roles, and of a double knockout two at most")
        if len(names) < max(sizes):
            raise ScheduleError(f"{len(names)} entrants are too few for a knockout in groups of {max(sizes)}")
        if sizes != {2}:
            _play_heats(bracket, names, max(sizes))
        elif self.is_double:
            _play_double(bracket, seeded(names))
        else:
            _play_single(bracket, seeded(names))
        return bracket


def seeded(names: Sequence[str]) -> list[Slot]:
    """Return *names*, the strongest first, in the order of a bracket: neighbours meet, then winners of neighbours."""
    ranks = [0]
    while len(ranks) < len(names):
        ranks = [rank for upper in ranks for rank in (upper, 2 * len(ranks) - 1 - upper)]
    return [names[rank] if rank < len(names) else Vacancy.BYE for rank in ranks]


@dataclass(slots=True)
class _Bracket:
    """One walk through all rounds, with the results so far; collects the meetings that are due."""

    options: Knockout
    competition: Competition
    due: list[fixtures.Meeting] = field(default_factory=list)
    winner: Slot = Vacancy.OPEN
    out_in: dict[str, int] = field(default_factory=dict)  # the round in which each entrant was put out
    behind_by_rank: set[str] = field(default_factory=set)  # whom starting ranks alone parted in their last meeting
    pairings: dict[str, Pairing] = field(init=False)
    withdrawn: frozenset[str] = field(init=False)  # from what is not scheduled yet, whatever its round

    def __post_init__(self) -> None:
        self.pairings = {pairing.pairing_id: pairing for pairing in self.competition.pairings}
        self.withdrawn = frozenset(entrant.name for entrant in self.competition.entrants if entrant.has_withdrawn)

    def meet(self, label: str, round_number: int, one: Slot, other: Slot) -> tuple[Slot, Slot]:
        """Return who wins and who loses the meeting of two places."""
        if one is Vacancy.BYE:
            return other, one
        if other is Vacancy.BYE:
            return one, other
        if isinstance(one, Vacancy) or isinstance(other, Vacancy):
            return Vacancy.OPEN, Vacancy.OPEN
        ranking = self.ranking(label, round_number, (one, other), 1)
        return (ranking[0], ranking[1]) if ranking else (Vacancy.OPEN, Vacancy.OPEN)

    def ranking(self, label: str, round_number: int, players: tuple[str, ...], n_first: int) -> tuple[str, ...]:
        """Return *players*, those who go on first, once *n_first* of them are known; an empty tuple before."""
        rank_of, points = self.competition.rank_of, dict.fromkeys(players, 0.0)
        pairing: Pairing | None = None
        for attempt in range(self.options.extra_meetings + 1):
            meeting = fixtures.Meeting(players, round_number, f"knockout {label} {attempt}")
            pairing = self.pairings.get(meeting.pairing_id(self.competition.seed))
            if pairing is None and self.withdrawn.intersection(players):
                break
            if pairing is None:
                self.due.append(meeting)
            if pairing is None or not pairing.is_decided:
                return ()
            for player, found in scoring.meeting_points(pairing, self.options.rules).items():
                points[player] += found
            in_order = sorted(points.values(), reverse=True)
            if in_order[n_first - 1] - in_order[n_first] > 1e-9:
                break
        gone = self.withdrawn if pairing is None else frozenset()
        merits = {name: (name in gone, -round(points[name], 9)) for name in players}
        ranking = tuple(sorted(players, key=lambda name: (merits[name], rank_of[name])))
        behind = {name for name in ranking[n_first:] if merits[name] == merits[ranking[n_first - 1]]}
        self.behind_by_rank = self.behind_by_rank.difference(players) | behind
        return ranking

    def taking_part(self, round_number: int) -> frozenset[str]:
        """Return who has a place in a round, also who withdrew after its heats were scheduled: these stay."""
        seated = (pairing.players for pairing in self.competition.pairings if pairing.round == round_number)
        return frozenset(self.competition.active_in(round_number)).union(*seated)

    def put_out(self, slots: Iterable[Slot], round_number: int) -> None:
        """Note who is out after a round."""
        self.out_in.update({slot: round_number for slot in slots if isinstance(slot, str)})

    def let_in(self, names: Iterable[str]) -> None:
        """Note who plays on, also of those who were out and fill a heat."""
        for name in names:
            self.out_in.pop(name, None)


def _play_round(
    bracket: _Bracket, label: str, round_number: int, slots: Sequence[Slot]
) -> tuple[list[Slot], list[Slot]]:
    """Return the winners and the losers of a round in which neighbours meet."""
    pairs = [(slots[i], slots[i + 1]) for i in range(0, len(slots), 2)]
    met = [bracket.meet(f"{label}.{i}", round_number, *pair) for i, pair in enumerate(pairs)]
    return [winner for winner, _ in met], [loser for _, loser in met]


def _play_single(bracket: _Bracket, slots: list[Slot]) -> None:
    round_number = 0
    while len(slots) > 1:
        round_number += 1
        slots, losers = _play_round(bracket, f"round {round_number}", round_number, slots)
        bracket.put_out(losers, round_number)
    bracket.winner = slots[0]


def _play_double(bracket: _Bracket, slots: list[Slot]) -> None:
    """Play the bracket of entrants without a loss, into the other one its losers, and the final of the two winners."""
    slots, losers = _play_round(bracket, "upper 1", 1, slots)
    level, below = 1, losers
    while len(slots) > 1:
        level += 1
        below, out = _play_round(bracket, f"lower {2 * level - 3}", 2 * level - 2, below)
        bracket.put_out(out, 2 * level - 2)
        slots, losers = _play_round(bracket, f"upper {level}", 2 * level - 2, slots)
        drawn = _crossed(losers, level)
        mixed = [slot for pair in zip(below, drawn, strict=True) for slot in pair]
        below, out = _play_round(bracket, f"lower {2 * level - 2}", 2 * level - 1, mixed)
        bracket.put_out(out, 2 * level - 1)
    unbeaten, beaten = slots[0], below[0]
    first, last = bracket.meet("final", 2 * level, unbeaten, beaten)
    if isinstance(beaten, str) and first == beaten:
        first, last = bracket.meet("second final", 2 * level + 1, unbeaten, beaten)
    bracket.put_out([last], 2 * level)
    bracket.winner = first


def _crossed(losers: list[Slot], level: int) -> list[Slot]:
    """Return the losers of a round in the order in which they go into the other bracket.

    They come to where those are not who have lost to them in the rounds before, as far as there is such a place.
    """
    half = len(losers) // 2
    if level > 2 and half < 2:
        return losers
    return [*losers[half:], *losers[:half]] if level % 2 else losers[::-1]


def _play_heats(bracket: _Bracket, names: Sequence[str], size: int) -> None:
    """Play rounds of heats until one heat takes all; its winner has won."""
    going, out, round_number = list(names), list[str](), 0
    while True:
        round_number += 1
        going = _going_on(bracket, round_number, going, out, size)
        if len(going) < size:
            bracket.winner = going[0] if going else Vacancy.BYE
            return
        bracket.let_in(going)
        is_final = len(going) == size
        n_byes, n_first = len(going) % size, 1 if is_final else size // 2
        heats = _heats(going[n_byes:], size)
        rankings = [
            bracket.ranking(f"round {round_number}.{i}", round_number, heat, n_first) for i, heat in enumerate(heats)
        ]
        if not all(rankings):
            return
        for ranking in rankings:
            bracket.put_out(ranking[n_first:], round_number)
        if is_final:
            bracket.winner = rankings[0][0]
            return
        going = [*going[:n_byes], *(name for ranking in rankings for name in ranking[:n_first])]
        places = zip(*(ranking[n_first:] for ranking in rankings), strict=True)
        out = [name for place in places for name in sorted(place, key=bracket.competition.rank_of.__getitem__)]


def _going_on(bracket: _Bracket, round_number: int, going: Sequence[str], out: Sequence[str], size: int) -> list[str]:
    """Return who plays a round, by rank: those of *going* who take part, and from *out* whom a heat of *size* lacks."""
    active = bracket.taking_part(round_number)
    bracket.put_out([name for name in going if name not in active], round_number)
    kept = [name for name in going if name in active]
    fills = [name for name in out if name in active][: max(0, size - len(kept))]
    return sorted([*kept, *fills], key=bracket.competition.rank_of.__getitem__)


def _heats(names: Sequence[str], size: int) -> list[tuple[str, ...]]:
    """Return *names*, the strongest first, in heats of *size* of like strength: dealt out to and fro."""
    n_heats = len(names) // size
    heats: list[list[str]] = [[] for _ in range(n_heats)]
    for i, name in enumerate(names):
        turn, place = divmod(i, n_heats)
        heats[place if turn % 2 == 0 else n_heats - 1 - place].append(name)
    return [tuple(heat) for heat in heats]
