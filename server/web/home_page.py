"""The first page: what is played now, which is streamed as it changes, the tournaments, and what ended last."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, Final

from aiohttp import web

from server.access.control import ANONYMOUS, LOCAL_ADMIN, PRINCIPAL
from server.api.streams import streamed_batches
from server.app_keys import MANAGER
from server.clock import now_ms
from server.hosting.game_manager import GameManager
from server.principal import Principal, Role
from server.spectating.fanout import Audience, SharedEvent, Sink
from server.spectating.stream import POLL_S
from server.storage.games import title_of
from server.storage.match_queries import MatchFilter
from server.storage.notifications import something_new
from server.storage.rows import MatchStatus
from server.storage.tournament_rows import TournamentRow
from server.web.match_lists import CARDS
from server.web.rendering import render

N_LIVE: Final = 8
_N_RECENT: Final = 12
_N_GAMES: Final = 24
_N_TOURNAMENTS: Final = 6


async def show_home(request: web.Request) -> web.Response:
    """Show the first page."""
    manager = request.app[MANAGER]
    games = await manager.games.listed()
    return render(
        request,
        "home.html",
        **await _live(request),
        n_queued=await manager.queue.length(),
        tournaments=await _tournaments(manager),
        recent=await request.app[CARDS].of(await manager.matches.ended_since(0, _N_RECENT), request.get(PRINCIPAL)),
        games=[{"name": game.name, "title": title_of(game)} for game in games[:_N_GAMES]],
    )


async def _tournaments(manager: GameManager) -> list[TournamentRow]:
    """Return the latest of the tournaments that are not over."""
    rows, _after = await manager.tournaments.store.page(limit=_N_TOURNAMENTS, is_over=False)
    return rows


async def show_live(request: web.Request) -> web.Response:
    """Show what is played now: the part of the first page that changes."""
    return render(request, "live.html", **await _live(request))


async def _live(request: web.Request) -> dict[str, Any]:
    rows = await request.app[MANAGER].matches.listed(MatchFilter(MatchStatus.RUNNING), limit=N_LIVE + 1)
    cards = await request.app[CARDS].of(rows[:N_LIVE], request.get(PRINCIPAL), with_boards=True)
    return {"live": cards, "has_more": len(rows) > N_LIVE}


PAUSE_S: Final = 1.5
"""How long the first page stays as it is at least, however much happens."""


class LivePart:
    """The part of the first page for the viewers who see the same, of whom the first one's request renders it."""

    def __init__(self, app: web.Application) -> None:
        self._app = app
        self.event: SharedEvent | None = None
        self.n_events = 0
        self.audience = Audience(self._watch)

    async def _watch(self) -> None:
        shown = ""
        with self._app[MANAGER].notifier.subscribed() as fresh:
            while True:
                fresh.clear()
                html = await self._html()
                if html != shown:
                    shown, self.event = html, SharedEvent("live", {"html": html, "at": now_ms()})
                    self.n_events += 1
                    await self.audience.send([self.event], self.n_events - 1, self.n_events)
                await asyncio.sleep(PAUSE_S)  # changes that come together are sent together
                await something_new(fresh, POLL_S)

    async def _html(self) -> str:
        request = self.audience.members[0].brought
        assert isinstance(request, web.Request)
        return (await show_live(request)).text or ""

    async def follow(self, request: web.Request, sink: Sink) -> AsyncGenerator[list[SharedEvent]]:
        """Yield the part, and again whenever it has changed; a slow viewer gets only the newest. It never ends.

        Raises:
            StorageError: the database failed.
        """
        with self.audience.joined(0, sink, request) as member:
            while True:
                member.fresh.clear()
                self.audience.check()
                if self.event is not None and member.place < self.n_events:
                    member.place = self.n_events
                    yield [self.event]
                else:
                    await member.wait()


LIVE_PARTS: Final = web.AppKey("live_parts", dict[object, LivePart])


def _eyes(who: Principal | None) -> object:
    """Return the same for all who see the same on the first page."""
    if who in (None, ANONYMOUS, LOCAL_ADMIN):
        return who
    assert who is not None
    return who.role if who.role == Role.SPECTATOR else who


async def follow_live(request: web.Request) -> web.StreamResponse:
    """Send the part of the first page that changes, now and whenever it does, as events called `live`."""
    parts, eyes = request.app[LIVE_PARTS], _eyes(request.get(PRINCIPAL))
    part = parts.get(eyes)
    if part is None:
        part = parts[eyes] = LivePart(request.app)
    try:
        return await streamed_batches(request, lambda stream: part.follow(request, stream))
    finally:
        if not part.audience.members and parts.get(eyes) is part:
            del parts[eyes]
