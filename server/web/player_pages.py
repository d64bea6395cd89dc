"""The pages of players: all that are registered, and one with its matches."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

from aiohttp import web

from gdl.errors import GdlError
from gdl.quantities import whole_number
from server.access.control import PRINCIPAL, REMOTE, principal, requires
from server.api.player_models import MAX_MATCHES, is_own, player_answer
from server.api.players import own_player
from server.app_keys import LEADERBOARDS, MANAGER
from server.cache import BackgroundCache
from server.hosting.game_manager import GameManager
from server.hosting.practice import may_name
from server.links.player_spec import OWN_PLAYERS
from server.principal import Role
from server.refusals import RequestError
from server.registry.registry import PlayerWishes
from server.storage.match_queries import MatchFilter
from server.storage.rows import PlayerRow
from server.storage.statistics import PlayerStatistics
from server.web import match_lists, rendering
from server.web.template_filters import sentence

STATISTICS: Final = web.AppKey("player_statistics", BackgroundCache[str, dict[str, PlayerStatistics]])
_N_MATCHES: Final = 20
_PATIENCE_S: Final = 0.1
"""How long the page waits for the player's rank."""


async def show_players(request: web.Request) -> web.Response:
    """Show the registered players, and the form that registers one."""
    return await _players(request, {}, "")


async def _players(request: web.Request, data: Mapping[str, str], problem: str) -> web.Response:
    """Return the page of players, with the *problem* of the form that was sent."""
    registry, viewer = request.app[MANAGER].registry, principal(request)
    players = [player_answer(row, registry, viewer) for row in await registry.store.listed()]
    return rendering.render(
        request,
        "players.html",
        status=400 if problem else 200,
        players=players,
        own=OWN_PLAYERS,
        data={"name": "", "url": "", "maxMatches": "1"} | dict(data),
        problem=problem,
    )


@requires(Role.PLAYER)
async def register(request: web.Request) -> web.StreamResponse:
    """Register the player of the form."""
    data = {name: str(value).strip() for name, value in (await request.post()).items()}
    n = _whole(data.get("maxMatches", ""))
    if n is None:
        return await _players(request, data, f"A player plays from 1 to {MAX_MATCHES:,} matches at once.")
    try:
        registry = request.app[MANAGER].registry
        name, owner, wishes = data.get("name", ""), rendering.visitor_of(request).name, PlayerWishes(max_matches=n)
        row = await registry.register(name, owner, data.get("url") or None, wishes)
    except GdlError as error:
        return await _players(request, data, sentence(error))
    raise web.HTTPSeeOther(player_address(row.name))


def _whole(text: str) -> int | None:
    n = whole_number(text)
    return n if n is not None and 1 <= n <= MAX_MATCHES else None


def player_address(name: str) -> str:
    """Return the address of a player's page; a name may have any characters."""
    return f"/players/{quote(name, safe='')}"


async def show_player(request: web.Request) -> web.Response:
    """Show a player and its matches; one that is not registered is known by its matches alone."""
    manager, name = request.app[MANAGER], request.match_info["name"]
    row = await manager.players.get(name)
    rows = await manager.matches.listed(MatchFilter(player=name), limit=_N_MATCHES)
    if row is None and not rows and name not in OWN_PLAYERS:
        raise RequestError("unknown_player", f"there is no player called {name[:100]!r}", "see all players", 404)
    board = await request.app[LEADERBOARDS].of(patience_s=_PATIENCE_S)
    statistics = await request.app[STATISTICS].of(name) or {}
    return rendering.render(
        request,
        "player.html",
        name=name,
        player=None if row is None else player_answer(row, manager.registry, principal(request)),
        may_name=row is not None and may_name(principal(request), row),
        is_mine=row is not None and is_own(row, principal(request)),
        is_ours=name.partition(":")[0] in OWN_PLAYERS,
        matches=await request.app[match_lists.CARDS].of(rows, request.get(PRINCIPAL)),
        statistics=statistics,
        titles=await manager.games.titles(statistics),
        rank=None if board is None else board.row_of(name),
        opponents=await request.app[LEADERBOARDS].opponents_of(name),
        all_matches=urlencode({"player": name}),
        address=player_address(name),
        dial_in_command=f"ggp player my_player.py --connect {request[REMOTE].origin} --name {name}",
    )


@requires(Role.PLAYER)
async def confirm_removal(request: web.Request) -> web.Response:
    """Ask whether one's own player is to be forgotten."""
    row, _ = await own_player(request, request.match_info["name"])
    address = player_address(row.name)
    asked = rendering.Confirmation(
        f"Forget {row.name}?",
        "It gets no more matches, and its name is free for another player; the matches that it played keep its name.",
        word="Forget it",
        address=address,
        back=address,
        fields={"do": "remove"},
    )
    return rendering.ask(request, asked)


@requires(Role.PLAYER)
async def command(request: web.Request) -> web.StreamResponse:
    """Do with one's own player what the form says: pause it, let it play again, check it, or forget it."""
    manager = request.app[MANAGER]
    row, viewer = await own_player(request, request.match_info["name"])
    what = str((await request.post()).get("do", ""))
    do = _COMMANDS.get(what)
    if do is None:
        raise RequestError("bad_request", "that cannot be done with a player", status=400)
    await do(manager, row, viewer.name)
    raise web.HTTPSeeOther("/players" if what == "remove" else player_address(row.name))


async def _pause(manager: GameManager, row: PlayerRow, by: str) -> None:
    await manager.registry.pause(row.name, f"by {by}")


async def _resume(manager: GameManager, row: PlayerRow, _by: str) -> None:
    await manager.registry.resume(row.name)


async def _check(manager: GameManager, row: PlayerRow, _by: str) -> None:
    await manager.health.check(row)


async def _remove(manager: GameManager, row: PlayerRow, _by: str) -> None:
    await manager.registry.remove(row.name, still=row)


_COMMANDS: Final[dict[str, Any]] = {"pause": _pause, "resume": _resume, "check": _check, "remove": _remove}
