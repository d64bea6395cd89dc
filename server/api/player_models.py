"""The requests and responses of the API about registered players and the requests to them, as pydantic models."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Final, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from gdl.wire.insights import MAX_INSIGHT
from players.kit.game_manager_client import MAX_NAME
from server.api.operation import RequestModel, ResponseModel, without_none
from server.match.link import MAX_FAILURE, MAX_REPLY_BYTES
from server.principal import Principal, may_command
from server.registry.health import MAX_VERSION, Health
from server.registry.registry import PlayerWishes, Registry
from server.sanitization import CleanLine, clean_line
from server.storage.rows import PlayerRow, PlayerStatus, SeatKind
from server.storage.statistics import VersionResult
from server.tournament.ratings import Rating

MAX_MATCHES: Final = 1_000
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
_Url = Annotated[str, Field(min_length=1, max_length=500, description="where an HTTP player listens")]
_RequestId = Annotated[str, Field(min_length=1, max_length=300)]
_MaxMatches = Annotated[int, Field(ge=1, le=MAX_MATCHES, description="how many matches it plays at once")]


class _Wishes(RequestModel):
    """What the owner of a player says of it; keys in snake case are taken, too, as they have been from the start."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    url: _Url | None = None
    max_matches: _MaxMatches | None = None
    version: Annotated[
        CleanLine,
        Field(max_length=MAX_VERSION, description="what it is called until it changes: results are kept by it"),
    ] = ""
    allows_challenges: Annotated[
        bool | None, Field(description="whether others may order practice matches with it; no, if nothing is said")
    ] = None
    joins_ladder: Annotated[
        bool | None, Field(description="whether it plays in the ladder of the server; yes, if nothing is said")
    ] = None

    @property
    def wishes(self) -> PlayerWishes:
        """What is said besides the address."""
        return PlayerWishes(self.max_matches, self.version or None, self.allows_challenges, self.joins_ladder)


class NewPlayer(_Wishes):
    """A player to register: with a `url` the server calls it there, without one it dials in."""

    name: Name


class PlayerChange(_Wishes):
    """What is to be different; what is not there stays as it is."""


class PauseText(RequestModel):
    """Why a player gets no more matches."""

    reason: Annotated[CleanLine, Field(max_length=200)] = ""


class RequestsQuery(RequestModel):
    """Which requests come besides new ones."""

    past: Annotated[
        bool, Field(description="first what was answered before in each match, for a program that begins anew")
    ] = False


class ReplyText(RequestModel):
    """The reply to a request, as a player over HTTP would send it; `letter` is the deprecated name of `request`."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["request"]}, {"required": ["letter"]}]})

    request: _RequestId = ""
    letter: Annotated[_RequestId, Field(json_schema_extra={"deprecated": True})] = ""
    text: Annotated[str, Field(max_length=MAX_REPLY_BYTES)]
    failure: Annotated[
        str, Field(max_length=MAX_FAILURE, description="what went wrong in the player's own code, for its record")
    ] = ""
    insight: Annotated[
        str,
        Field(
            max_length=MAX_REPLY_BYTES,
            description="what the player thinks, for the record: the text of a JSON object, "
            f"which is dropped if it is longer than {MAX_INSIGHT:,} characters",
        ),
    ] = ""

    @model_validator(mode="after")
    def _names_one_request(self) -> Self:
        if len(self.model_fields_set & {"request", "letter"}) != 1:
            raise ValueError("name the request, by `request`")
        return self

    @property
    def request_id(self) -> str:
        """The id of the request, by whichever name."""
        return self.request or self.letter


class ReplyAnswer(ResponseModel):
    """The reply was taken; the request has the name that the reply gave it."""

    request: str | None = None
    letter: Annotated[str | None, Field(json_schema_extra={"deprecated": True})] = None


class ResultAnswer(ResponseModel):
    """How a version of a player did in the matches of a game that are completed."""

    game: str
    version: str | None = None
    matches: int
    mean_goal: float
    errors: int


class RatingAnswer(ResponseModel):
    """How strong the version of a player is, in points of Elo, with the 95 % interval, by its latest `matches`."""

    elo: float
    elo_low: float
    elo_high: float
    matches: int


class PlayerAnswer(ResponseModel):
    """A registered player; `url` and `trouble` are for its owner alone.

    `canPlay` is whether it would be given a match now if it plays none; `seenMs` when it last answered, or
    was connected, in milliseconds since 1970. `results` and `rating` are there where the request is for one player.
    """

    name: str
    kind: Literal[SeatKind.HTTP, SeatKind.DIAL_IN]
    owner: str
    status: PlayerStatus
    pause_reason: str
    max_matches: int
    created_ms: int
    seen_ms: int | None
    can_play: bool
    is_connected: bool | None = None
    info: dict[str, Any] | None = None
    url: str | None = None
    version: str | None = None
    allows_challenges: bool = False
    joins_ladder: bool = True
    results: list[ResultAnswer] | None = None
    rating: RatingAnswer | None = None


class PlayersAnswer(ResponseModel):
    """All registered players, by name."""

    players: list[PlayerAnswer]


class HealthAnswer(ResponseModel):
    """What a player says now; `trouble` tells why it said nothing."""

    player: PlayerAnswer
    is_there: bool
    trouble: list[str]


def is_own(row: PlayerRow, viewer: Principal) -> bool:
    """Return whether the player is *viewer*'s to command."""
    return may_command(viewer, row.owner)


def player_answer(
    row: PlayerRow,
    registry: Registry,
    viewer: Principal,
    results: Sequence[VersionResult] | None = None,
    rating: Rating | None = None,
) -> PlayerAnswer:
    """Return what *viewer* may know of a player, with its *results* and *rating* if they were looked up."""
    found: dict[str, Any] = {
        "name": row.name,
        "kind": row.kind,
        "owner": row.owner,
        "status": row.status,
        "pause_reason": row.pause_reason,
        "max_matches": row.max_matches,
        "created_ms": row.created_ms,
        "seen_ms": row.seen_ms,
        "can_play": registry.limit(row) > 0,
        "allows_challenges": row.allows_challenges,
        "joins_ladder": row.joins_ladder,
    }
    if row.version is not None:
        found["version"] = clean_line(row.version)
    if row.url is None:
        found["is_connected"] = registry.request_queues.is_connected(row.name)
    if isinstance(row.info, dict):
        found["info"] = _cleaned(row.info)
    if is_own(row, viewer) and row.url is not None:
        found["url"] = row.url
    if results is not None:
        found["results"] = [ResultAnswer(**without_none(asdict(each))) for each in results]
    if rating is not None:
        found["rating"] = rating_answer(rating)
    return PlayerAnswer(**found)


def _cleaned(info: Mapping[str, Any]) -> dict[str, str | None]:
    """Return what a player has answered to INFO; rows of earlier versions may have what cannot be sent."""
    texts = {key: info.get(key) for key in ("name", "status", "answered")}
    return {key: clean_line(text) if isinstance(text, str) else None for key, text in texts.items()}


def rating_answer(rating: Rating) -> RatingAnswer:
    """Return *rating* in points with one digit after the point."""
    elo, low, high = (round(value, 1) for value in (rating.elo, rating.low, rating.high))
    return RatingAnswer(elo=elo, elo_low=low, elo_high=high, matches=rating.n_matches)


def health_answer(health: Health, registry: Registry, viewer: Principal) -> HealthAnswer:
    """Return what *viewer* may know of a player's health."""
    trouble = list(health.trouble) if is_own(health.player, viewer) else []
    return HealthAnswer(
        player=player_answer(health.player, registry, viewer), is_there=health.is_there, trouble=trouble
    )
