"""What a tournament is: its format, games, players and clocks."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gdl.wire.messages import Dialect
from server.match.chance import SEED_BITS
from server.match.profiles import MAX_GRACE_S, Case, Profile
from server.match.setup import MAX_CLOCK_S, Substitute
from server.tournament import competition, fixtures, knockout, round_robin, swiss
from server.tournament.scoring import Measure, ScoringRules
from server.tournament.sprt import MOST_ELO, SprtTest

MAX_FORFEIT_ERRORS: Final = 1_000_000


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
    def words(self) -> str:
        """What the format is called on pages and in reports."""
        return self.value.replace("-", " ").capitalize()

    @property
    def is_knockout(self) -> bool:
        """Whether entrants are put out, so that no one comes late, and places go by when."""
        return self in (TournamentFormat.KNOCKOUT, TournamentFormat.DOUBLE_KNOCKOUT)

    @property
    def plays_games_in_turn(self) -> bool:
        """Whether a meeting is played in one game, and games take turns by round, unless all are asked for."""
        return self is TournamentFormat.SWISS or self.is_knockout

    def has_byes(self, round_number: int) -> bool:
        """Return whether an entrant without a match in that round has a bye.

        In a knockout it has one in the first round alone: later it is out, or waits for an opponent.
        """
        if self.is_knockout:
            return round_number == 1
        return self in (TournamentFormat.SWISS, TournamentFormat.ROUND_ROBIN)


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
        """The sequential test of these two hypotheses, with these rates of error."""
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
    measure: Measure = Measure.POINTS
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
    def scoring(self) -> ScoringRules:
        """What of a match counts as a score, and how many errors lose it."""
        return ScoringRules(self.measure, forfeit_errors=self.forfeit_errors)

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
