"""What is sent as a file: ratings, standings and results as CSV, and the records of a tournament as an archive."""

import asyncio
import io
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from aiohttp import hdrs, web

from server.app_keys import LEADERBOARDS, MANAGER
from server.leaderboards.cache import ALL_GAMES
from server.leaderboards.leaderboard import LeaderboardRow
from server.sanitization import write_csv
from server.storage.exporting import ExportFilter, collection, exported
from server.tournament.ratings import Rating
from server.web import tournament_view
from server.web.game_versions import known_game
from server.web.template_filters import machine_date
from server.web.tournament_pages import SHOWN

_PIECE: Final = 65_536
_ZIP: Final = "application/zip"
PACKING: Final = web.AppKey("packing", asyncio.Lock)
"""Is held while an archive is made: one at a time for all who ask."""


class RatingsLine(NamedTuple):
    """A line of the ratings as CSV: its fields are the columns."""

    rank: int
    player: str
    name: str
    elo: int | None
    elo_low: int | None
    elo_high: int | None
    matches: int
    wins: int
    draws: int
    losses: int
    errors: int
    last: str
    owner: str | None
    forfeits: int


class StandingsLine(NamedTuple):
    """A line of the standings as CSV: its fields are the columns."""

    rank: int
    player: str
    matches: int
    score: float
    wins: int
    draws: int
    losses: int
    mean_goal: float
    elo: int | None
    elo_low: int | None
    elo_high: int | None
    los: float | None
    errors: int
    seconds: str
    moves: int
    decided_by: str | None
    entered_by: str
    byes: int
    forfeits: int


class ResultsLine(NamedTuple):
    """A line of the results as CSV, of one seat of a match: its fields are the columns."""

    match: str
    round: int
    game: str
    role: int
    player: str
    goal: int | None
    errors: int | None
    thinking_ms: int | None
    steps: int | None
    status: str
    counts: str
    note: str
    ended: str


async def send_ratings(request: web.Request) -> web.Response:
    """Send the ratings of all players as CSV, over all games or in the one that the query names."""
    game = request.query.get("game")
    board = await request.app[LEADERBOARDS].needed((await known_game(request, game)).name if game else ALL_GAMES)
    owners = {row.name: row.owner for row in await request.app[MANAGER].registry.store.listed()}
    lines = (_rating_line(row, owners.get(row.name)) for row in board.rows)
    return _csv(f"{game}-ratings" if game else "ratings", RatingsLine._fields, lines)


def _rating_line(row: LeaderboardRow, owner: str | None) -> RatingsLine:
    rating, made = row.rating, row.outcomes
    elo, low, high = _rounded(rating if rating.n_matches else None)
    return RatingsLine(
        rank=row.rank,
        player=rating.player,
        name=row.name,
        elo=elo,
        elo_low=low,
        elo_high=high,
        matches=row.n_matches,
        wins=made.get("wins", 0),
        draws=made.get("draws", 0),
        losses=made.get("losses", 0),
        errors=row.n_errors,
        last=machine_date(row.last_ms),
        owner=owner,
        forfeits=row.n_forfeits,
    )


def _rounded(rating: Rating | None) -> tuple[int | None, int | None, int | None]:
    """Return the points of a rating and the ends of its interval, as files of ratings and standings have them."""
    return (None, None, None) if rating is None else (round(rating.elo), round(rating.low), round(rating.high))


async def send_standings(request: web.Request) -> web.Response:
    """Send the standings as CSV."""
    _, shown = await request.app[SHOWN].of(request.match_info["name"])
    return _csv(f"{shown.row.name}-standings", StandingsLine._fields, standings_lines(shown))


async def send_results(request: web.Request) -> web.Response:
    """Send the results as CSV, a line for each seat of each match."""
    _, shown = await request.app[SHOWN].of(request.match_info["name"])
    return _csv(f"{shown.row.name}-results", ResultsLine._fields, results_lines(shown))


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


def standings_lines(shown: tournament_view.ShownTournament) -> Iterator[StandingsLine]:
    """Yield the lines of the standings, the best first."""
    entered_by = {one.name: one.entered_by for one in shown.found.entrants}
    for row in shown.table:
        elo, low, high = _rounded(row.rating)
        yield StandingsLine(
            rank=row.rank,
            player=row.player,
            matches=row.matches,
            score=round(row.score, 4),
            wins=row.wins,
            draws=row.draws,
            losses=row.losses,
            mean_goal=round(row.mean_goal, 2),
            elo=elo,
            elo_low=low,
            elo_high=high,
            los=row.los,
            errors=row.errors,
            seconds=f"{row.thinking_s:.3f}",
            moves=row.moves,
            decided_by=row.decided_by,
            entered_by=entered_by[row.player],
            byes=row.byes,
            forfeits=row.forfeits,
        )


def results_lines(shown: tournament_view.ShownTournament) -> Iterator[ResultsLine]:
    """Yield the lines of the results, by the order of the schedule."""
    ended = {} if shown.progress is None else {each.result.match_id: each for each in shown.progress.ended}
    for each in shown.fixtures.values():
        played = ended.get(each.match_id)
        for place, player in enumerate(each.players):
            yield ResultsLine(
                match=each.match_id,
                round=each.round,
                game=each.game,
                role=place + 1,
                player=player,
                goal=None if each.goals is None else each.goals[place],
                errors=each.errors[place] if each.errors else None,
                thinking_ms=None if played is None else played.thinking_ms[place],
                steps=None if played is None else played.n_steps,
                status=each.status,
                counts="no" if each.is_void else "yes",
                note=each.note,
                ended=machine_date(each.ended_ms),
            )


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
    choice = ExportFilter(tournament=shown.row.name, is_public=True)
    with collection(path) as add:
        async for found in exported(request.app[MANAGER].database, choice):
            if found.match_id in shown.fixtures and not found.error:
                await asyncio.to_thread(add, found.record)
