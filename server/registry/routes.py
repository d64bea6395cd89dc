"""The API of registered players: whose they are and how they are, and the letters of those that dial in."""

from __future__ import annotations

from typing import Final

from aiohttp import web

from server.access.access import principal
from server.access.role import Principal, Role
from server.api.keys import MANAGER
from server.api.operation import Operations
from server.errors import RequestError
from server.links.mailbox import Mailbox, Reader
from server.registry import seat_routes
from server.registry.answers import (
    HealthAnswer,
    LettersQuery,
    NewPlayer,
    PauseText,
    PlayerAnswer,
    PlayerChange,
    PlayersAnswer,
    ReplyAnswer,
    ReplyText,
    health_answer,
    is_own,
    letter_json,
    player_answer,
)
from server.registry.errors import NotDialInError
from server.registry.registry import Registry
from server.registry.streaming import HEARTBEAT_S, NDJSON, SSE, EventStream, streaming
from server.storage.rows import PlayerRow

PLAYERS: Final = "/api/v1/players"
PLAYER: Final = f"{PLAYERS}/{{name}}"
_UNKNOWN: Final = ("not_registered",)
_OWN: Final = ("not_registered", "forbidden")
players: Final = Operations("players")


def add_routes(app: web.Application) -> None:
    """Add all of this to *app*."""
    players.add_to(app)
    seat_routes.seats.add_to(app)


def _registry(request: web.Request) -> Registry:
    return request.app[MANAGER].registry


async def _own(request: web.Request, name: str) -> tuple[PlayerRow, Principal]:
    """Return the player and its owner, who sends *request*."""
    viewer = principal(request)
    row = await _registry(request).get(name)
    if not is_own(row, viewer):
        raise RequestError("forbidden", f"the player {row.name} belongs to somebody else", status=403)
    return row, viewer


@players.get(PLAYERS)
async def list_players(request: web.Request) -> PlayersAnswer:
    """List the registered players."""
    registry, viewer = _registry(request), principal(request)
    rows = await registry.store.listed()
    return PlayersAnswer(players=[player_answer(row, registry, viewer) for row in rows])


@players.post(
    PLAYERS, role=Role.PLAYER, status=201, errors=("invalid_name", "invalid_player", "name_taken", "too_many_players")
)
async def register_player(request: web.Request, body: NewPlayer) -> PlayerAnswer:
    """Register a player.

    It belongs to the name on the token. The server calls a player with a `url`; one without dials in: it reads its
    letters and posts its replies.
    """
    registry, viewer = _registry(request), principal(request)
    row = await registry.register(body.name, viewer.name, body.url, body.max_matches)
    return player_answer(row, registry, viewer)


@players.get(PLAYER, errors=_UNKNOWN)
async def read_player(request: web.Request, name: str) -> PlayerAnswer:
    """Tell of one registered player."""
    registry = _registry(request)
    return player_answer(await registry.get(name), registry, principal(request))


@players.declare("PATCH", PLAYER, role=Role.PLAYER, errors=(*_OWN, "invalid_player"))
async def change_player(request: web.Request, name: str, body: PlayerChange) -> PlayerAnswer:
    """Change where one's own player is, or how many matches it plays at once."""
    row, viewer = await _own(request, name)
    registry = _registry(request)
    return player_answer(await registry.change(row.name, body.url, body.max_matches), registry, viewer)


@players.delete(PLAYER, role=Role.PLAYER, status=204, errors=_OWN)
async def remove_player(request: web.Request, name: str) -> web.Response:
    """Forget one's own player; its matches keep its name."""
    row, _ = await _own(request, name)
    await _registry(request).remove(row.name)
    return web.Response(status=204)


@players.post(f"{PLAYER}/pause", role=Role.PLAYER, errors=_OWN)
async def pause_player(request: web.Request, name: str, body: PauseText) -> PlayerAnswer:
    """Give one's own player no more matches for now; those that it plays go on."""
    row, viewer = await _own(request, name)
    registry = _registry(request)
    await registry.pause(row.name, body.reason or f"by {viewer.name}")
    return player_answer(await registry.get(row.name), registry, viewer)


@players.post(f"{PLAYER}/resume", role=Role.PLAYER, errors=_OWN)
async def resume_player(request: web.Request, name: str) -> PlayerAnswer:
    """Give one's own player matches again, its failures forgotten."""
    row, viewer = await _own(request, name)
    registry = _registry(request)
    await registry.resume(row.name)
    return player_answer(await registry.get(row.name), registry, viewer)


@players.get(f"{PLAYER}/info", role=Role.PLAYER, errors=_UNKNOWN)
async def check_player(request: web.Request, name: str) -> HealthAnswer:
    """Ask a player INFO now, or whether it is connected."""
    manager, viewer = request.app[MANAGER], principal(request)
    health = await manager.health.check(await manager.registry.get(name))
    return health_answer(health, manager.registry, viewer)


@players.get(
    f"{PLAYER}/letters",
    role=Role.PLAYER,
    media=(SSE, NDJSON),
    errors=(*_OWN, "not_dial_in"),
    headers={
        "Accept": f"{NDJSON} for a JSON object a line; server-sent events otherwise",
        "Last-Event-ID": "the id of the last event that came: letters up to it are not told again",
    },
)
async def read_letters(request: web.Request, name: str, query: LettersQuery) -> web.StreamResponse:
    """Read the letters of one's own player that dials in, as they come.

    First comes `connected`, then a `letter` for each message that waits for a reply, or comes later; letters that
    were not answered come again on every new connection. When another connection of the same player takes over,
    `replaced` comes, and `removed` when the player is not registered any more; then the stream ends. Something comes
    at least every 15 seconds.
    """
    mailbox = await _mailbox(request, name)
    async with streaming(request) as stream:
        with mailbox.reading(request.headers.get("Last-Event-ID", ""), with_past=query.past) as reader:
            await stream.send("connected", {"player": name, "heartbeatSeconds": HEARTBEAT_S})
            await _tell(stream, mailbox, reader)
            await stream.send("removed" if mailbox.is_closed else "replaced", {"player": name})
    return stream.response


async def _mailbox(request: web.Request, name: str) -> Mailbox:
    row, _ = await _own(request, name)
    if row.url is not None:
        raise NotDialInError(row.name)
    return request.app[MANAGER].mailboxes.mailbox(row.name)


async def _tell(stream: EventStream, mailbox: Mailbox, reader: Reader) -> None:
    """Tell letters until *reader* gets none any more."""
    while (mail := await reader.next()) is not None:
        await stream.send("letter", letter_json(mail, mailbox), mailbox.event_id(mail))


@players.post(
    f"{PLAYER}/replies", role=Role.PLAYER, errors=(*_OWN, "not_dial_in", "unknown_letter", "late_reply", "other_reply")
)
async def post_reply(request: web.Request, name: str, body: ReplyText) -> ReplyAnswer:
    """Answer a letter of one's own player; the same reply may come twice."""
    mailbox = await _mailbox(request, name)
    mailbox.answer(body.letter, body.text)
    return ReplyAnswer(letter=body.letter)
