"""The addresses of the pages, and what they keep between requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from aiohttp import web
from cachetools import LRUCache

from server.api.keys import CHECKER, MANAGER
from server.storage.statistics import Statistics
from server.validating.checker import Checker
from server.web import game_pages, home, match_list, match_page, player_pages, seat_page, start_page, validation_page
from server.web.knowledge import KNOWLEDGE, Knowledge
from server.web.match_cards import CARDS, Cards
from server.web.recollection import Recollection
from server.web.rendering import compile_templates
from server.web.rule_books import FIRST_POSITIONS, SHELF, FirstPositions, Shelf
from server.web.static_files import send_static_file


def add_routes(app: web.Application) -> None:
    """Add the pages to *app*, which has its game manager by the time it starts."""
    app.cleanup_ctx.append(_memories)
    router = app.router
    router.add_get("/static/{name}", send_static_file)
    router.add_get("/", home.show_home)
    router.add_get("/parts/live", home.show_live)
    router.add_get("/matches", match_list.show_matches)
    router.add_get("/queue", match_list.show_queue)
    router.add_get("/matches/{id}", match_page.show_match)
    router.add_get("/matches/{id}/parts", match_page.show_parts)
    router.add_post("/matches/{id}/abort", match_page.abort)
    router.add_get("/matches/{id}/play/{role}", seat_page.show_seat)
    router.add_post("/matches/{id}/play/{role}", seat_page.make_move)
    router.add_get("/matches/{id}/play/{role}/parts", seat_page.show_parts)
    router.add_get("/start", start_page.show_form)
    router.add_post("/start", start_page.start)
    router.add_get("/players", player_pages.show_players)
    router.add_post("/players", player_pages.register)
    router.add_get("/players/{name:.+}", player_pages.show_player)
    router.add_post("/players/{name:.+}", player_pages.command)
    router.add_get("/games", game_pages.show_games)
    router.add_post("/games", game_pages.upload_game)
    router.add_get("/games/{name}", game_pages.show_game)
    router.add_get("/validate", validation_page.show_form)
    router.add_post("/validate", validation_page.check)


async def _memories(app: web.Application) -> AsyncIterator[None]:
    """Keep what pages have read and drawn for as long as *app* runs."""
    manager = app[MANAGER]
    app.setdefault(CHECKER, Checker())
    app[SHELF] = Shelf(manager.games)
    app[FIRST_POSITIONS] = FirstPositions()
    app[CARDS] = Cards(manager.matches, app[SHELF], app[FIRST_POSITIONS])
    app[match_page.VIEWS] = match_page.Views()
    app[KNOWLEDGE] = Knowledge()
    statistics = Statistics(manager.database)
    app[game_pages.STATISTICS] = Recollection(statistics.of_game)
    app[player_pages.STATISTICS] = Recollection(statistics.of_player)
    app[game_pages.FIRST_PICTURES] = LRUCache(game_pages.N_PICTURES)
    warming = asyncio.create_task(_warm(app))
    yield
    warming.cancel()
    await app[KNOWLEDGE].close()
    await app[game_pages.STATISTICS].close()
    await app[player_pages.STATISTICS].close()
    await app[FIRST_POSITIONS].close()


async def _warm(app: web.Application) -> None:
    """Do what the first visitors would otherwise wait for."""
    await asyncio.to_thread(compile_templates)
    await app[FIRST_POSITIONS].warm(await app[MANAGER].games.listed())
