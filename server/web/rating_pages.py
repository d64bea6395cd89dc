"""The pages of ratings, over all games and for each, with their curves; and of two players head to head.

Curves are drawn with the areas of their intervals, and with lines at round numbers of Elo.
"""

from typing import Final

from aiohttp import web

from server.app_keys import LEADERBOARDS, MANAGER
from server.leaderboards.cache import ALL_GAMES
from server.leaderboards.leaderboard import Leaderboard
from server.refusals import RequestError
from server.tournament.rating_chart import RatingChart, rating_chart
from server.tournament.ratings import elo_range
from server.web.game_versions import known_game
from server.web.rendering import render
from server.web.template_filters import date

_N_CURVES: Final = 8
_MOST_LISTED: Final = 200
_N_TABS: Final = 30


async def show_all(request: web.Request) -> web.Response:
    """Show the leaderboard over all games."""
    return await _leaderboard(request, ALL_GAMES)


async def show_game(request: web.Request) -> web.Response:
    """Show the leaderboard of a game."""
    return await _leaderboard(request, (await known_game(request, request.match_info["name"])).name)


async def _leaderboard(request: web.Request, game: str) -> web.Response:
    leaderboards = request.app[LEADERBOARDS]
    board = await leaderboards.of(game)
    rows = () if board is None else board.rows[:_MOST_LISTED]
    tabs = (await leaderboards.rated_games())[:_N_TABS]
    names = {name for name, _ in tabs} | ({game} if game else set())
    return render(
        request,
        "leaderboard.html",
        game=game,
        board=board,
        rows=rows,
        elo_range=elo_range(row.rating for row in rows),
        chart=None if board is None else chart_of(board),
        games=tabs,
        titles=await request.app[MANAGER].games.titles(names),
    )


def chart_of(board: Leaderboard) -> RatingChart | None:
    """Return the curves of the first players of *board* over time, which end with their ratings now."""
    points = board.curves.points
    if len(points) < 2:
        return None
    drawn = {}
    for rating in (row.rating for row in board.rows[:_N_CURVES]):
        before = [(float(at_ms), ratings[rating.player]) for at_ms, ratings in points if rating.player in ratings]
        drawn[rating.player] = [*before, (float(board.last_ms), rating)]
    return rating_chart(drawn, date(points[0][0]), date(board.last_ms), has_areas=False)


async def show_head_to_head(request: web.Request) -> web.Response:
    """Show what two players made against each other."""
    one, other = request.match_info["name"], request.match_info["other"]
    found = await request.app[LEADERBOARDS].encounters(one, other)
    if found.total is None:
        raise RequestError("not_found", f"{one[:100]} and {other[:100]} have not met", status=404)
    games = {part.game: await request.app[MANAGER].games.find(part.game) for part in found.seats}
    titles = await request.app[MANAGER].games.titles(games.keys())
    roles = {name: () if version is None else version.played_roles for name, version in games.items()}
    return render(request, "head_to_head.html", one=one, other=other, found=found, titles=titles, roles=roles)
