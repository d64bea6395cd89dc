"""The form that starts a match: a game, a player for each role, clocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from aiohttp import web
from pydantic import ValidationError
from yarl import URL

from gdl.complaints import complaint
from gdl.errors import GdlError
from gdl.game import RANDOM
from server.access.access import REMOTE
from server.access.rights import requires
from server.access.role import Role
from server.api.keys import MANAGER
from server.hosting.game_manager import Ordered
from server.hosting.order import OrderText
from server.hosting.seating import OWN_PLAYERS
from server.storage.rows import GameVersion
from server.storage.titles import title_of
from server.web.rendering import render
from server.web.seat_page import seat_address
from server.web.visitor import visitor_of

_SEAT: Final = "player."
_DEFAULTS: Final = {"startClock": "10", "playClock": "10", "seed": "", "scramble": ""}


@requires(Role.HOST)
async def show_form(request: web.Request) -> web.Response:
    """Show the form, for the game that the query names."""
    return await _form(request, request.query)


@requires(Role.HOST)
async def start(request: web.Request) -> web.StreamResponse:
    """Order the match of the form, and go to its page; a person goes to the seat."""
    data = {name: str(value) for name, value in (await request.post()).items()}
    version = await request.app[MANAGER].games.find(data.get("game", ""))
    if version is None:
        return await _form(request, data, "Choose a game.")
    try:
        text = OrderText.model_validate(_order(data, version))
        ordered = await request.app[MANAGER].order(text, visitor_of(request).name)
    except ValidationError as error:
        first = error.errors()[0]
        return await _form(request, data, f"{_where(first['loc'])}: {complaint(first)}.")
    except GdlError as error:
        return await _form(request, data, f"{error}.")
    return _started(request, ordered)


def _order(data: Mapping[str, str], version: GameVersion) -> dict[str, Any]:
    seats = {role: data.get(f"{_SEAT}{role}", "").strip() for role in played_roles(version)}
    order: dict[str, Any] = {"game": version.name, "players": {role: name for role, name in seats.items() if name}}
    order |= {name: data.get(name, "").strip() or _DEFAULTS[name] for name in ("startClock", "playClock")}
    if data.get("seed", "").strip():
        order["seed"] = data["seed"].strip()
    return order | {"scramble": data.get("scramble") == "yes"}


def played_roles(version: GameVersion) -> tuple[str, ...]:
    """Return the roles that somebody plays: not `random` where that is chance."""
    return tuple(role for role in version.roles if not (version.is_gdl2 and role == str(RANDOM)))


def _where(place: Sequence[str | int]) -> str:
    names = {"startClock": "Start clock", "playClock": "Play clock", "seed": "Seed"}
    return names.get(str(place[0]), ", ".join(map(str, place))) if place else "This form"


def _started(request: web.Request, ordered: Ordered) -> web.StreamResponse:
    claims = [(role, seat_address(ordered.row.id, role, secret)) for role, secret in ordered.seat_secrets.items()]
    if len(claims) > 1:
        return render(request, "claims.html", row=ordered.row, claims=claims, origin=request[REMOTE].origin)
    address = claims[0][1] if claims else URL("/matches") / ordered.row.id
    raise web.HTTPSeeOther(address)


async def _form(request: web.Request, data: Mapping[str, str], problem: str = "") -> web.Response:
    manager = request.app[MANAGER]
    games = await manager.games.listed()
    chosen = next((game for game in games if game.name == data.get("game")), None)
    chosen = chosen or next((game for game in games if game.name == "tictactoe"), games[0] if games else None)
    return render(
        request,
        "start.html",
        status=400 if problem else 200,
        problem=problem,
        games=[(game.name, title_of(game)) for game in games],
        chosen=chosen,
        roles=() if chosen is None else played_roles(chosen),
        data=_DEFAULTS | dict(data),
        seat_prefix=_SEAT,
        own=OWN_PLAYERS,
        registered=await manager.players.listed(),
    )
