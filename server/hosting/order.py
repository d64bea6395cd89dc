"""An order for a match: the body of POST /api/v1/matches, what the database keeps of it, and the match drawn of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticKnownError

from gdl.game import RANDOM, Role
from gdl.wire.messages import Dialect
from server.access.authentication import new_secret, secret_hash
from server.clock import now_ms
from server.hosting.engine_process import GameOutline
from server.links.seating import PlayerReference
from server.match.chance import SEED_BITS, new_match_id, new_random_token, new_seed
from server.match.profiles import MAX_GRACE_S, Case, Profile
from server.match.setup import MAX_CLOCK_S, MatchSetup, Substitute
from server.sanitization import CleanName, is_storable
from server.spectating.broadcast import read_delay
from server.storage.rows import GameVersion, MatchRow, MatchStatus, SeatKind, SeatRow
from server.tournament.fixtures import ScheduledMatch

MAX_STEP: Final = 1_000_000
_Clock = Annotated[int, Field(ge=1, le=MAX_CLOCK_S)]
_Grace = Annotated[float, Field(ge=0, le=MAX_GRACE_S)]
_Player = Annotated[CleanName, Field(min_length=1, max_length=500)]
_MaxMatches = Annotated[
    int, Field(ge=1, le=1_000, description="how many matches the player at this address plays at once; 1 otherwise")
]
MAX_NAME: Final = 100
_Name = Annotated[CleanName, Field(min_length=1, max_length=MAX_NAME)]
MAX_ROLE: Final = 500
"""As part of an address, where a character takes up to twelve, it fits into the first line of a request."""


def _of_text(role: str) -> str:
    """Return the name of a role as it is, which is how the rules write it, in whichever normal form.

    Raises:
        ValueError: no rules can write it.
    """
    if not is_storable(role):
        raise ValueError("there are characters in it that are in no text")
    return role


RoleName = Annotated[str, Field(min_length=1, max_length=MAX_ROLE), AfterValidator(_of_text)]


class SeatText(BaseModel):
    """A player, and how to speak with it where that differs from the others. *Units*: seconds."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True, frozen=True)

    player: _Player
    dialect: Dialect | None = None
    case: Case | None = None
    grace: _Grace | None = None
    scramble: bool | None = None
    max_matches: _MaxMatches | None = None

    def profile(self, others: Profile) -> Profile:
        """Return *others* with what is said here."""
        named = {"dialect": self.dialect, "case": self.case, "grace_s": self.grace, "is_scrambled": self.scramble}
        changes: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
        return replace(others, **changes)


class FromText(BaseModel):
    """The step of a match, or of a match record, from which another match begins."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    match: _Name | None = None
    record: dict[str, Any] | None = None
    step: Annotated[int, Field(ge=0, le=MAX_STEP)]

    @model_validator(mode="after")
    def _has_one_origin(self) -> Self:
        if (self.match is None) == (self.record is None):
            raise ValueError("either `match`, the id of a match, or `record`, a match record, is needed")
        return self


def _seat(value: object) -> object:
    return {"player": value} if isinstance(value, str) else value


_MAX_SEATS: Final = 100


def _counted(value: object) -> object:
    # Pydantic counts the entries once it has read them all.
    if isinstance(value, dict) and len(value) > _MAX_SEATS:
        raise PydanticKnownError(
            "too_long", {"field_type": "Dictionary", "max_length": _MAX_SEATS, "actual_length": None}
        )
    return value


class MatchRequest(BaseModel):
    """The body of POST /api/v1/matches. *Units*: seconds."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True)

    game: _Name | None = None
    rules: Annotated[str, Field(min_length=1, max_length=2_000_000)] | None = None
    players: Annotated[dict[RoleName, Annotated[SeatText, BeforeValidator(_seat)]], BeforeValidator(_counted)] = Field(
        {}, max_length=_MAX_SEATS
    )
    start_clock: _Clock = 10
    play_clock: _Clock = 5
    grace: _Grace = 1.0
    seed: Annotated[int, Field(ge=0, lt=2**SEED_BITS)] | None = None
    scramble: bool = False
    dialect: Dialect = Dialect.GDL2
    case: Case = Case.AS_IS
    substitute: Substitute = Substitute.RANDOM
    tournament: _Name | None = None
    broadcast_delay: Annotated[str, AfterValidator(lambda text: str(read_delay(text)))] | None = Field(
        default=None, max_length=20, description="how late spectators see it: `3 steps`, `60 s`, `end`, or `live`"
    )
    begin: FromText | None = Field(default=None, alias="from")

    @property
    def named_players(self) -> dict[str, str]:
        """How the player of each role was named."""
        return {role: seat.player for role, seat in self.players.items()}

    @model_validator(mode="after")
    def _has_one_game(self) -> Self:
        n_named = (self.game is not None) + (self.rules is not None)
        if n_named > 1 or (n_named == 0 and self.begin is None):
            raise ValueError("either `game`, a name in the library, or `rules`, a rule file's text, is needed")
        return self


@dataclass(frozen=True, slots=True)
class StoredOrder:
    """What was ordered, with everything drawn that the order left open.

    Attributes:
        request: what was ordered, its rules replaced by the game's name.
        seat_claims: by role, the hash of what a person says to take that seat.
        shows_insight: whether those who watch see what players think, where nothing is hidden.
    """

    request: MatchRequest
    seed: int
    scramble_seed: int
    random_token: str
    seat_claims: Mapping[str, str] = field(default_factory=dict)
    shows_insight: bool = False

    @property
    def profile(self) -> Profile:
        """How to speak with players whose seat says nothing else."""
        return Profile(self.request.dialect, self.request.case, self.request.grace, self.request.scramble)

    def profile_of(self, role: str) -> Profile:
        """Return how to speak with the player of *role*."""
        seat = self.request.players.get(role)
        return self.profile if seat is None else seat.profile(self.profile)

    def setup(self, match_id: str, entrants: Mapping[Role, PlayerReference]) -> MatchSetup:
        """Return what is agreed with *entrants* before the match begins."""
        return MatchSetup(
            tuple(entrant.seat(role, self.profile_of(str(role))) for role, entrant in entrants.items()),
            self.request.start_clock,
            self.request.play_clock,
            match_id=match_id,
            seed=self.seed,
            scramble_seed=self.scramble_seed,
            substitute=self.request.substitute,
        )

    def as_json(self) -> dict[str, Any]:
        """Return what `order_of` reads."""
        return {
            "text": self.request.model_dump(mode="json", by_alias=True, exclude_none=True),
            "seed": self.seed,
            "scrambleSeed": self.scramble_seed,
            "randomToken": self.random_token,
            "seatClaims": dict(self.seat_claims),
            **({"liveInsight": True} if self.shows_insight else {}),
        }


def new_order(request: MatchRequest, game_name: str, seat_claims: Mapping[str, str]) -> StoredOrder:
    """Return what is kept of a match that is ordered now."""
    brings_record = request.begin is not None and request.begin.record is not None  # which may be large
    begin = None if brings_record else request.begin
    named = request.model_copy(update={"game": game_name, "rules": None, "begin": begin})
    seed = new_seed() if request.seed is None else request.seed
    return StoredOrder(named, seed, new_seed(), new_random_token(), seat_claims)


def order_of(order: Mapping[str, Any]) -> StoredOrder:
    """Return the order that the JSON object *order* keeps."""
    request = MatchRequest.model_validate(order["text"])
    drawn = order["seed"], order["scrambleSeed"], order["randomToken"]
    return StoredOrder(request, *drawn, order["seatClaims"], order.get("liveInsight") is True)


@dataclass(frozen=True, slots=True)
class MatchRules:
    """The rules of a match: the version of a game as it is kept, and its outline."""

    version: GameVersion
    outline: GameOutline


@dataclass(frozen=True, slots=True)
class DrawnMatch:
    """A match as it is kept, with its seats, and what its people say to take theirs, which is kept nowhere."""

    row: MatchRow
    seats: tuple[SeatRow, ...]
    seat_secrets: Mapping[str, str]


def drawn_match(  # noqa: PLR0913 -- each decides on columns of its own
    request: MatchRequest,
    by: str,
    rules: MatchRules,
    seated: Mapping[Role, PlayerReference],
    scheduled: ScheduledMatch | None,
    *,
    shows_insight: bool,
) -> DrawnMatch:
    """Return the match of *rules* with the players *seated* that *request*, an order of *by*, means.

    What the order leaves open is drawn; one that a tournament has *scheduled* has its id and its seeds.
    """
    version = rules.version
    secrets = {str(role): new_secret() for role, player in seated.items() if player.kind == SeatKind.HUMAN}
    order = new_order(request, version.name, {role: secret_hash(secret) for role, secret in secrets.items()})
    order = replace(order, shows_insight=shows_insight)
    if scheduled is not None:
        order = replace(order, seed=scheduled.seed, scramble_seed=scheduled.scramble_seed)
    row = MatchRow(
        id=new_match_id() if scheduled is None else scheduled.match_id,
        game=version.name,
        sha256=version.sha256,
        order=order.as_json(),
        created_ms=now_ms(),
        status=MatchStatus.LOBBY if secrets else MatchStatus.QUEUED,
        ordered_by=by,
        tournament=request.tournament,
        is_hidden=version.is_gdl2 or any(order.profile_of(str(role)).is_scrambled for role in seated),
    )
    seats = tuple(_seat_row(row.id, place, role, seated) for place, role in enumerate(rules.outline.roles))
    return DrawnMatch(row, seats, secrets)


def _seat_row(match_id: str, position: int, role: Role, seated: Mapping[Role, PlayerReference]) -> SeatRow:
    player = seated.get(role)
    if player is None:
        return SeatRow(match_id, str(role), position, str(RANDOM), SeatKind.CHANCE)
    return SeatRow(match_id, str(role), position, player.name, player.kind)
