"""What is sent as a file: ratings, standings and results as CSV, and the records of a tournament as an archive."""

import asyncio
import io
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from aiohttp import hdrs, web

from server.api.operation import LEADERBOARDS, MANAGER
from server.leaderboards.leaderboard import LeaderboardRow
from server.leaderboards.leaderboards import ALL_GAMES
from server.sanitization import write_csv
from server.storage.exporting import MatchFilter, collection, exported
from server.tournament.ratings import Rating
from server.web import tournament_view
from server.web.rating_pages import known_game
from server.web.rendering import machine_date
from server.web.tournament_pages import SHOWN

_STANDINGS: Final = (
    "rank", "player", "matches", "score", "wins", "draws", "losses", "mean_goal", "elo", "elo_low", "elo_high", "los",
    "errors", "seconds", "moves", "decided_by", "entered_by", "byes",
)  # fmt: skip
_RESULTS: Final = (
    "match", "round", "game", "role", "player", "goal", "errors", "thinking_ms", "steps", "status", "counts", "note",
    "ended",
)  # fmt: skip
_RATINGS: Final = (
    "rank", "player", "name", "elo", "elo_low", "elo_high", "matches", "wins", "draws", "losses", "errors", "last",
    "owner",
)  # fmt: skip
_PIECE: Final = 65_536
_ZIP: Final = "application/zip"
PACKING: Final = web.AppKey("packing", asyncio.Lock)
"""Is held while an archive is made: one at a time for all who ask."""


async def send_ratings(request: web.Request) -> web.Response:
    """Send the ratings of all players as CSV, over all games or in the one that the query names."""
    game = request.query.get("game")
    board = await request.app[LEADERBOARDS].needed(await known_game(request, game) if game else ALL_GAMES)
    owners = {row.name: row.owner for row in await request.app[MANAGER].registry.store.listed()}
    lines = (_rating_line(row, owners.get(row.name)) for row in board.rows)
    return _csv(f"{game}-ratings" if game else "ratings", _RATINGS, lines)


def _rating_line(row: LeaderboardRow, owner: str | None) -> tuple[object, ...]:
    rating, made = row.rating, row.outcomes
    rounded = _rounded(rating if rating.n_matches else None)
    counts = (rating.n_matches, made.get("wins", 0), made.get("draws", 0), made.get("losses", 0), row.n_errors)
    return (row.rank, rating.player, row.name, *rounded, *counts, machine_date(row.last_ms), owner)


def _rounded(rating: Rating | None) -> tuple[int | None, int | None, int | None]:
    """Return the points of a rating and the ends of its interval, as files of ratings and standings have them."""
    return (None, None, None) if rating is None else (round(rating.elo), round(rating.low), round(rating.high))


async def send_standings(request: web.Request) -> web.Response:
    """Send the standings as CSV."""
    _, shown = await request.app[SHOWN].of(request.match_info["name"])
    return _csv(f"{shown.row.name}-standings", _STANDINGS, standings_lines(shown))


async def send_results(request: web.Request) -> web.Response:
    """Send the results as CSV, a line for each seat of each match."""
    _, shown = await request.app[SHOWN].of(request.match_info["name"])
    return _csv(f"{shown.row.name}-results", _RESULTS, results_lines(shown))


def _csv(name: str, head: Sequence[str], lines: Iterable[Sequence[object]]) -> web.Response:
    """Return a file in which no cell is a formula in a spreadsheet."""
    text = io.StringIO()
    write_csv([head, *([_cell(value) for value in line] for line in lines)], text)
    # The mark at the beginning has spreadsheets read letters beyond ASCII as what they are.
    body = "\ufeff" + text.getvalue()
    return web.Response(text=body, content_type="text/csv", charset="utf-8", headers=_attachment(f"{name}.csv"))


def _cell(value: object) -> str:
    return "" if value is None else f"{value:.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _attachment(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}


def standings_lines(shown: tournament_view.ShownTournament) -> Iterator[tuple[object, ...]]:
    """Yield the lines of the standings, the best first."""
    entered_by = {one.name: one.entered_by for one in shown.found.entrants}
    for row in shown.table:
        ratings = _rounded(row.rating)
        made = (row.matches, round(row.score, 4), row.wins, row.draws, row.losses, round(row.mean_goal, 2))
        spent = (row.errors, f"{row.thinking_s:.3f}", row.moves, row.decided_by)
        yield (row.rank, row.player, *made, *ratings, row.los, *spent, entered_by[row.player], row.byes)


def results_lines(shown: tournament_view.ShownTournament) -> Iterator[tuple[object, ...]]:
    """Yield the lines of the results, by the order of the schedule."""
    ended = {} if shown.progress is None else {each.result.match_id: each for each in shown.progress.ended}
    for each in shown.fixtures.values():
        played = ended.get(each.match_id)
        for place, player in enumerate(each.players):
            goal = None if each.goals is None else each.goals[place]
            errors = each.errors[place] if each.errors else None
            spent = (None, None) if played is None else (played.thinking_ms[place], played.n_steps)
            what = (each.status, "no" if each.is_void else "yes", each.note, machine_date(each.ended_ms))
            yield (each.match_id, each.round, each.game, place + 1, player, goal, errors, *spent, *what)


async def send_records(request: web.Request) -> web.StreamResponse:
    """Send the records of the matches that are over, and that everybody may see by now, as a ZIP archive."""
    _, shown = await request.app[SHOWN].of(request.match_info["name"])
    headers = _attachment(f"{shown.row.name}-records.zip")
    if request.method == hdrs.METH_HEAD:  # without the length, for which the archive would have to be packed
        return web.Response(headers=headers, content_type=_ZIP)
    with tempfile.TemporaryDirectory(prefix="ggp-export-") as folder:
        path = Path(folder) / "records.zip"
        async with request.app[PACKING]:
            await _pack(request, shown, path)
        response = web.StreamResponse(headers=headers)
        response.content_type = _ZIP
        response.content_length = path.stat().st_size
        try:
            await _send_file(request, response, path)
        except ConnectionError:
            raise asyncio.CancelledError from None  # as the server does a moment later, when the loop has noticed it
    return response


async def _send_file(request: web.Request, response: web.StreamResponse, path: Path) -> None:
    """Send the file at *path* piece by piece.

    Raises:
        ConnectionError: the client is gone.
    """
    await response.prepare(request)
    with path.open("rb") as file:
        while piece := await asyncio.to_thread(file.read, _PIECE):
            await response.write(piece)
    await response.write_eof()


async def _pack(request: web.Request, shown: tournament_view.ShownTournament, path: Path) -> None:
    """Write the records of what the tournament scheduled, and not of what only names it, as an archive."""
    choice = MatchFilter(tournament=shown.row.name, is_public=True)
    with collection(path) as add:
        async for found in exported(request.app[MANAGER].database, choice):
            if found.match_id in shown.fixtures and not found.error:
                await asyncio.to_thread(add, found.record)
