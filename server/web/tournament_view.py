"""A tournament as its pages show it: standings, cross table, rounds, and matches."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Final

from server.hosting.rounds import standstill, wait_reasons_of
from server.hosting.tournament_progress import played_of, progress_of
from server.registry.queueing import Hindrance, WaitReason
from server.storage.rows import ENDED_STATUSES, MatchStatus
from server.storage.tournament_rows import FixtureRow, TournamentRow
from server.storage.tournaments import StoredTournament
from server.tournament.competition import Pairing
from server.tournament.plan import TournamentFormat
from server.tournament.progress import Progress
from server.tournament.ratings import elo_range
from server.tournament.scoring import ScoringRules, counted_goals, losers, match_points
from server.tournament.summary import sprt_line
from server.tournament.swiss import byes
from server.tournament.table import TableRow, head_to_head, table_of
from server.web.template_filters import points

_MOST_IN_CROSS_TABLE: Final = 60

_UNORDERED: Final = ("scheduled", "not played", "forfeited")
"""What a match is that was never ordered: its tournament goes on, or has ended, or the match was lost without it."""


@dataclass(frozen=True, slots=True)
class ShownFixture:
    """A scheduled match: who plays, what came of it, and in `note` what else happened to it.

    Attributes:
        wait_reason: what it waits for in the queue; empty where it only waits for its turn.
        game: what it is called; empty while it is not to be known.
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

    def goals(self, fixture: ShownFixture) -> tuple[int, ...] | None:
        """Return the goals of one of its matches as its entrants are listed; by role where they have not one each."""
        names = [name for name, _ in self.players]
        if fixture.goals is None or sorted(names) != sorted(fixture.players):
            return fixture.goals
        return tuple(fixture.goals[fixture.players.index(name)] for name in names)


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
        titles: what its games are called, by their names.
        table: the standings, the best first; empty before the start.
        cross: what each made against each other, in the order of the table; empty where it would be too large, or
            none plays against another.
        sprt: how the sequential test stands; empty without one.
        standstill: what it waits for in the queue; empty while a match of it is played, or no player is absent.
    """

    found: StoredTournament
    titles: Mapping[str, str] = field(default_factory=dict)
    table: tuple[TableRow, ...] = ()
    cross: tuple[tuple[str, ...], ...] = ()
    rounds: tuple[ShownRound, ...] = ()
    sprt: str = ""
    standstill: str = ""
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
        return elo_range(row.rating for row in self.table if row.rating is not None)


NO_REASONS: Final[Mapping[str, WaitReason]] = MappingProxyType({})
NO_TITLES: Final[Mapping[str, str]] = MappingProxyType({})


def shown_tournament(
    found: StoredTournament,
    wait_reasons: Mapping[str, WaitReason] = NO_REASONS,
    titles: Mapping[str, str] = NO_TITLES,
) -> ShownTournament:
    """Return the tournament *found* as pages show it; this takes long where many have played many matches.

    *wait_reasons* says of matches in the queue, by their ids, what they wait for, *titles* what its games are called.

    Raises:
        RequestError: it has begun, and cannot be played with the entrants that it has.
    """
    if found.row.started_ms is None and not found.fixtures:
        return ShownTournament(found, titles)
    progress = progress_of(found)
    table, rules = table_of(progress), progress.plan.scoring
    names = [row.player for row in table]
    has_cross = len(names) <= _MOST_IN_CROSS_TABLE and not found.row.is_played_alone
    cross = head_to_head(progress.results, names, rules, points) if has_cross else []
    waits = wait_reasons_of(found, wait_reasons)
    words = {match_id: reason.words for match_id, reason in waits.items()}
    fixtures = {
        one.match.match_id: _fixture(found, one, rules, words.get(one.match.match_id, ""), titles)
        for one in found.fixtures
    }
    return ShownTournament(
        found=found,
        titles=titles,
        table=table,
        cross=tuple(map(tuple, cross)),
        rounds=_rounds(found, progress, fixtures),
        sprt=sprt_line(progress) or "",
        standstill=_notice(standstill(found, waits)),
        progress=progress,
    )


def _notice(reason: WaitReason | None) -> str:
    """Return why the tournament stands still; nothing where its players are but busy, as between two matches."""
    if reason is None or all(why == Hindrance.BUSY for why in reason.players.values()):
        return ""
    return reason.words


def _rounds(
    found: StoredTournament, progress: Progress, fixtures: Mapping[str, ShownFixture]
) -> tuple[ShownRound, ...]:
    by_round: dict[int, list[ShownPairing]] = {}
    for pairing in progress.competition.pairings:
        by_round.setdefault(pairing.round, []).append(_pairing(pairing, fixtures, progress.plan.scoring))
    resting: dict[int, list[str]] = {}
    form, late = found.row.terms.format, any(entrant.since_round > 1 for entrant in found.entrants)
    # In a round robin late entrants meet the others in rounds of the longer table, which are over in part: one who has
    # no match in one of them has played in others twice.
    has_byes = not (late and form is TournamentFormat.ROUND_ROBIN)
    for number, name in byes(progress.competition):
        if has_byes and form.has_byes(number):
            resting.setdefault(number, []).append(name)
    return tuple(
        ShownRound(number, tuple(pairings), tuple(resting.get(number, ())))
        for number, pairings in sorted(by_round.items())
    )


def _pairing(pairing: Pairing, fixtures: Mapping[str, ShownFixture], rules: ScoringRules) -> ShownPairing:
    points = match_points(pairing, rules)
    players = tuple((name, points.get(name, 0.0)) for name in pairing.players)
    return ShownPairing(players, tuple(fixtures[one.match_id] for one in pairing.matches), pairing.is_decided)


def _fixture(
    found: StoredTournament, one: FixtureRow, rules: ScoringRules, wait_reason: str, titles: Mapping[str, str]
) -> ShownFixture:
    match, played = one.match, played_of(one)
    annulment = found.annulments.get(match.match_id)
    unordered = "forfeited" if one.forfeited else "not played" if found.row.has_ended else "scheduled"
    return ShownFixture(
        match_id=match.match_id,
        round=match.round,
        players=match.players,
        status=str(one.status or unordered),
        game="" if found.row.hides_games else titles.get(match.game, match.game),
        goals=None if played is None else counted_goals(played.result, rules),
        errors=() if played is None else played.result.errors,
        note=_note(found, one, frozenset() if played is None else losers(played.result, rules)),
        is_void=annulment is not None,
        ended_ms=one.ended_ms,
        wait_reason=wait_reason,
    )


def _note(found: StoredTournament, one: FixtureRow, lost: frozenset[str]) -> str:
    """Return what happened to a match besides its result."""
    annulment = found.annulments.get(one.match.match_id)
    if annulment is not None:
        by = f" by {annulment.annulled_by}" if annulment.annulled_by else ""
        again = ", and played again" if annulment.is_replayed else ""
        return f"annulled{by}{again}: {annulment.reason}"
    if one.forfeited:
        return f"forfeited by {', '.join(one.forfeited)}"
    if lost:
        return f"lost by the errors of {', '.join(sorted(lost))}"
    return one.abort_reason or ""
