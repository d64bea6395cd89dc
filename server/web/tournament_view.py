"""A tournament as its pages show it: plan and times in words, standings, cross table, rounds, and matches."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Final

from server.hosting.tournament_progress import played_of, progress_of
from server.storage.rows import ENDED_STATUSES, MatchStatus
from server.storage.tournament_rows import EntryRule, FixtureRow, TournamentRow
from server.storage.tournaments import StoredTournament
from server.tournament.competition import Pairing
from server.tournament.knockout import Knockout
from server.tournament.plan import AT_ONCE, Every, Timetable, TournamentFormat, TournamentTerms, Weekly
from server.tournament.progress import Progress
from server.tournament.standings import TIE_BREAKS, Measure, ScoringRules, counted_goals, match_points
from server.tournament.summary import sprt_line
from server.tournament.swiss import byes
from server.tournament.table import TableRow, head_to_head, table_of
from server.web.rendering import counted, date

FORMAT_WORDS: Final[dict[TournamentFormat, str]] = {
    TournamentFormat.ROUND_ROBIN: "Round robin",
    TournamentFormat.GAUNTLET: "Gauntlet",
    TournamentFormat.SWISS: "Swiss",
    TournamentFormat.KNOCKOUT: "Knockout",
    TournamentFormat.DOUBLE_KNOCKOUT: "Double knockout",
    TournamentFormat.LADDER: "Ladder",
    TournamentFormat.SCORE_TABLE: "Score table",
}
"""What the formats are called."""
_MEASURES: Final[dict[Measure, str]] = {
    Measure.GOALS: "The mean goal of all matches counts, from 0 to 100.",
    Measure.POINTS: "Each match gives 1 point for a better goal than another's, ½ for an equal one, 0 for a worse one.",
    Measure.MEETINGS: "Each meeting gives 1 point for the better mean goal of its matches, ½ for an equal one, 0 for a"
    " worse one.",
}
_EVEN_MEETINGS: Final = (
    f"After equal points there are up to {Knockout().extra_meetings} more, then the one that entered earlier goes on."
)


def _meetings(terms: TournamentTerms) -> str:
    """Return who meets whom."""
    n = terms.n_rounds
    match terms.format:
        case TournamentFormat.ROUND_ROBIN:
            return f"Each entrant meets each other one in each game{_times(n)}."
        case TournamentFormat.GAUNTLET:
            return f"The first entrant meets each of the others in each game{_times(n)}."
        case TournamentFormat.SWISS:
            met = f"{counted(n, 'round')}; in each, entrants with like scores meet who have not met before."
            return f"{met} A bye counts as a won meeting."
        case TournamentFormat.KNOCKOUT:
            return f"Who loses a meeting is out. A meeting has {counted(n, 'set')} of matches. {_EVEN_MEETINGS}"
        case TournamentFormat.DOUBLE_KNOCKOUT:
            return f"Who has lost two meetings is out. A meeting has {counted(n, 'set')} of matches. {_EVEN_MEETINGS}"
        case TournamentFormat.LADDER:
            return f"Those meet whose match tells most about the ratings, up to {counted(n, 'time')}."
        case TournamentFormat.SCORE_TABLE:
            return f"Each entrant plays each game alone, in {counted(n, 'attempt')}, and the goals are compared."


def _times(n: int) -> str:
    return "" if n == 1 else f", {n:,} times"


def _games(games: Sequence[str], terms: TournamentTerms) -> str:
    """Return which games are played, and in which order."""
    listed = ", ".join(games) if games else f"{counted(len(terms.games), 'game')}, whose names appear at the end"
    if len(terms.games) < 2:
        return f"{listed}."
    if not (terms.format is TournamentFormat.SWISS or terms.format.is_knockout):
        return f"{listed}."
    return f"{listed}; {'each meeting plays all of them' if terms.all_games else 'they take turns by round'}."


def _seats(row: TournamentRow) -> str:
    """Return what is done so that chance favours no entrant."""
    if row.is_played_alone:
        return "Everyone plays with the same chance as the others."
    return "In a set of matches the seats rotate, with the same chance, so that everyone plays each role as often."


def _places(terms: TournamentTerms) -> str:
    """Return what decides on the places."""
    if terms.format.is_knockout:
        return "Places go by the round in which entrants are put out; those of one round share a place."
    return f"Places go by scores; equal ones are parted by {', then '.join(TIE_BREAKS)}."


def _errors(terms: TournamentTerms) -> str:
    replaced = "A move that is illegal, late or missing is replaced by a random legal one, and counts as an error."
    if terms.forfeit_errors is None:
        return f"{replaced} Errors alone lose no match."
    return f"{replaced} {counted(terms.forfeit_errors, 'error').capitalize()} in a match lose it."


def rules_in_words(row: TournamentRow, games: Sequence[str], at_ms: int) -> Iterator[tuple[str, str]]:
    """Yield the rules of a tournament as of *at_ms*, each with its title; *games* are none while they are secret."""
    terms = row.terms
    yield "Format", f"{FORMAT_WORDS[terms.format]}. {_meetings(terms)}"
    yield "Games", _games(games, terms)
    yield "Seats", _seats(row)
    clocks = f"{terms.start_clock:,} s to prepare, {terms.play_clock:,} s for each move"
    yield "Clocks", f"{clocks}; a reply may be {terms.grace:g} s late on its way."
    yield "What counts", _MEASURES[terms.measure]
    yield "Places", _places(terms)
    yield "Errors", _errors(terms)
    yield "Forfeits", "Who withdraws, or does not come, has lost its open matches; ratings leave these out."
    if terms.scramble:
        yield "Names", "Names in the rules are scrambled, so that no player can know a game by its words."
    if terms.sprt is not None:
        yield (
            "Test",
            (
                f"A sequential test ends it once it is sure whether the first is better by {terms.sprt.elo0:g} or by"
                f" {terms.sprt.elo1:g} points of normalised Elo."
            ),
        )
    timetable = row.timetable or AT_ONCE
    yield "Entry", _entry(row, timetable, at_ms)
    yield from _times_in_words(timetable)


def _entry(row: TournamentRow, timetable: Timetable, at_ms: int) -> str:
    """Return who enters, and until when."""
    if not row.may_admit:
        return "Entry is closed."
    if row.entry != EntryRule.OPEN:
        return "The host enters players."
    if not row.admits(at_ms):
        return "Entry is closed; a host may let players in late."
    closes = timetable.entry_closes_ms
    until = "" if closes is None else f" until {date(closes)} UTC"
    return f"Everybody with a registered player may enter{until}."


def _times_in_words(timetable: Timetable) -> Iterator[tuple[str, str]]:
    """Yield what a tournament does by the clock, each with its title."""
    if timetable.starts_ms is not None:
        yield "Start", f"{date(timetable.starts_ms)} UTC, by itself."
    match timetable.rounds_begin:
        case Weekly() as weekly:
            when = f"each {weekly.weekday.capitalize()} at {weekly.time:%H:%M}, by the clocks of {weekly.zone}"
            yield "Rounds", f"A round begins {when}."
        case Every() as every:
            yield "Rounds", f"A round begins {every.every_seconds:g} s after the one before."
    if timetable.absence_limit is not None:
        yield "Absence", f"Who is not there for {timetable.absence_limit:g} s when its match could begin has lost it."


_MOST_IN_CROSS_TABLE: Final = 60
_HAS_RESTS: Final = (TournamentFormat.SWISS, TournamentFormat.ROUND_ROBIN)
"""The formats in which an entrant without a match in a round has a bye.

In a knockout it has one in the first round alone: later it is out, or waits for an opponent.
"""

_UNORDERED: Final = ("scheduled", "not played", "forfeited")
"""What a match is that was never ordered: its tournament goes on, or has ended, or the match was lost without it."""


@dataclass(frozen=True, slots=True)
class ShownFixture:
    """A scheduled match: who plays, what came of it, and in `note` what else happened to it.

    Attributes:
        wait_reason: what it waits for in the queue; empty where it only waits for its turn.
        game: empty while it is not to be known.
        goals: those that count; None without a result.
        is_void: whether it does not count.
    """

    match_id: str
    round: int
    players: tuple[str, ...]
    status: str
    game: str
    goals: tuple[int, ...] | None
    errors: tuple[int, ...]
    note: str
    is_void: bool
    ended_ms: int | None
    wait_reason: str = ""

    @property
    def has_page(self) -> bool:
        """Whether the match was ordered."""
        return self.status not in _UNORDERED

    @property
    def is_over(self) -> bool:
        """Whether nothing more is played of it."""
        return self.status == "forfeited" or self.status in tuple(ENDED_STATUSES)


@dataclass(frozen=True, slots=True)
class ShownPairing:
    """Entrants who meet in a round, each with its points so far, and their matches."""

    players: tuple[tuple[str, float], ...]
    fixtures: tuple[ShownFixture, ...]
    is_decided: bool


@dataclass(frozen=True, slots=True)
class ShownRound:
    """A round: its pairings, who rests, and how many of its matches are over."""

    number: int
    pairings: tuple[ShownPairing, ...]
    resting: tuple[str, ...]

    @property
    def fixtures(self) -> tuple[ShownFixture, ...]:
        """The matches of the round, in the order of the schedule."""
        return tuple(each for pairing in self.pairings for each in pairing.fixtures)

    @property
    def n_over(self) -> int:
        """How many of its matches are over."""
        return sum(each.is_over for each in self.fixtures)


@dataclass(frozen=True)
class ShownTournament:
    """A tournament as its pages show it.

    Attributes:
        table: the standings, the best first; empty before the start.
        cross: what each made against each other, in the order of the table; empty where it would be too large, or
            none plays against another.
        sprt: how the sequential test stands; empty without one.
    """

    found: StoredTournament
    table: tuple[TableRow, ...] = ()
    cross: tuple[tuple[str, ...], ...] = ()
    rounds: tuple[ShownRound, ...] = ()
    sprt: str = ""
    progress: Progress | None = field(default=None, repr=False)

    @property
    def row(self) -> TournamentRow:
        """The row of the tournament."""
        return self.found.row

    @cached_property
    def fixtures(self) -> Mapping[str, ShownFixture]:
        """All scheduled matches, by id, in the order of the rounds."""
        return {each.match_id: each for one in self.rounds for each in one.fixtures}

    @property
    def n_done(self) -> int:
        """How many matches are over; after the end of the tournament, how many have a result."""
        return sum(each.goals is not None if self.row.has_ended else each.is_over for each in self.fixtures.values())

    @property
    def current(self) -> ShownRound | None:
        """The first round in which a match is open, after the end the last that began; None before the first."""
        if self.row.has_ended:
            began = [one for one in self.rounds if one.n_over]
            return began[-1] if began else None
        is_open = (one for one in self.rounds if one.n_over < len(one.fixtures))
        return next(is_open, self.rounds[-1] if self.rounds else None)

    def byes_of(self, name: str) -> list[int]:
        """Return the numbers of the rounds in which the entrant *name* has a bye."""
        return [one.number for one in self.rounds if name in one.resting]

    @property
    def playing(self) -> tuple[ShownFixture, ...]:
        """The matches that are played now, in the order of the schedule."""
        return tuple(each for each in self.fixtures.values() if each.status == MatchStatus.RUNNING)

    @property
    def elo_range(self) -> tuple[float, float]:
        """The lowest and the highest end of the intervals of the ratings."""
        lows = [row.elo_low for row in self.table if row.elo_low is not None]
        highs = [row.elo_high for row in self.table if row.elo_high is not None]
        return (min(lows), max(highs)) if lows and highs else (0.0, 0.0)


NO_REASONS: Final[Mapping[str, str]] = MappingProxyType({})


def shown_tournament(found: StoredTournament, wait_reasons: Mapping[str, str] = NO_REASONS) -> ShownTournament:
    """Return the tournament *found* as pages show it; this takes long where many have played many matches.

    *wait_reasons* says of matches in the queue, by their ids, what they wait for.

    Raises:
        RequestError: it has begun, and cannot be played with the entrants that it has.
    """
    if found.row.started_ms is None and not found.fixtures:
        return ShownTournament(found)
    progress = progress_of(found)
    table, rules = table_of(progress), progress.plan.scoring
    names = [row.player for row in table]
    has_cross = len(names) <= _MOST_IN_CROSS_TABLE and not found.row.is_played_alone
    cross = head_to_head(progress.results, names, rules) if has_cross else []
    sprt = sprt_line(progress) or ""
    fixtures = {
        one.match.match_id: _fixture(found, one, rules, wait_reasons.get(one.match.match_id, ""))
        for one in found.fixtures
    }
    rounds = _rounds(found, progress, fixtures)
    return ShownTournament(found, table, tuple(map(tuple, cross)), rounds, sprt, progress)


def _rounds(
    found: StoredTournament, progress: Progress, fixtures: Mapping[str, ShownFixture]
) -> tuple[ShownRound, ...]:
    by_round: dict[int, list[ShownPairing]] = {}
    for pairing in progress.competition.pairings:
        by_round.setdefault(pairing.round, []).append(_pairing(pairing, fixtures, progress.plan.scoring))
    resting: dict[int, list[str]] = {}
    form = found.row.terms.format
    for number, name in byes(progress.competition):
        if form in _HAS_RESTS or (form.is_knockout and number == 1):
            resting.setdefault(number, []).append(name)
    return tuple(
        ShownRound(number, tuple(pairings), tuple(resting.get(number, ())))
        for number, pairings in sorted(by_round.items())
    )


def _pairing(pairing: Pairing, fixtures: Mapping[str, ShownFixture], rules: ScoringRules) -> ShownPairing:
    points = match_points(pairing, rules)
    players = tuple((name, points.get(name, 0.0)) for name in pairing.players)
    return ShownPairing(players, tuple(fixtures[one.match_id] for one in pairing.matches), pairing.is_decided)


def _fixture(found: StoredTournament, one: FixtureRow, rules: ScoringRules, wait_reason: str) -> ShownFixture:
    match, played = one.match, played_of(one)
    annulment = found.annulments.get(match.match_id)
    unordered = "forfeited" if one.forfeited else "not played" if found.row.has_ended else "scheduled"
    return ShownFixture(
        match.match_id, match.round, match.players, str(one.status or unordered),
        "" if found.row.hides_games else match.game,
        None if played is None else counted_goals(played.result, rules),
        () if played is None else played.result.errors, _note(found, one), annulment is not None, one.ended_ms,
        wait_reason,
    )  # fmt: skip


def _note(found: StoredTournament, one: FixtureRow) -> str:
    """Return what happened to a match besides its result."""
    annulment = found.annulments.get(one.match.match_id)
    if annulment is not None:
        by = f" by {annulment.annulled_by}" if annulment.annulled_by else ""
        again = ", and played again" if annulment.is_replayed else ""
        return f"annulled{by}{again}: {annulment.reason}"
    if one.forfeited:
        return f"forfeited by {', '.join(one.forfeited)}"
    return one.abort_reason or ""
