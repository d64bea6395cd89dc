"""Events as they happen, in one HTTP answer that goes on: server-sent events, or a JSON object a line."""

import asyncio
import socket
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing, suppress
from typing import Annotated, Any, Final

from aiohttp import hdrs, web
from pydantic import Field

from server.api.matches import URL
from server.api.operation import Ms, Operations, RequestModel, ResponseModel
from server.app_keys import FEEDS, MANAGER, OVERVIEW
from server.spectating.fanout import SharedEvent, framed, pieces
from server.spectating.public_record import known_match
from server.spectating.stream import public_events

SSE: Final = "text/event-stream"
NDJSON: Final = "application/x-ndjson"
HEARTBEAT_S: Final = 15.0
"""How often something is sent when nothing happens: routers on the way forget connections that are silent for long."""
WRITE_LIMIT_S: Final = 30.0
"""How long the client may take to read what was sent."""
_DEAD_MS: Final = 45_000
"""After how long a connection is dead whose other end does not even confirm heartbeats."""


class EventStream:
    """The answer to *request*: JSON lines where it accepts these by name, server-sent events otherwise.

    Attributes:
        is_ndjson: whether it is lines of JSON.
    """

    def __init__(self, request: web.Request) -> None:
        self._request = request
        self.is_ndjson = "ndjson" in request.headers.get("Accept", "").lower()
        # A proxy that collects what passes before it hands it on would hold up everything.
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        self.response = web.StreamResponse(headers=headers)
        self.response.content_type = NDJSON if self.is_ndjson else SSE
        self.response.charset = "utf-8"

    async def open(self) -> None:
        """Send the head."""
        _notice_dead_peers(self._request)
        await self.response.prepare(self._request)

    async def send(self, kind: str, data: dict[str, Any], event_id: str = "") -> None:
        """Send an event of *kind*; a client that connects again may name *event_id* as the last one that came.

        Raises:
            ConnectionError: the client is gone.
            TimeoutError: the client does not read what was sent.
        """
        await self._write(framed(kind, data, event_id, is_ndjson=self.is_ndjson))

    async def send_all(self, events: Iterable[SharedEvent]) -> None:
        """Send *events* that others get, too; raises as `send`."""
        for piece in pieces(events, is_ndjson=self.is_ndjson):
            await self._write(piece)

    def send_now(self, data: bytes) -> bool:
        """Send *data*, whole events, if the client has taken everything before; return whether it was sent."""
        transport = self._request.transport
        if transport is None or transport.is_closing() or transport.get_write_buffer_size():
            return False
        writing = self.response.write(data)
        try:
            writing.send(None)  # with nothing before it, it waits for nothing but, where it is long, its own end
        except StopIteration:
            return True
        except ConnectionError:
            return False
        writing.close()
        return True

    async def heartbeat(self) -> None:
        """Send what means nothing; raises as `send`."""
        await self._write(b"\n" if self.is_ndjson else b": heartbeat\n\n")

    def cut(self) -> None:
        """Cut the connection, which ends what answers the request, whatever it waits for."""
        if self._request.transport is not None:
            self._request.transport.abort()

    async def _write(self, data: bytes) -> None:
        async with asyncio.timeout(WRITE_LIMIT_S):
            await self.response.write(data)


async def streamed(request: web.Request, send: Callable[[EventStream], Awaitable[None]]) -> web.StreamResponse:
    """Answer *request* with the events that *send* sends, kept alive meanwhile, until the client reads no more.

    HEAD is answered with the head alone, and nothing is sent. Where the client is gone before the head is, the request
    is cancelled.
    """
    stream = EventStream(request)
    try:
        await stream.open()
    except ConnectionError:
        raise asyncio.CancelledError from None  # as the server does a moment later, when the loop has noticed it
    if request.method == hdrs.METH_HEAD:
        return stream.response
    with suppress(ConnectionError, TimeoutError):
        beating = asyncio.create_task(_beat(stream))
        try:
            await send(stream)
        finally:
            beating.cancel()
    return stream.response


async def streamed_batches(
    request: web.Request, follow: Callable[[EventStream], AsyncGenerator[Iterable[SharedEvent]]]
) -> web.StreamResponse:
    """Answer *request* with the batches of events that *follow* yields for its stream, as `streamed` does."""

    async def send(stream: EventStream) -> None:
        async with aclosing(follow(stream)) as batches:
            async for events in batches:
                await stream.send_all(events)

    return await streamed(request, send)


async def _beat(stream: EventStream) -> None:
    try:
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            await stream.heartbeat()
    except (ConnectionError, TimeoutError):
        stream.cut()


def _notice_dead_peers(request: web.Request) -> None:
    wire = None if request.transport is None else request.transport.get_extra_info("socket")
    if wire is not None and wire.family in (socket.AF_INET, socket.AF_INET6) and sys.platform == "linux":
        wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _DEAD_MS)


operations: Final = Operations("events")
_HEADERS: Final = {
    "Accept": f"{NDJSON} for a JSON object a line; server-sent events otherwise",
    "Last-Event-ID": "the id of the last event that came: the stream goes on behind it",
}
_LARGEST: Final = 2**53


class AfterQuery(RequestModel):
    """Where to go on."""

    after: Annotated[int, Field(ge=-1, le=_LARGEST, description="the number of the last event that is known")] = -1


class SinceQuery(RequestModel):
    """Since when changes are wanted."""

    since: Annotated[Ms, Field(ge=0, le=_LARGEST)] | None = None


class MatchEvent(ResponseModel):
    """One event of a match; its number is its place in the journal."""

    number: int
    kind: str
    data: dict[str, Any]


class Journal(ResponseModel):
    """The public events of a match up to now."""

    events: list[MatchEvent]


@operations.get(f"{URL}/{{match_id}}/journal", errors=["unknown_match"])
async def read_journal(request: web.Request, match_id: str, query: AfterQuery) -> Journal:
    """Return the public events of a match up to now."""
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
    return await streamed_batches(request, lambda stream: request.app[FEEDS].follow(match_id, after, stream))


@operations.get("/api/v1/events", media=[SSE, NDJSON], headers=_HEADERS)
async def follow_all(request: web.Request, query: SinceQuery) -> web.StreamResponse:
    """Follow all matches: each that waits or is played, as lists show it, and again whenever it has changed.

    Every event is a `match`; its id is a time. A client that connects again gets also the matches that ended meanwhile.
    """
    since = _last_event_id(request, -1 if query.since is None else query.since)
    overview, from_ms = request.app[OVERVIEW], None if since < 0 else since
    return await streamed_batches(request, lambda stream: overview.batches(from_ms, stream))


def _last_event_id(request: web.Request, otherwise: int) -> int:
    text = request.headers.get("Last-Event-ID", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < len(str(_LARGEST)) else otherwise
