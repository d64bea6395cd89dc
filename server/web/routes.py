"""The routes of the pages, and what these keep between requests."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Final, TypeVar

from aiohttp import web
from cachetools import LRUCache

from server.app_keys import CHECKER, MANAGER
from server.cache import BackgroundCache
from server.spectating.knowledge import KnownFacts
from server.spectating.tournaments import LiveTournaments, TournamentFeed
from server.storage import rows
from server.storage.games import title_of
from server.storage.statistics import Statistics
from server.validating.checker import Checker
from server.web import (
    embedded_board,
    entrant_page,
    exports,
    game_list,
    game_pages,
    game_pictures,
    home_page,
    match_lists,
    match_page,
    match_view,
    player_pages,
    rating_pages,
    seat_page,
    start_page,
    tournament_forms,
    tournament_pages,
    validation_page,
)
from server.web.game_versions import FIRST_POSITIONS, GAME_VERSIONS, FirstPositions, GameVersions
from server.web.measurements import MEASUREMENTS, Measurements
from server.web.rendering import compile_templates
from server.web.static_files import send_static_file
from server.web.tournament_pages import LIVE_BOARDS, LiveBoards

Value = TypeVar("Value")
WARM_AFTER_S: Final = 1.0
WARM_SHARE: Final = 0.03
"""How much of the time what is done before a visitor needs it may take from matches and visitors who are there."""

_LOG: Final = logging.getLogger(__name__)
_ROUTES: Final = (
    web.get("/static/{name}", send_static_file),
    web.get("/", home_page.show_home),
    web.get("/parts/live", home_page.show_live),
    web.get("/parts/live/events", home_page.follow_live),
    web.get("/matches", match_lists.show_matches),
    web.get("/queue", match_lists.show_queue),
    web.get("/matches/{id}", match_page.show_match),
    web.get("/matches/{id}/parts", match_page.show_parts),
    web.get("/matches/{id}/embed", embedded_board.show_embedded),
    web.get("/matches/{id}/board.svg", embedded_board.send_image),
    web.get("/matches/{id}/abort", match_page.confirm_abort),
    web.post("/matches/{id}/abort", match_page.abort),
    web.get("/matches/{id}/play/{role:[^/]+}", seat_page.show_seat),
    web.post("/matches/{id}/play/{role:[^/]+}", seat_page.make_move),
    web.get("/matches/{id}/play/{role:[^/]+}/parts", seat_page.show_parts),
    web.get("/matches/{id}/play/{role:[^/]+}/events", seat_page.follow),
    web.get("/start", start_page.show_form),
    web.post("/start", start_page.start),
    web.get("/start/tournament", tournament_forms.show_form),
    web.post("/start/tournament", tournament_forms.order),
    web.get("/tournaments", tournament_pages.show_tournaments),
    web.get("/tournaments/{name}", tournament_pages.show_tournament),
    web.get("/tournaments/{name}/entrants/{entrant:.+}", entrant_page.show_entrant),
    web.post("/tournaments/{name}", tournament_pages.command),
    web.get("/tournaments/{name}/withdraw", tournament_pages.confirm_withdrawal),
    web.get("/tournaments/{name}/parts", tournament_pages.show_parts),
    web.get("/tournaments/{name}/events", tournament_pages.follow),
    web.get("/tournaments/{name}/boards", tournament_pages.show_boards),
    web.get("/tournaments/{name}/results.csv", exports.send_results),
    web.get("/tournaments/{name}/standings.csv", exports.send_standings),
    web.get("/tournaments/{name}/records.zip", exports.send_records),
    web.get("/tournaments/{name}/wall", tournament_pages.show_wall),
    web.get("/players", player_pages.show_players),
    web.post("/players", player_pages.register),
    web.get("/players/{name:.+}/against/{other:.+}", rating_pages.show_head_to_head),
    web.get("/players/{name:.+}/forget", player_pages.confirm_removal),
    web.get("/leaderboards", rating_pages.show_all),
    web.get("/leaderboards.csv", exports.send_ratings),
    web.get("/leaderboards/{name}", rating_pages.show_game),
    web.get("/players/{name:.+}", player_pages.show_player),
    web.post("/players/{name:.+}", player_pages.command),
    web.get("/games", game_list.show_games),
    web.post("/games", game_pages.upload_game),
    web.post("/games/import", game_pages.begin_import),
    web.get("/games/imports/{id}", game_pages.show_import),
    web.get("/games/{name}", game_pages.show_game),
    web.get("/games/{name}/picture.svg", game_pictures.send_picture),
    web.get("/games/{name}/diff", game_pages.show_difference),
    web.post("/games/{name}/play", start_page.play_by_hand),
    web.get("/validate", validation_page.show_form),
    web.post("/validate", validation_page.check),
)


def add_routes(app: web.Application) -> None:
    """Add the pages to *app*, which has its game manager by the time it starts."""
    app.cleanup_ctx.append(_memories)
    app.router.add_routes(_ROUTES)


async def _memories(app: web.Application) -> AsyncIterator[None]:
    """Keep what pages have read and drawn for as long as *app* runs."""
    _make_memories(app)
    games = await app[MANAGER].games.listed()
    await asyncio.to_thread(_read_texts, games)
    warming = asyncio.create_task(_warm(app, games))
    yield
    warming.cancel()
    await app[MEASUREMENTS].close()
    await app[CHECKER].close()
    await app[match_view.KNOWN_FACTS].close()
    await app[game_pages.STATISTICS].close()
    await app[player_pages.STATISTICS].close()
    await app[entrant_page.HISTORIES].close()
    await app[FIRST_POSITIONS].close()


def _make_memories(app: web.Application) -> None:
    manager = app[MANAGER]
    app.setdefault(CHECKER, Checker())
    app[GAME_VERSIONS] = GameVersions(manager.games)
    app[FIRST_POSITIONS] = FirstPositions()
    app[match_lists.CARDS] = match_lists.Cards(manager, app[GAME_VERSIONS], app[FIRST_POSITIONS])
    app[home_page.LIVE_PARTS] = {}
    app[LIVE_BOARDS] = LiveBoards(manager, app[match_lists.CARDS])
    feed = TournamentFeed(LiveTournaments(manager.database, lambda: manager.wait_reasons), manager.notifier)
    app[tournament_pages.SHOWN] = tournament_pages.ShownTournaments(manager.tournaments.store, manager.games, feed)
    app[entrant_page.HISTORIES] = entrant_page.RatingHistories(app[tournament_pages.SHOWN])
    app[exports.PACKING] = asyncio.Lock()
    app[match_view.VIEWS] = match_view.MatchViews()
    app[match_view.KNOWN_FACTS] = KnownFacts()
    statistics = Statistics(manager.database)
    app[game_pages.STATISTICS] = _figures(statistics.of_game)
    app[player_pages.STATISTICS] = _figures(statistics.of_player)
    app[game_pictures.FIRST_PICTURES] = LRUCache(game_pictures.N_FIRST_PICTURES)
    app[MEASUREMENTS] = Measurements(manager.games, app[CHECKER])
    app[game_pictures.PICTURES] = LRUCache(game_pictures.N_PICTURES)


def _figures(find: Callable[[str], Awaitable[Value]]) -> BackgroundCache[str, Value]:
    return BackgroundCache(find, n_kept=512, patience_s=0.08, fresh_s=60.0)


def _read_texts(games: Sequence[rows.GameVersion]) -> None:
    """Read templates and descriptions of games, which the first visitor would otherwise wait for."""
    compile_templates()
    for game in games:
        title_of(game)


async def _warm(app: web.Application, games: Sequence[rows.GameVersion]) -> None:
    """Do what visitors of single games would otherwise wait for, once the first visitor has the first page."""
    await asyncio.sleep(WARM_AFTER_S)
    await app[FIRST_POSITIONS].warm(games, WARM_SHARE)
