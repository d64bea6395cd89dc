"""What a tournament is: its format, games, players and clocks; what it does by the clock: start, rounds, absence."""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, time, timedelta
from enum import StrEnum
from typing import Annotated, Any, Final, Self, TypeAlias
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticKnownError

from gdl.wire.messages import Dialect
from server.match.setup import MAX_CLOCK_S, MAX_GRACE_S, SEED_BITS, Case, Profile, Substitute
from server.tournament import competition, fixtures, knockout, round_robin, standings, swiss
from server.tournament.sprt import MOST_ELO, SprtTest

MAX_WAIT_S: Final = 30 * 86_400
"""The longest time between two rounds, or for an absent player. *Units*: seconds."""
MAX_FORFEIT_ERRORS: Final = 1_000_000
_HAS_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]")
_WEEK: Final = timedelta(days=7)
_SLACK_MS: Final = 12 * 3_600_000
"""How long before a weekly moment a round may begin and count as its round: clocks differ, and hosts resume early."""


class Weekday(StrEnum):
    """A day of the week."""

    MONDAY = "monday"
    TUESDAY = "tuesday"
    WEDNESDAY = "wednesday"
    THURSDAY = "thursday"
    FRIDAY = "friday"
    SATURDAY = "saturday"
    SUNDAY = "sunday"


def _zone(name: str) -> str:
    """Return *name* if it is that of a time zone.

    Raises:
        ValueError: it is not.
    """
    try:
        ZoneInfo(name)
    except (LookupError, OSError, ValueError) as error:
        raise ValueError(f"there is no time zone {name!r}; one is called Europe/Berlin") from error
    return name


def _local(at: time) -> time:
    """Return *at* if it is a time of day without an offset of its own.

    Raises:
        ValueError: it is not.
    """
    if at.tzinfo is not None:
        raise ValueError("the time is that of the zone, without an offset of its own")
    return at


def _dated(at: object) -> object:
    """Return *at*, read if it is a text; pydantic takes numbers, also in texts, for seconds, and strictly no text.

    Raises:
        PydanticKnownError: it is a number, or a text without a date and a time.
    """
    if isinstance(at, str) and _HAS_TIME.match(at):
        with suppress(ValueError):
            return datetime.fromisoformat(at)
    if isinstance(at, int | float | str):
        raise PydanticKnownError("datetime_type")
    return at


_Moment: TypeAlias = Annotated[AwareDatetime, BeforeValidator(_dated)]


class _Part(BaseModel):
    """A part of a timetable; its keys are in camel case in JSON."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, frozen=True
    )


class Weekly(_Part):
    """Rounds that begin once a week; `zone` is a name of the IANA database, as Europe/Berlin."""

    weekday: Weekday
    time: Annotated[time, AfterValidator(_local)]
    zone: Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_zone)]

    def after(self, at_ms: int) -> int:
        """Return when the round after the one that began at *at_ms* begins: at the next such moment.

        One less than half a day later is still that of the round before. Where a clock is set forward over a moment,
        it is what the clock shows then.
        """
        zone, earliest_ms = ZoneInfo(self.zone), at_ms + _SLACK_MS
        here = datetime.fromtimestamp(earliest_ms / 1000, zone)
        n_days = (list(Weekday).index(self.weekday) - here.weekday()) % 7
        found = datetime.combine(here.date() + timedelta(days=n_days), self.time, zone)
        while _ms(found) < earliest_ms:
            found += _WEEK  # of the calendar: the time of day stays, also where the offset changes
        return _ms(found)


class Every(_Part):
    """Rounds that begin so long after the beginning of the one before. *Units*: seconds."""

    every_seconds: Annotated[float, Field(ge=0.1, le=MAX_WAIT_S)]

    def after(self, at_ms: int) -> int:
        """Return when the round after the one that began at *at_ms* begins."""
        return at_ms + round(1000 * self.every_seconds)


class Timetable(_Part):
    """What a tournament does by the clock.

    Attributes:
        entry_closes: when players can no longer enter by themselves; at the start, if nothing is said.
        starts: when it starts by itself.
        rounds_begin: when rounds begin; as soon as the schedule gives them, if nothing is said.
        absence_limit: after how many seconds a match is lost to a player that is not there; None: it is waited for.
    """

    entry_closes: _Moment | None = None
    starts: _Moment | None = None
    rounds_begin: Weekly | Every | None = None
    absence_limit: Annotated[float, Field(ge=1, le=MAX_WAIT_S)] | None = None

    @model_validator(mode="after")
    def _is_ordered(self) -> Self:
        if self.entry_closes is not None and self.starts is not None and self.entry_closes > self.starts:
            raise ValueError("entry closes after the start")
        return self

    @property
    def starts_ms(self) -> int | None:
        """When the tournament starts by itself, in milliseconds since 1970."""
        return None if self.starts is None else _ms(self.starts)

    @property
    def entry_closes_ms(self) -> int | None:
        """When players can no longer enter by themselves, in milliseconds since 1970."""
        closes = self.entry_closes or self.starts
        return None if closes is None else _ms(closes)

    def admits(self, at_ms: int) -> bool:
        """Return whether players can enter by themselves at *at_ms*, as far as the clock says."""
        return self.entry_closes_ms is None or at_ms < self.entry_closes_ms

    def round_begins_ms(self, last_ms: int | None) -> int:
        """Return from when on the next round may begin, if the one before began at *last_ms*; 0: at any time."""
        return 0 if last_ms is None or self.rounds_begin is None else self.rounds_begin.after(last_ms)


AT_ONCE: Final = Timetable()
"""That of a tournament that a host starts, and whose rounds follow one another."""


_FIRST_MS: Final = -62_135_596_800_000
"""The beginning of the year 1, in UTC."""
_LAST_MS: Final = 253_402_300_799_999
"""The end of the year 9999, in UTC."""


def _ms(at: datetime) -> int:
    """Return *at* in milliseconds since 1970; one that is outside of the calendar in UTC is at its end."""
    return min(max(round(at.timestamp() * 1000), _FIRST_MS), _LAST_MS)


class TournamentFormat(StrEnum):
    """Who meets whom, and when."""

    ROUND_ROBIN = "round-robin"
    GAUNTLET = "gauntlet"
    SWISS = "swiss"
    KNOCKOUT = "knockout"
    DOUBLE_KNOCKOUT = "double-knockout"
    LADDER = "ladder"
    SCORE_TABLE = "score-table"

    @property
    def is_knockout(self) -> bool:
        """Whether entrants are put out, so that no one comes late, and places go by when."""
        return self in (TournamentFormat.KNOCKOUT, TournamentFormat.DOUBLE_KNOCKOUT)


MAX_ROUNDS: Final = 100_000
DEFAULT_ROUNDS: Final[Mapping[TournamentFormat, int]] = {TournamentFormat.SWISS: 5, TournamentFormat.LADDER: 100}
"""How many rounds there are where the plan says nothing; 1 in other formats."""
SPRT_ROUNDS: Final = 1_000
"""How many rounds a sequential test has at most where the plan says nothing."""
_Clock = Annotated[int, Field(ge=1, le=MAX_CLOCK_S)]
_Name = Annotated[str, Field(min_length=1, max_length=100)]
_Elo = Annotated[float, Field(ge=-MOST_ELO, le=MOST_ELO)]
_Chance = Annotated[float, Field(gt=0, lt=0.5)]


class SprtPlan(BaseModel):
    """The hypotheses of the sequential test that may end a tournament of two players. *Units*: normalised Elo."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    elo0: _Elo = 0.0
    elo1: _Elo = 20.0
    alpha: _Chance = 0.05
    beta: _Chance = 0.05

    @model_validator(mode="after")
    def _is_ordered(self) -> Self:
        if self.elo0 >= self.elo1:
            raise ValueError("elo0 must be below elo1")
        return self

    @property
    def test(self) -> SprtTest:
        """The test itself."""
        return SprtTest(self.elo0, self.elo1, self.alpha, self.beta)


class TournamentTerms(BaseModel):
    """All that is agreed in a tournament before it is known who plays.

    Attributes:
        rounds: the cycles of a round robin or gauntlet, the rounds of a Swiss, the sets of a meeting of a knockout, the
            meetings of a ladder, the attempts of a score table.
        all_games: whether every meeting of a Swiss or knockout is played in all games; else they take turns.
        forfeit_errors: a player with so many errors in a match has lost it.

    *Units*: seconds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: TournamentFormat = TournamentFormat.ROUND_ROBIN
    games: Annotated[tuple[_Name, ...], Field(min_length=1)]
    rounds: Annotated[int, Field(ge=1, le=MAX_ROUNDS)] | None = None
    all_games: bool = False
    start_clock: _Clock = 10
    play_clock: _Clock = 5
    grace: Annotated[float, Field(ge=0, le=MAX_GRACE_S)] = 1.0
    scramble: bool = False
    dialect: Dialect = Dialect.GDL2
    seed: Annotated[int, Field(ge=0, lt=2**SEED_BITS)] = 0
    measure: standings.Measure = standings.Measure.POINTS
    forfeit_errors: Annotated[int, Field(ge=1, le=MAX_FORFEIT_ERRORS)] | None = None
    sprt: SprtPlan | None = None

    @model_validator(mode="after")
    def _names_no_game_twice(self) -> Self:
        if len(set(self.games)) < len(self.games):
            raise ValueError("games: a game is there twice")
        return self

    @property
    def n_rounds(self) -> int:
        """How many rounds there are at most."""
        if self.rounds is not None:
            return self.rounds
        return SPRT_ROUNDS if self.sprt is not None else DEFAULT_ROUNDS.get(self.format, 1)

    @property
    def scoring(self) -> standings.ScoringRules:
        """What counts."""
        return standings.ScoringRules(self.measure, forfeit_errors=self.forfeit_errors)

    @property
    def profile(self) -> Profile:
        """How the server speaks with the players."""
        return Profile(self.dialect, Case.AS_IS, self.grace, self.scramble)

    @property
    def substitute(self) -> Substitute:
        """What replaces a move that is illegal, late or missing."""
        return Substitute.RANDOM


def within_bounds(kept: Any) -> Any:
    """Return terms or a plan as they were *kept*, with what older versions did not bound at its bound.

    A match has fewer errors than the bound, so that more than it lose as few matches.
    """
    n_errors = kept.get("forfeit_errors") if isinstance(kept, dict) else None
    if isinstance(n_errors, int) and n_errors > MAX_FORFEIT_ERRORS:
        return {**kept, "forfeit_errors": MAX_FORFEIT_ERRORS}
    return kept


class TournamentPlan(TournamentTerms):
    """All that decides a tournament but its results.

    Attributes:
        players: the specification of each player, by the name that it has in the tournament; the strongest first.
    """

    players: Annotated[dict[_Name, Annotated[str, Field(min_length=1, max_length=500)]], Field(min_length=1)]

    @model_validator(mode="after")
    def _has_two_for_a_test(self) -> Self:
        if self.sprt is not None and len(self.players) != 2:
            raise ValueError(f"sprt: a sequential test is between two players, not {len(self.players)}")
        return self

    @property
    def entrants(self) -> tuple[fixtures.Entrant, ...]:
        """The players, in the order of their starting ranks."""
        return tuple(map(fixtures.Entrant, self.players))

    def schedule(self) -> competition.Schedule | None:
        """Return the schedule of the format; None for a ladder, whose schedule depends on ratings."""
        rounds, rules = self.n_rounds, self.scoring
        match self.format:
            case TournamentFormat.ROUND_ROBIN:
                return round_robin.RoundRobin(rounds)
            case TournamentFormat.GAUNTLET:
                return round_robin.Gauntlet((next(iter(self.players)),), rounds)
            case TournamentFormat.SWISS:
                return swiss.Swiss(rounds, all_games=self.all_games, rules=rules)
            case TournamentFormat.KNOCKOUT | TournamentFormat.DOUBLE_KNOCKOUT:
                is_double = self.format is TournamentFormat.DOUBLE_KNOCKOUT
                return knockout.Knockout(is_double, sets=rounds, all_games=self.all_games, rules=rules)
            case TournamentFormat.SCORE_TABLE:
                return round_robin.ScoreTable(rounds)
            case TournamentFormat.LADDER:
                return None
