"""The HTTP API of the game manager, version 1: ask a player, start a match, list, read the record, abort; all in JSON.

docs/api.md describes it. Every error has one shape: `{"error": {"code": ..., "message": ..., "hint": ...}}`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from aiohttp import web

from gdl.games.library import game_names
from server.api.refusals import refusal
from server.errors import RequestError
from server.hosting.matches import Matches
from server.hosting.order import match_order
from server.links.info import ask_info

MAX_BODY_BYTES: Final = 2_000_000
BODY_LIMIT_S: Final = 30.0
MATCHES: Final = web.AppKey("matches", Matches)
_Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]


def make_app(matches: Matches) -> web.Application:
    """Return the game manager as a web application; it aborts what is still being played when it shuts down."""
    app = web.Application(middlewares=[_refusing], client_max_size=MAX_BODY_BYTES)
    app[MATCHES] = matches
    app.router.add_get("/api/v1/games", _list_games)
    app.router.add_get("/api/v1/info", _ask_player)
    app.router.add_get("/api/v1/matches", _list_matches)
    app.router.add_post("/api/v1/matches", _start_match)
    app.router.add_get("/api/v1/matches/{id}", _read_record)
    app.router.add_post("/api/v1/matches/{id}/abort", _abort_match)
    app.on_shutdown.append(_abort_all)
    return app


async def _abort_all(app: web.Application) -> None:
    await app[MATCHES].close()


@web.middleware
async def _refusing(request: web.Request, handler: _Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except Exception as error:  # whatever it is, the answer has the one shape
        status, body = refusal(error)
        headers = {"Allow": error.headers["Allow"]} if isinstance(error, web.HTTPMethodNotAllowed) else None
        return web.json_response(body, status=status, headers=headers)


async def _list_games(_request: web.Request) -> web.Response:
    return web.json_response({"games": list(game_names())})


async def _ask_player(request: web.Request) -> web.Response:
    url = request.query.get("player", "")
    if not url.startswith(("http://", "https://")):
        raise RequestError("invalid_player", "only an address can be asked", "say ?player=http://host:port")
    info = await ask_info(url)
    told = {"name": info.reply.name, "status": info.reply.status, "answered": info.answered}
    return web.json_response({"player": info.url} | told | {"trouble": info.trouble})


async def _list_matches(request: web.Request) -> web.Response:
    return web.json_response({"matches": request.app[MATCHES].listed()})


async def _start_match(request: web.Request) -> web.Response:
    order = await match_order(await _json(request))
    match = request.app[MATCHES].start(order)
    url = f"/api/v1/matches/{match.order.match_id}"
    return web.json_response({"id": match.order.match_id, "url": url}, status=201, headers={"Location": url})


async def _json(request: web.Request) -> Any:
    # A page from elsewhere cannot send this type without asking first, and is then told no.
    if request.content_type != "application/json":
        raise RequestError(
            "unsupported_media_type", "the body must be JSON", "send Content-Type: application/json", 415
        )
    try:
        async with asyncio.timeout(BODY_LIMIT_S):
            return json.loads(await request.read())
    except TimeoutError:
        raise RequestError("timeout", f"the body did not arrive within {BODY_LIMIT_S:g} s", status=408) from None
    except (ValueError, RecursionError) as error:
        raise RequestError("invalid_json", f"the body is no JSON: {error}") from error


async def _read_record(request: web.Request) -> web.Response:
    return web.json_response(await request.app[MATCHES].public_record(request.match_info["id"]))


async def _abort_match(request: web.Request) -> web.Response:
    match_id = request.match_info["id"]
    if not request.app[MATCHES].abort(match_id, "aborted through the API"):
        raise RequestError("match_is_over", f"match {match_id} is over already", status=409)
    return web.json_response({"id": match_id, "aborted": True}, status=202)
