"""The requests and responses of the API about registered players and the requests to them, as pydantic models."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from server.links.request_queue import QueuedRequest, RequestQueue
from server.match.link import MAX_FAILURE, MAX_REPLY_BYTES
from server.registry.health import Health
from server.registry.registry import MAX_NAME, Registry
from server.sanitization import CleanLine, clean_line
from server.storage.rows import PlayerRow, PlayerStatus, SeatKind
from server.visibility import Principal, may_command

MAX_MATCHES: Final = 1_000
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
_Url = Annotated[str, Field(min_length=1, max_length=500, description="where an HTTP player listens")]
_RequestId = Annotated[str, Field(min_length=1, max_length=300)]
_MaxMatches = Annotated[int, Field(ge=1, le=MAX_MATCHES, description="how many matches it plays at once")]


class Text(BaseModel):
    """The body of a request or a response: keys in camel case, and no others."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True, frozen=True)


class NewPlayer(Text):
    """A player to register: with a `url` the server calls it there, without one it dials in."""

    name: Name
    url: _Url | None = None
    max_matches: _MaxMatches | None = None


class PlayerChange(Text):
    """What is to be different; what is not there stays as it is."""

    url: _Url | None = None
    max_matches: _MaxMatches | None = None


class PauseText(Text):
    """Why a player gets no more matches."""

    reason: Annotated[CleanLine, Field(max_length=200)] = ""


class RequestsQuery(Text):
    """Which requests come besides new ones."""

    past: Annotated[
        bool, Field(description="first what was answered before in each match, for a program that begins anew")
    ] = False


class ReplyText(Text):
    """The reply to a request, as a player over HTTP would send it; `letter` is the deprecated name of `request`."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["request"]}, {"required": ["letter"]}]})

    request: _RequestId = ""
    letter: Annotated[_RequestId, Field(json_schema_extra={"deprecated": True})] = ""
    text: Annotated[str, Field(max_length=MAX_REPLY_BYTES)]
    failure: Annotated[
        str, Field(max_length=MAX_FAILURE, description="what went wrong in the player's own code, for its record")
    ] = ""

    @model_validator(mode="after")
    def _names_one_request(self) -> ReplyText:
        if len(self.model_fields_set & {"request", "letter"}) != 1:
            raise ValueError("name the request, by `request`")
        return self

    @property
    def request_id(self) -> str:
        """The id of the request, by whichever name."""
        return self.request or self.letter


class ReplyAnswer(Text):
    """The reply was taken; the request has the name that the reply gave it."""

    request: str | None = None
    letter: Annotated[str | None, Field(json_schema_extra={"deprecated": True})] = None


class PlayerAnswer(Text):
    """A registered player; `url` and `trouble` are for its owner alone.

    `canPlay` is whether it would be given a match now if it plays none; `seenMs` when it last answered, in
    milliseconds since 1970.
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


class PlayersAnswer(Text):
    """All registered players, by name."""

    players: list[PlayerAnswer]


class HealthAnswer(Text):
    """What a player says now; `trouble` tells why it said nothing."""

    player: PlayerAnswer
    is_there: bool
    trouble: list[str]


def is_own(row: PlayerRow, viewer: Principal) -> bool:
    """Return whether the player is *viewer*'s to command."""
    return may_command(viewer, row.owner)


def player_answer(row: PlayerRow, registry: Registry, viewer: Principal) -> PlayerAnswer:
    """Return what *viewer* may know of a player."""
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
    }
    if row.url is None:
        found["is_connected"] = registry.request_queues.is_connected(row.name)
    if isinstance(row.info, dict):
        # Rows of earlier versions may have what cannot be sent.
        texts = {key: row.info.get(key) for key in ("name", "status", "answered")}
        found["info"] = {key: clean_line(text) if isinstance(text, str) else None for key, text in texts.items()}
    if is_own(row, viewer) and row.url is not None:
        found["url"] = row.url
    return PlayerAnswer(**found)


def health_answer(health: Health, registry: Registry, viewer: Principal) -> HealthAnswer:
    """Return what *viewer* may know of a player's health."""
    trouble = list(health.trouble) if is_own(health.player, viewer) else []
    return HealthAnswer(
        player=player_answer(health.player, registry, viewer), is_there=health.is_there, trouble=trouble
    )


def request_json(queued: QueuedRequest, queue: RequestQueue, id_key: str) -> dict[str, Any]:
    """Return a queued request as its player reads it, its id under *id_key*. *Units*: seconds."""
    left_s = queue.left_s(queued)
    found: dict[str, Any] = {
        id_key: queued.id,
        "match": queued.request.match_id,
        "step": queued.request.step,
        "message": queued.message,
        "text": queued.text,
        "secondsLeft": None if left_s is None else round(left_s, 3),
        "secondsWaited": round(queue.waited_s(queued), 3),
    }
    if queued.legal_moves:
        found["legalMoves"] = list(queued.legal_moves)
    if queued.request.answered is not None:
        found["answered"] = queued.request.answered
    return found
