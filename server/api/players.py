"""Players over HTTP: registering them, how they are, the requests of those that dial in, and INFO of an address."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any, Final

from aiohttp import web
from pydantic import Field

from server.access.control import principal
from server.api import player_models
from server.api.operation import Operations, RequestModel, ResponseModel
from server.api.streams import HEARTBEAT_S, NDJSON, SSE, EventStream, streamed
from server.app_keys import LEADERBOARDS, MANAGER
from server.errors import NotDialInError
from server.links.addresses import is_address
from server.links.errors import UnknownRequestError
from server.links.player_info import ask_info
from server.links.relay import Connection
from server.links.request_queue import Reader, RequestQueue
from server.principal import Principal, Role
from server.refusals import RequestError
from server.registry.registry import Registry
from server.storage.rows import PlayerRow
from server.storage.statistics import Statistics

PLAYERS: Final = "/api/v1/players"
PLAYER: Final = f"{PLAYERS}/{{name}}"
_UNKNOWN: Final = ("not_registered",)
_OWN: Final = ("not_registered", "forbidden")
operations: Final = Operations("players")


def _registry(request: web.Request) -> Registry:
    return request.app[MANAGER].registry


async def own_player(request: web.Request, name: str) -> tuple[PlayerRow, Principal]:
    """Return the player and its owner, who sends *request*.

    Raises:
        UnknownPlayerError: there is none.
        RequestError: it belongs to another owner.
    """
    viewer = principal(request)
    row = await _registry(request).get(name)
    if not player_models.is_own(row, viewer):
        message = f"the player {row.name} belongs to another owner"
        raise RequestError("forbidden", message, "choose another name for a player of your own", 403)
    return row, viewer


@operations.get(PLAYERS)
async def list_players(request: web.Request) -> player_models.PlayersAnswer:
    """List the registered players."""
    registry, viewer = _registry(request), principal(request)
    rows = await registry.store.listed()
    return player_models.PlayersAnswer(players=[player_models.player_answer(row, registry, viewer) for row in rows])


@operations.post(
    PLAYERS, role=Role.PLAYER, status=201, errors=("invalid_name", "invalid_player", "name_taken", "too_many_players")
)
async def register_player(request: web.Request, body: player_models.NewPlayer) -> player_models.PlayerAnswer:
    """Register a player.

    It belongs to the name on the token. The server calls a player with a `url`; one without dials in: it reads its
    requests and posts its replies.
    """
    registry, viewer = _registry(request), principal(request)
    row = await registry.register(body.name, viewer.name, body.url, wishes=body.wishes)
    return player_models.player_answer(row, registry, viewer)


@operations.get(PLAYER, errors=_UNKNOWN)
async def read_player(request: web.Request, name: str) -> player_models.PlayerAnswer:
    """Tell of one registered player, with its rating, and its results by game and version."""
    manager = request.app[MANAGER]
    row = await manager.registry.get(name)
    results = await Statistics(manager.database).by_version(row.name, row.created_ms)
    board = await request.app[LEADERBOARDS].current()
    ranked = None if board is None else board.row_of(row.name)
    rating = ranked.rating if ranked is not None and ranked.rating.n_matches else None
    return player_models.player_answer(row, manager.registry, principal(request), results, rating)


@operations.declare("PATCH", PLAYER, role=Role.PLAYER, errors=(*_OWN, "invalid_player"))
async def change_player(
    request: web.Request, name: str, body: player_models.PlayerChange
) -> player_models.PlayerAnswer:
    """Change where one's own player is, its version, how many matches it plays at once, and with whom."""
    row, viewer = await own_player(request, name)
    registry = _registry(request)
    changed = await registry.change(row.name, body.url, wishes=body.wishes, still=row)
    return player_models.player_answer(changed, registry, viewer)


@operations.delete(PLAYER, role=Role.PLAYER, status=204, errors=_OWN)
async def remove_player(request: web.Request, name: str) -> web.Response:
    """Forget one's own player; its matches keep its name."""
    row, _ = await own_player(request, name)
    await _registry(request).remove(row.name, still=row)
    return web.Response(status=204)


_NO_REASON: Final = player_models.PauseText()


@operations.post(f"{PLAYER}/pause", role=Role.PLAYER, errors=_OWN)
async def pause_player(
    request: web.Request, name: str, body: player_models.PauseText = _NO_REASON
) -> player_models.PlayerAnswer:
    """Give one's own player no more matches for now; those that it plays go on."""
    row, viewer = await own_player(request, name)
    registry = _registry(request)
    await registry.pause(row.name, body.reason or f"by {viewer.name}")
    return player_models.player_answer(await registry.get(row.name), registry, viewer)


@operations.post(f"{PLAYER}/resume", role=Role.PLAYER, errors=_OWN)
async def resume_player(request: web.Request, name: str) -> player_models.PlayerAnswer:
    """Give one's own player matches again, its failures forgotten."""
    row, viewer = await own_player(request, name)
    registry = _registry(request)
    await registry.resume(row.name)
    return player_models.player_answer(await registry.get(row.name), registry, viewer)


@operations.get(f"{PLAYER}/info", role=Role.PLAYER, errors=_UNKNOWN)
async def check_player(request: web.Request, name: str) -> player_models.HealthAnswer:
    """Ask a player INFO now, or whether it is connected."""
    manager, viewer = request.app[MANAGER], principal(request)
    health = await manager.health.check(await manager.registry.get(name))
    return player_models.health_answer(health, manager.registry, viewer)


_MAX_EVENT_ID: Final = 100
_STREAM: Final[dict[str, Any]] = {
    "role": Role.PLAYER,
    "media": (SSE, NDJSON),
    "errors": (*_OWN, "not_dial_in"),
    "headers": {
        "Accept": f"{NDJSON} for a JSON object a line; server-sent events otherwise",
        "Last-Event-ID": "the id of the last event that came: requests up to it do not come again",
    },
}


@operations.get(f"{PLAYER}/requests", **_STREAM)
async def read_requests(request: web.Request, name: str, query: player_models.RequestsQuery) -> web.StreamResponse:
    """Read the requests that wait for one's own dial-in player, as they come.

    First comes `connected`, then a `request` for each request that waits for a reply, or comes later; those that
    were not answered come again on every new connection. When another connection of the same player takes over,
    `replaced` comes, and `removed` when the player is not registered any more; then the stream ends. Something comes
    at least every 15 seconds.
    """
    return await _stream_requests(request, name, query, "request")


@operations.get(f"{PLAYER}/letters", is_deprecated=True, **_STREAM)
async def read_letters(request: web.Request, name: str, query: player_models.RequestsQuery) -> web.StreamResponse:
    """Read the same as `requests` under its deprecated name: events and ids of requests are called `letter`."""
    return await _stream_requests(request, name, query, "letter")


async def _stream_requests(
    request: web.Request, name: str, query: player_models.RequestsQuery, word: str
) -> web.StreamResponse:
    """Stream the requests to the player *name*, each as an event called *word*, until another reader takes over."""
    queue, relay = await _queue(request, name), request.app[MANAGER].relay
    last, stamp = request.headers.get("Last-Event-ID", "")[:_MAX_EVENT_ID], await relay.stamp()
    row, _ = await own_player(request, name)  # a removal since then shows here; a later one closes that queue
    await request.app[MANAGER].registry.note_seen(row)

    async def send(stream: EventStream) -> None:
        with (
            queue.reading(last, with_answered=query.past) as reader,
            relay.connected(name, stamp, last, with_answered=query.past) as connection,
        ):
            await stream.send("connected", {"player": name, "heartbeatSeconds": HEARTBEAT_S, "takesInsight": True})
            events = _RequestEvents(stream, word)
            passing_on = asyncio.create_task(_send_passed_on(events, connection))
            try:
                await _send_requests(events, queue, reader)
            finally:
                passing_on.cancel()
            await stream.send("removed" if queue.is_closed else "replaced", {"player": name})

    return await streamed(request, send)


async def _queue(request: web.Request, name: str) -> RequestQueue:
    row, _ = await own_player(request, name)
    manager = request.app[MANAGER]
    # Matches that began before the player got an address go on by the queue.
    if row.url is not None and not await manager.matches.busy([row.name]):
        raise NotDialInError(row.name)
    return manager.request_queues.of_player(row.name)


@dataclass(frozen=True, slots=True)
class _RequestEvents:
    """Sends requests to a player over *stream*; *word* is what its events and the ids of requests are called."""

    stream: EventStream
    word: str

    async def send(self, told: dict[str, Any], event_id: str) -> None:
        """Send what the server tells of a request; raises as `EventStream.send`."""
        named = {self.word if key == "request" else key: value for key, value in told.items()}
        await self.stream.send(self.word, named, event_id)


async def _send_requests(events: _RequestEvents, queue: RequestQueue, reader: Reader) -> None:
    """Send the requests that *reader* gets, until it is replaced or the queue is closed."""
    while (queued := await reader.next()) is not None:
        await events.send(queue.told(queued), queue.event_id(queued))


async def _send_passed_on(events: _RequestEvents, connection: Connection) -> None:
    """Send the requests of matches that other managers play."""
    try:
        async for event_id, told in connection.requests():
            await events.send(told, event_id)
    except (ConnectionError, TimeoutError):
        events.stream.cut()


@operations.post(
    f"{PLAYER}/replies",
    role=Role.PLAYER,
    errors=(*_OWN, "not_dial_in", "unknown_request", "unknown_letter", "late_reply", "other_reply"),
)
async def post_reply(request: web.Request, name: str, body: player_models.ReplyText) -> player_models.ReplyAnswer:
    """Answer a request to one's own player; the same reply may come twice."""
    await _queue(request, name)
    try:
        await request.app[MANAGER].relay.answer(name, body.request_id, body.text, body.failure, body.insight)
    except UnknownRequestError as error:
        if not body.letter:
            raise
        raise RequestError("unknown_letter", str(error), status=404) from None
    named = {"letter": body.letter} if body.letter else {"request": body.request}
    return player_models.ReplyAnswer(**named)


class InfoQuery(RequestModel):
    """Which player is asked."""

    player: Annotated[str, Field(max_length=500, description="its address: http://host:port")]


class InfoAnswer(ResponseModel):
    """What a player said; `answered` is the message that it understood, `trouble` why no more is known."""

    player: str
    name: str | None
    status: str | None
    answered: str | None
    trouble: list[str]


@operations.get("/api/v1/info", role=Role.PLAYER, errors=["invalid_player"])
async def ask_player(request: web.Request, query: InfoQuery) -> InfoAnswer:
    """Ask the player at an address INFO, or failing that PING, within 5 s; who is silent may be thinking."""
    if not is_address(query.player):
        raise RequestError("invalid_player", "only an address can be asked", "say ?player=http://host:port")
    info = await ask_info(query.player, targets=request.app[MANAGER].settings.targets)
    status = None if info.reply.status is None else info.reply.status.value
    return InfoAnswer(
        player=info.url, name=info.reply.name, status=status, answered=info.answered, trouble=list(info.trouble)
    )
