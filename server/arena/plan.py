"""What a tournament is: its format, games, players and clocks, from a TOML file or the flags of a command."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from gdl.game import played_roles
from gdl.games.library import GameFile, find_game
from gdl.wire.messages import Dialect
from server.errors import ConfigurationError
from server.match.setup import MAX_CLOCK_S, MAX_GRACE_S, Case, Profile, Substitute
from server.tournament.competition import Schedule
from server.tournament.fixtures import Entrant, TournamentGame
from server.tournament.knockout import Knockout
from server.tournament.round_robin import Gauntlet, RoundRobin, ScoreTable
from server.tournament.scoring import Measure, ScoringRules
from server.tournament.sprt import MOST_ELO, SprtTest
from server.tournament.swiss import Swiss


class TournamentFormat(StrEnum):
    """Who meets whom, and when."""

    ROUND_ROBIN = "round-robin"
    GAUNTLET = "gauntlet"
    SWISS = "swiss"
    KNOCKOUT = "knockout"
    DOUBLE_KNOCKOUT = "double-knockout"
    LADDER = "ladder"
    SCORE_TABLE = "score-table"


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
    def _is_ordered(self) -> SprtPlan:
        if self.elo0 >= self.elo1:
            raise ValueError("elo0 must be below elo1")
        return self

    @property
    def test(self) -> SprtTest:
        """The test itself."""
        return SprtTest(self.elo0, self.elo1, self.alpha, self.beta)


class TournamentPlan(BaseModel):
    """All that decides a tournament but its results.

    Attributes:
        players: the specification of each player, by the name that it has in the tournament; the strongest first.
        rounds: the cycles of a round robin or gauntlet, the rounds of a Swiss, the sets of a meeting of a knockout, the
            meetings of a ladder, the attempts of a score table.
        all_games: whether every meeting of a Swiss or knockout is played in all games; else they take turns.
        forfeit_errors: a player with so many errors in a match has lost it.

    *Units*: seconds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: TournamentFormat = TournamentFormat.ROUND_ROBIN
    games: Annotated[tuple[_Name, ...], Field(min_length=1)]
    players: Annotated[dict[_Name, Annotated[str, Field(min_length=1, max_length=500)]], Field(min_length=1)]
    rounds: Annotated[int, Field(ge=1, le=MAX_ROUNDS)] | None = None
    all_games: bool = False
    start_clock: _Clock = 10
    play_clock: _Clock = 5
    grace: Annotated[float, Field(ge=0, le=MAX_GRACE_S)] = 1.0
    scramble: bool = False
    dialect: Dialect = Dialect.GDL2
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    measure: Measure = Measure.POINTS
    forfeit_errors: Annotated[int, Field(ge=1)] | None = None
    sprt: SprtPlan | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> TournamentPlan:
        if len(set(self.games)) < len(self.games):
            raise ValueError("games: a game is there twice")
        if self.sprt is not None and len(self.players) != 2:
            raise ValueError(f"sprt: a sequential test is between two players, not {len(self.players)}")
        return self

    @property
    def n_rounds(self) -> int:
        """How many rounds there are at most."""
        if self.rounds is not None:
            return self.rounds
        return SPRT_ROUNDS if self.sprt is not None else DEFAULT_ROUNDS.get(self.format, 1)

    @property
    def entrants(self) -> tuple[Entrant, ...]:
        """The players, in the order of their starting ranks."""
        return tuple(map(Entrant, self.players))

    @property
    def scoring(self) -> ScoringRules:
        """What counts."""
        return ScoringRules(self.measure, forfeit_errors=self.forfeit_errors)

    @property
    def profile(self) -> Profile:
        """How the server speaks with the players."""
        return Profile(self.dialect, Case.AS_IS, self.grace, self.scramble)

    @property
    def substitute(self) -> Substitute:
        """What replaces a move that is illegal, late or missing."""
        return Substitute.RANDOM

    def schedule(self) -> Schedule | None:
        """Return the schedule of the format; None for a ladder, whose schedule depends on ratings."""
        rounds, rules = self.n_rounds, self.scoring
        match self.format:
            case TournamentFormat.ROUND_ROBIN:
                return RoundRobin(rounds)
            case TournamentFormat.GAUNTLET:
                return Gauntlet((next(iter(self.players)),), rounds)
            case TournamentFormat.SWISS:
                return Swiss(rounds, all_games=self.all_games, rules=rules)
            case TournamentFormat.KNOCKOUT | TournamentFormat.DOUBLE_KNOCKOUT:
                is_double = self.format is TournamentFormat.DOUBLE_KNOCKOUT
                return Knockout(is_double, sets=rounds, all_games=self.all_games, rules=rules)
            case TournamentFormat.SCORE_TABLE:
                return ScoreTable(rounds)
            case TournamentFormat.LADDER:
                return None


def read_plan(path: Path, changes: Mapping[str, Any] | None = None) -> TournamentPlan:
    """Return the plan that the TOML file at *path* holds, with *changes* in the place of what it says.

    Raises:
        ConfigurationError: it cannot be read, is no TOML, or holds no plan; the error names the key.
    """
    try:
        fields = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigurationError(path, error.strerror or "cannot be read") from error
    except ValueError as error:
        raise ConfigurationError(path, f"no TOML: {error}") from error
    return plan_of({**fields, **(changes or {})}, path)


def plan_of(fields: Mapping[str, Any], path: Path) -> TournamentPlan:
    """Return the plan of *fields*, which came from *path*.

    Raises:
        ConfigurationError: they are no plan.
    """
    try:
        return TournamentPlan.model_validate(fields)
    except ValidationError as error:
        raise ConfigurationError(path, _first_reason(error)) from error


def _first_reason(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"]))
    reason = first["msg"].removeprefix("Value error, ")
    return f"{where}: {reason}" if where else reason


def found_games(plan: TournamentPlan) -> dict[str, GameFile]:
    """Return the rule files of the games of *plan*, by the names that they have in the tournament.

    Raises:
        UnknownNameError: a game is neither in the library nor a file.
    """
    found = [find_game(text) for text in plan.games]
    return {file.name: file for file in found}


def tournament_game(name: str, file: GameFile) -> TournamentGame:
    """Return the game of *file* as schedules see it.

    Raises:
        GdlSyntaxError: the rule file cannot be read.
        ValueError: it has no roles that a player can have, or too many.
    """
    from gdl.engines import make_game  # noqa: PLC0415 -- a plan alone needs no engine

    return TournamentGame(name, len(played_roles(make_game(file.read()))))
