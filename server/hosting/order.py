"""An order for a match as it comes in JSON: the body of POST /api/v1/matches."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from gdl.messages import Dialect
from server.hosting.hosted import MAX_CLOCK_S
from server.match.profile_words import MAX_GRACE_S
from server.match.profiles import Case, Profile
from server.match.setup import Substitute

MAX_STEP: Final = 1_000_000
_Clock = Annotated[int, Field(ge=1, le=MAX_CLOCK_S)]
_Grace = Annotated[float, Field(ge=0, le=MAX_GRACE_S)]
_Player = Annotated[str, Field(min_length=1, max_length=500)]
_Name = Annotated[str, Field(min_length=1, max_length=100)]


class SeatText(BaseModel):
    """A player, and how to speak with it where that differs from the others. *Units*: seconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    player: _Player
    dialect: Dialect | None = None
    case: Case | None = None
    grace: _Grace | None = None
    scramble: bool | None = None

    def profile(self, others: Profile) -> Profile:
        """Return *others* with what is said here."""
        told = {"dialect": self.dialect, "case": self.case, "grace_s": self.grace, "is_scrambled": self.scramble}
        changes: dict[str, Any] = {name: value for name, value in told.items() if value is not None}
        return replace(others, **changes)


class FromText(BaseModel):
    """The step of a match, or of a match record, from which another match begins."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    match: _Name | None = None
    record: dict[str, Any] | None = None
    step: Annotated[int, Field(ge=0, le=MAX_STEP)]

    @model_validator(mode="after")
    def _has_one_origin(self) -> FromText:
        if (self.match is None) == (self.record is None):
            raise ValueError("either `match`, the id of a match, or `record`, a match record, is needed")
        return self


def _seat(value: object) -> object:
    return {"player": value} if isinstance(value, str) else value


class OrderText(BaseModel):
    """The body of POST /api/v1/matches. *Units*: seconds."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True)

    game: _Name | None = None
    rules: Annotated[str, Field(min_length=1, max_length=2_000_000)] | None = None
    players: dict[_Name, Annotated[SeatText, BeforeValidator(_seat)]] = Field({}, max_length=100)
    start_clock: _Clock = 10
    play_clock: _Clock = 5
    grace: _Grace = 1.0
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    scramble: bool = False
    dialect: Dialect = Dialect.GDL2
    case: Case = Case.AS_IS
    substitute: Substitute = Substitute.RANDOM
    tournament: _Name | None = None
    begin: FromText | None = Field(default=None, alias="from")

    @model_validator(mode="after")
    def _has_one_game(self) -> OrderText:
        n_named = (self.game is not None) + (self.rules is not None)
        if n_named > 1 or (n_named == 0 and self.begin is None):
            raise ValueError("either `game`, a name in the library, or `rules`, a rule file's text, is needed")
        return self
