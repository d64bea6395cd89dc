"""The first page: what is played now, what was played last, and the games."""

from __future__ import annotations

from typing import Any, Final

from aiohttp import web

from server.api.keys import MANAGER
from server.hosting.game_manager import GameManager
from server.storage.rows import ENDED, RUNNING, MatchRow
from server.storage.titles import title_of
from server.web.match_cards import CARDS
from server.web.rendering import render

N_LIVE: Final = 8
_N_RECENT: Final = 12
_N_GAMES: Final = 24


async def show_home(request: web.Request) -> web.Response:
    """Show the first page."""
    manager = request.app[MANAGER]
    games = await manager.games.listed()
    return render(
        request,
        "home.html",
        **await _live(request),
        n_queued=await manager.queue.length(),
        recent=await request.app[CARDS].of(await _recent(manager)),
        games=[{"name": game.name, "title": title_of(game)} for game in games[:_N_GAMES]],
    )


async def _recent(manager: GameManager) -> list[MatchRow]:
    """Return the latest of the matches that are over, however many are played now."""
    rows = [row for status in ENDED for row in await manager.matches.listed(status=status, limit=_N_RECENT)]
    return sorted(rows, key=lambda row: (row.created_ms, row.id), reverse=True)[:_N_RECENT]


async def show_live(request: web.Request) -> web.Response:
    """Show what is played now: the part of the first page that changes."""
    return render(request, "live.html", **await _live(request))


async def _live(request: web.Request) -> dict[str, Any]:
    rows = await request.app[MANAGER].matches.listed(status=RUNNING, limit=N_LIVE + 1)
    cards = await request.app[CARDS].of(rows[:N_LIVE], with_boards=True)
    return {"live": cards, "has_more": len(rows) > N_LIVE}
