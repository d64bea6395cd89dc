"""What happens in matches, over HTTP as it happens: server-sent events, or a JSON object a line."""

from __future__ import annotations

from typing import Annotated, Any, Final

from aiohttp import web
from pydantic import Field

from server.api.keys import MANAGER, OVERVIEW
from server.api.matches import URL
from server.api.operation import Operations
from server.api.shapes import Asked, Ms, Told
from server.match.clock import now_ms
from server.registry.streaming import NDJSON, SSE, streaming
from server.spectating.events import PublicEvent
from server.spectating.record import known_match
from server.spectating.stream import feed, public_events

operations: Final = Operations("events")
_HEADERS: Final = {
    "Accept": f"{NDJSON} for a JSON object a line; server-sent events otherwise",
    "Last-Event-ID": "the id of the last event that came: the stream goes on behind it",
}
_LARGEST: Final = 2**53


class AfterQuery(Asked):
    """Where to go on."""

    after: Annotated[int, Field(ge=-1, le=_LARGEST, description="the number of the last event that is known")] = -1


class SinceQuery(Asked):
    """Since when changes are wanted."""

    since: Annotated[Ms, Field(ge=0, le=_LARGEST)] | None = None


class MatchEvent(Told):
    """One event of a match; its number is its place in the journal."""

    number: int
    kind: str
    data: dict[str, Any]


class Journal(Told):
    """The public events of a match up to now."""

    events: list[MatchEvent]


@operations.get(f"{URL}/{{match_id}}/journal", errors=["unknown_match"])
async def read_journal(request: web.Request, match_id: str, query: AfterQuery) -> Journal:
    """Return what has happened in a match up to now, as anybody may know it."""
    found = await public_events(request.app[MANAGER], match_id, query.after)
    return Journal(events=[MatchEvent(number=one.number, kind=one.kind, data=one.data) for one in found])


@operations.get(f"{URL}/{{match_id}}/events", media=[SSE, NDJSON], errors=["unknown_match"], headers=_HEADERS)
async def follow_match(request: web.Request, match_id: str, query: AfterQuery) -> web.StreamResponse:
    """Follow a match: what has happened, and what happens, until it is over.

    The events are `started`, `state`, `asked`, `answered`, `step`, one of `completed`, `aborted` and `failed`, and
    `closed`, after which the stream ends. States and moves of a hidden match come only after its end.
    """
    manager, after = request.app[MANAGER], _last_event_id(request, query.after)
    await known_match(manager, match_id)
    async with streaming(request) as stream:
        kind = ""
        async for event in feed(manager, match_id, after):
            kind = event.kind
            await stream.send(kind, _told(event), str(event.number))
        if kind != "closed":  # whoever knows the last event already must not come again and again
            await stream.send("closed", {}, str(after))
    return stream.response


def _told(event: PublicEvent) -> dict[str, Any]:
    return event.data | ({"now": now_ms()} if event.kind == "asked" else {})


@operations.get("/api/v1/events", media=[SSE, NDJSON], headers=_HEADERS)
async def follow_all(request: web.Request, query: SinceQuery) -> web.StreamResponse:
    """Follow all matches: each that waits or is played, as lists show it, and again whenever it has changed.

    Every event is a `match`; its id is a time. Whoever comes again is told, too, of the matches that ended meanwhile.
    """
    since = _last_event_id(request, -1 if query.since is None else query.since)
    async with streaming(request) as stream:
        async for at_ms, match in request.app[OVERVIEW].changes(None if since < 0 else since):
            await stream.send("match", match, str(at_ms))
    return stream.response


def _last_event_id(request: web.Request, otherwise: int) -> int:
    text = request.headers.get("Last-Event-ID", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < len(str(_LARGEST)) else otherwise
