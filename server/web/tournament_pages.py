"""The pages of tournaments: their list, one with its standings, rounds and live boards, and what changes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from aiohttp import web
from cachetools import LRUCache
from markupsafe import Markup

from server.api.operation import MANAGER
from server.api.streams import streaming
from server.errors import RequestError
from server.match.link import now_ms
from server.spectating.tournaments import TournamentFeed
from server.storage.tournaments import TournamentStore
from server.web.live_boards import LIVE_BOARDS, LiveBoard, SeatOnBoard
from server.web.rendering import render, templates
from server.web.tournament_forms import may_enter, own_players
from server.web.tournament_view import ShownRound, ShownTournament, is_secret, shown_tournament
from server.web.tournament_words import FORMAT_WORDS, rules_in_words

N_BOARDS: Final = 12
"""How many boards of matches that are played the page of a tournament shows."""
N_ON_WALL: Final = 8
"""How many boards the wall shows before its script has looked how many fit."""
_MOST_ASKED: Final = 24
_MOST_LISTED: Final = 1_000
"""How many scheduled matches the page of a tournament lists, those of the last rounds."""
_N_KEPT: Final = 64


class ShownTournaments:
    """The tournaments of *store* as pages show them, each made once for all who look until *feed* tells a change."""

    def __init__(self, store: TournamentStore, feed: TournamentFeed) -> None:
        self._store, self.feed = store, feed
        self._kept: LRUCache[str, tuple[str, ShownTournament]] = LRUCache(_N_KEPT)
        self._making: dict[str, asyncio.Lock] = {}
        self._tables: LRUCache[tuple[str, str, frozenset[int]], tuple[Markup, Markup]] = LRUCache(_N_KEPT)

    async def of(self, name: str) -> tuple[str, ShownTournament]:
        """Return the shape of the tournament *name*, and what is shown of it.

        Raises:
            RequestError: there is none.
            DamagedRowError: one of its rows is damaged.
        """
        async with self._making.setdefault(name, asyncio.Lock()):
            try:
                return await self._made(name)
            finally:
                self._making.pop(name, None)

    async def _made(self, name: str) -> tuple[str, ShownTournament]:
        pulse = await self.feed.now(name)
        kept = self._kept.get(name)
        if pulse is not None and kept is not None and kept[0] == pulse.shape:
            return kept
        found = None if pulse is None else await self._store.read(name)
        if pulse is None or found is None:
            raise RequestError("unknown_tournament", f"there is no tournament {name[:100]!r}", status=404)
        made = self._kept[name] = pulse.shape, await asyncio.to_thread(shown_tournament, found)
        return made

    def tables(self, shape: str, shown: ShownTournament, opened: frozenset[int]) -> tuple[Markup, Markup]:
        """Return the standings and the rounds, with the matches of those *opened*, which all viewers see alike."""
        key = shown.row.name, shape, opened
        if key not in self._tables:
            context = {"shown": shown, "row": shown.row, "listed": _last_rounds(shown), "opened": opened}
            standings, rounds = (
                # What the templates of this program write is escaped there.
                Markup(templates().get_template(name).render(context))  # noqa: S704 -- as said above
                for name in ("tournament_standings.html", "tournament_rounds.html")
            )
            self._tables[key] = standings, rounds
        return self._tables[key]


SHOWN: Final = web.AppKey("shown_tournaments", ShownTournaments)


@dataclass(frozen=True, slots=True)
class TournamentBoard:
    """A live board of a tournament, with the entrants beside it."""

    board: LiveBoard
    seats: tuple[SeatOnBoard, ...]


async def show_tournaments(request: web.Request) -> web.Response:
    """Show all tournaments, the latest first."""
    rows = await request.app[MANAGER].tournaments.store.listed()
    return render(request, "tournaments.html", tournaments=rows, format_words=FORMAT_WORDS, is_secret=is_secret)


async def show_tournament(request: web.Request) -> web.Response:
    """Show a tournament."""
    return render(request, "tournament.html", **await tournament_context(request))


async def show_parts(request: web.Request) -> web.Response:
    """Show what of a tournament's page changes while it is played, for the page's script."""
    return render(request, "tournament_parts.html", **await tournament_context(request))


async def tournament_context(request: web.Request) -> dict[str, Any]:
    """Return what the templates of a tournament's page need."""
    shape, shown = await request.app[SHOWN].of(request.match_info["name"])
    row = shown.row
    games = () if is_secret(row) else row.terms.games
    standings, rounds = request.app[SHOWN].tables(shape, shown, _opened(request, shown))
    return {
        "shown": shown,
        "row": row,
        "shape": shape,
        "now_ms": now_ms(),
        "games": games,
        "format": FORMAT_WORDS[row.terms.format],
        "rules": list(rules_in_words(row, games)),
        "boards": await boards_of(request, shown, (each.match_id for each in shown.playing[:N_BOARDS])),
        "standings": standings,
        "rounds": rounds,
        "own_players": await own_players(request, shown.found),
        "may_enter": may_enter(shown.found),
    }


def _opened(request: web.Request, shown: ShownTournament) -> frozenset[int]:
    """Return the numbers of the rounds whose matches the query wants to see."""
    wanted = set(request.query.getall("open", ()))
    return frozenset(one.number for one in shown.rounds if str(one.number) in wanted)


def _last_rounds(shown: ShownTournament) -> list[ShownRound]:
    """Return the last rounds, the latest first, as many as may be listed."""
    found: list[ShownRound] = []
    n_left = _MOST_LISTED
    for one in reversed(shown.rounds):
        n_left -= len(one.fixtures)
        if n_left < 0 and found:
            break
        found.append(one)
    return found


async def boards_of(request: web.Request, shown: ShownTournament, match_ids: Iterable[str]) -> list[TournamentBoard]:
    """Return the boards of those of the matches that belong to the tournament."""
    own = [match_id for match_id in match_ids if match_id in shown.fixtures]
    found = await request.app[LIVE_BOARDS].of(own)
    return [TournamentBoard(board, board.seats(shown.fixtures[board.card.row.id].players)) for board in found]


async def show_wall(request: web.Request) -> web.Response:
    """Show the live boards alone, for a large screen."""
    shape, shown = await request.app[SHOWN].of(request.match_info["name"])
    boards = await boards_of(request, shown, (each.match_id for each in shown.playing[:N_ON_WALL]))
    return render(request, "wall.html", shown=shown, row=shown.row, shape=shape, now_ms=now_ms(), boards=boards)


async def show_boards(request: web.Request) -> web.Response:
    """Show the boards of the matches that the query names, for the page's script."""
    _, shown = await request.app[SHOWN].of(request.match_info["name"])
    wanted = request.query.getall("match", [])[:_MOST_ASKED]
    return render(request, "boards.html", boards=await boards_of(request, shown, wanted), now_ms=now_ms())


async def follow(request: web.Request) -> web.StreamResponse:
    """Tell at once what the tournament is at, and again whenever that changes, as events called `pulse`."""
    feed, name = request.app[SHOWN].feed, request.match_info["name"]
    if await feed.now(name) is None:
        raise RequestError("unknown_tournament", f"there is no tournament {name[:100]!r}", status=404)
    async with streaming(request) as stream:
        async for pulse in feed.changes(name):
            await stream.send("pulse", {"shape": pulse.shape, "steps": pulse.steps, "now": now_ms()})
    return stream.response
