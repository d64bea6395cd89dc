"""Lists of matches: all of them a page at a time, by what the query asks for, and the queue."""

from typing import Final
from urllib.parse import urlencode

from aiohttp import web

from server.access.control import PRINCIPAL
from server.api.operation import MANAGER
from server.storage.match_queries import MatchFilter
from server.storage.rows import MatchRow, MatchStatus
from server.web.match_cards import CARDS
from server.web.rendering import render

N_ON_PAGE: Final = 40
_MAX_QUEUED: Final = 200
_FILTERS: Final = ("status", "game", "player", "tournament")


async def show_matches(request: web.Request) -> web.Response:
    """Show the matches that the query asks for: of a status, a game, a player, a tournament; `before` pages."""
    wanted = {name: request.query[name] for name in _FILTERS if request.query.get(name)}
    if wanted.get("status") not in tuple(MatchStatus):
        wanted.pop("status", None)
    before = request.query.get("before") or None
    asked = MatchFilter(wanted.get("status"), wanted.get("game"), wanted.get("player"), wanted.get("tournament"))
    rows = await request.app[MANAGER].matches.listed(asked, before=before, limit=N_ON_PAGE + 1)
    return render(
        request,
        "matches.html",
        matches=await request.app[CARDS].of(rows[:N_ON_PAGE], request.get(PRINCIPAL)),
        wanted=wanted,
        older=older(rows, wanted),
        is_first="before" not in request.query,
        tabs=[(word, urlencode(wanted | {"status": word})) for word in MatchStatus],
        all_query=urlencode({name: value for name, value in wanted.items() if name != "status"}),
        statuses=MatchStatus,
    )


def older(rows: list[MatchRow], wanted: dict[str, str]) -> str | None:
    """Return the query of the next page, None where these *rows*, one more than a page has, are the last."""
    return urlencode(wanted | {"before": rows[N_ON_PAGE - 1].id}) if len(rows) > N_ON_PAGE else None


async def show_queue(request: web.Request) -> web.Response:
    """Show the matches that wait, the one whose turn is next first."""
    rows = await request.app[MANAGER].matches.queued(limit=_MAX_QUEUED + 1)
    cards = await request.app[CARDS].of(rows[:_MAX_QUEUED], request.get(PRINCIPAL))
    reasons = request.app[MANAGER].wait_reasons
    return render(request, "queue.html", wait_reasons=reasons, matches=cards, has_more=len(rows) > _MAX_QUEUED)
