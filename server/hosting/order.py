"""An order for a match that came as JSON, checked and made out."""

from __future__ import annotations

import asyncio
import difflib
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from gdl.complaints import complaint
from gdl.engines import make_game
from gdl.errors import UnknownNameError
from gdl.game import Game
from gdl.games.library import find_game, game_names
from gdl.limits import EvaluationLimits
from gdl.messages import Dialect
from gdl.rules import Description, read_rules
from server.errors import RequestError
from server.hosting.hosted import MAX_CLOCK_S, MatchOrder
from server.hosting.seating import check_roles, public_player_spec
from server.match.profile_words import MAX_GRACE_S
from server.match.profiles import Case, Profile
from server.match.setup import Substitute

LIMITS: Final = EvaluationLimits(max_rows=1_000_000, max_seconds=30.0)
"""What one question to an engine may cost when somebody on the network brought the rules."""
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
    begin: FromText | None = Field(None, alias="from")

    @model_validator(mode="after")
    def _has_one_game(self) -> OrderText:
        n_named = (self.game is not None) + (self.rules is not None)
        if n_named > 1 or (n_named == 0 and self.begin is None):
            raise ValueError("either `game`, a name in the library, or `rules`, a rule file's text, is needed")
        return self


async def match_order(body: Any) -> MatchOrder:
    """Return the match that the JSON value *body* orders; nothing is started yet.

    Raises:
        RequestError: it is no order.
        UnknownNameError: no such game, player or role.
        PlayerSpecError: a player that may not be named over the network.
        RuleFileError: its rules cannot be played.
        LimitExceeded: its rules cost too much.
    """
    text = _order_text(body)
    players = {role: public_player_spec(seat.player) for role, seat in text.players.items()}
    profile = Profile(text.dialect, text.case, text.grace, text.scramble)
    game = await asyncio.to_thread(_game, text)
    check_roles(game, players)
    return MatchOrder(
        game_name=text.game or "rules",
        game=game,
        players=players,
        start_clock_s=text.start_clock,
        play_clock_s=text.play_clock,
        profile=profile,
        profiles={role: seat.profile(profile) for role, seat in text.players.items()},
        substitute=text.substitute,
        seed=text.seed,
        tournament=text.tournament,
    )


def _order_text(body: Any) -> OrderText:
    try:
        return OrderText.model_validate(body)
    except ValidationError as error:
        first = error.errors()[0]
        where, message = ".".join(map(str, first["loc"]))[:200], complaint(first)
        hint = _hint(where) if first["type"] == "extra_forbidden" else ""
        raise RequestError("invalid_order", f"{where}: {message}" if where else message, hint) from error


def _hint(key: str) -> str:
    near = difflib.get_close_matches(key, [to_camel(name) for name in OrderText.model_fields])
    return f"did you mean {near[0]}?" if near else ""


def _game(text: OrderText) -> Game:
    return make_game(_description(text), limits=LIMITS)


def _description(text: OrderText) -> Description:
    if text.rules is not None:
        return read_rules(text.rules, "rules")
    names = game_names()
    if text.game not in names:  # a path is for the machine's own users
        raise UnknownNameError("game", text.game or "", difflib.get_close_matches(text.game or "", names))
    return find_game(text.game).read()
