"""The form that starts a match, and a match by hand against a player of ours."""

from collections.abc import Mapping
from typing import Any, Final

from aiohttp import web
from pydantic import ValidationError
from yarl import URL

from gdl.errors import GdlError
from gdl.violations import violation_message, violation_place, violations
from server.access.control import REMOTE, principal, requires
from server.app_keys import MANAGER
from server.errors import NoRoleError
from server.hosting.order import DrawnMatch, MatchRequest
from server.hosting.practice import may_name
from server.links.player_spec import HUMAN, OWN_PLAYERS
from server.principal import Role
from server.refusals import RequestError
from server.storage.games import title_of
from server.storage.rows import GameVersion
from server.web import rendering
from server.web.game_versions import known_game
from server.web.seat_page import seat_address
from server.web.template_filters import sentence

_SEAT_PREFIX: Final = "player."
_LABELS: Final = {"startClock": "Start clock", "playClock": "Play clock", "seed": "Seed", "broadcastDelay": "Broadcast"}
_BY_HAND: Final = {"startClock": 10, "playClock": 120}
"""The clocks against a player of ours: time for a person to think."""
_DEFAULTS: Final = {
    "startClock": "10",
    "playClock": "10",
    "seed": "",
    "scramble": "",
    "links": "",
    "broadcastDelay": "",
}


@requires(Role.PLAYER)
async def show_form(request: web.Request) -> web.Response:
    """Show the form, for the game that the query names."""
    return await _form(request, request.query)


@requires(Role.PLAYER)
async def start(request: web.Request) -> web.StreamResponse:
    """Order the match of the form, and go to its page; a person goes to the seat.

    That of who has the role player is a practice match.
    """
    data = {name: str(value) for name, value in (await request.post()).items()}
    version = await request.app[MANAGER].games.find(data.get("game", ""))
    if version is None:
        return await _form(request, data, "Choose a game.")
    try:
        order = MatchRequest.model_validate(_order(data, version))
        ordered = await request.app[MANAGER].practice.order(order, principal(request))
    except ValidationError as error:
        return await _form(request, data, sentence(_refusal(error)))
    except GdlError as error:
        return await _form(request, data, sentence(error))
    return _started(request, ordered, is_for_others=data.get("links") == "yes")


@requires(Role.PLAYER)
async def play_by_hand(request: web.Request) -> web.StreamResponse:
    """Order a match of the game by hand against a player of ours, and go to the seat."""
    data = {name: str(value) for name, value in (await request.post()).items()}
    manager, viewer = request.app[MANAGER], principal(request)
    version = await known_game(request, request.match_info["name"])
    opponent = data.get("opponent", "")
    if opponent not in OWN_PLAYERS:
        raise RequestError("invalid_player", "choose a player of this server", status=400)
    if not version.played_roles:
        raise RequestError("invalid_order", str(NoRoleError()), status=400)
    own, *others = version.played_roles
    order = {"game": version.name, "players": {own: HUMAN} | dict.fromkeys(others, opponent)} | _BY_HAND
    return _started(
        request, await manager.practice.order(MatchRequest.model_validate(order), viewer), is_for_others=False
    )


def _order(data: Mapping[str, str], version: GameVersion) -> dict[str, Any]:
    """Return the order that the form says, as the JSON API takes it."""
    seats = {role: data.get(f"{_SEAT_PREFIX}{role}", "").strip() for role in version.played_roles}
    order: dict[str, Any] = {"game": version.name, "players": {role: name for role, name in seats.items() if name}}
    order |= {name: data.get(name, "").strip() or _DEFAULTS[name] for name in ("startClock", "playClock")}
    if data.get("seed", "").strip():
        order["seed"] = data["seed"].strip()
    if data.get("broadcastDelay", "").strip():
        order["broadcastDelay"] = data["broadcastDelay"].strip()
    return order | {"scramble": data.get("scramble") == "yes"}


def _refusal(error: ValidationError) -> str:
    """Return the first thing that is wrong with the form, after the label of its field."""
    first = violations(error)[0]
    place = violation_place(first)
    field = _LABELS.get(str(place[0]), ", ".join(map(str, place))) if place else "This form"
    return f"{field}: {violation_message(first)}"


def _started(request: web.Request, ordered: DrawnMatch, *, is_for_others: bool) -> web.StreamResponse:
    """Return the page with the seats' links where people elsewhere play; else redirect to the match or the seat."""
    claims = [(role, seat_address(ordered.row.id, role, secret)) for role, secret in ordered.seat_secrets.items()]
    if len(claims) > 1 or (claims and is_for_others):
        until_ms = request.app[MANAGER].lobby_until_ms(ordered.row)
        return rendering.render(
            request,
            "claims.html",
            row=ordered.row,
            claims=claims,
            origin=request[REMOTE].origin,
            lobby_until_ms=until_ms,
            may_abort=True,
        )
    address = claims[0][1] if claims else URL("/matches") / ordered.row.id
    raise web.HTTPSeeOther(address)


async def _form(request: web.Request, data: Mapping[str, str], problem: str = "") -> web.Response:
    """Return the form for a match, filled with *data*, and with the *problem* of what was sent.

    A `player` in *data* has the first seat.
    """
    manager, viewer = request.app[MANAGER], principal(request)
    games = await manager.games.listed()
    chosen = next((game for game in games if game.name == data.get("game")), None)
    chosen = chosen or next((game for game in games if game.name == "tictactoe"), games[0] if games else None)
    roles = () if chosen is None else chosen.played_roles
    seated = {f"{_SEAT_PREFIX}{role}": data["player"] for role in roles[:1] if "player" in data}
    return rendering.render(
        request,
        "start.html",
        status=400 if problem else 200,
        problem=problem,
        games=[(game.name, title_of(game)) for game in games],
        chosen=chosen,
        roles=roles,
        data=_DEFAULTS | seated | dict(data),
        seat_prefix=_SEAT_PREFIX,
        own=OWN_PLAYERS,
        registered=[row for row in await manager.players.listed() if may_name(viewer, row)],
    )
