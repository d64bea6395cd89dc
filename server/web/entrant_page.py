"""The page of an entrant of a tournament: its place, its matches, its rating as results came, its errors."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from aiohttp import web

from gdl.errors import GdlError
from server.app_keys import MANAGER
from server.cache import BackgroundCache
from server.match.exchange import MoveOrigin
from server.refusals import RequestError
from server.storage.rows import SeatKind
from server.tournament.rating_chart import RatingChart, rating_chart
from server.tournament.ratings import RatingsAfter, rating_history
from server.web import rendering, tournament_pages, tournament_view
from server.web.match_view import VIEWS, MatchView

_MOST_WITH_ERRORS: Final = 20
"""Of how many matches, the latest, the page shows the errors with their steps."""


class RatingHistories:
    """The histories of the ratings in tournaments, found in the background as *tournaments* change."""

    def __init__(self, tournaments: tournament_pages.ShownTournaments) -> None:
        self._tournaments = tournaments
        self._found = BackgroundCache(self._find, n_kept=32, patience_s=2.0)

    async def of(self, name: str, shape: str) -> tuple[RatingsAfter, ...] | None:
        """Return the history of the tournament *name* when its *shape* is so; None while that is being found."""
        return await self._found.of((name, shape))

    async def _find(self, key: tuple[str, str]) -> tuple[RatingsAfter, ...]:
        _, shown = await self._tournaments.of(key[0])
        return () if shown.progress is None else await asyncio.to_thread(rating_history, shown.progress.rated_results)

    async def close(self) -> None:
        """End what is being found."""
        await self._found.close()


HISTORIES: Final = web.AppKey("rating_histories", RatingHistories)


@dataclass(frozen=True, slots=True)
class ErrorLine:
    """An error of an entrant in a match: the step where it came first, and in how many more it came again.

    `is_replaced` says whether the server made a move instead. Step 0 is the start clock.
    """

    fixture: tournament_view.ShownFixture
    step: int
    trouble: str
    is_replaced: bool = False
    n_more: int = 0


async def show_entrant(request: web.Request) -> web.Response:
    """Show an entrant of a tournament."""
    name = request.match_info["entrant"]
    shape, shown = await request.app[tournament_pages.SHOWN].of(request.match_info["name"])
    entrant = next((one for one in shown.found.entrants if one.name == name), None)
    if entrant is None:
        raise RequestError("not_entered", f"the tournament has no entrant {name[:100]!r}", status=404)
    own = [each for each in shown.fixtures.values() if name in each.players]
    return rendering.render(
        request,
        "entrant.html",
        row=shown.row,
        shown=shown,
        entrant=entrant,
        standing=next((one for one in shown.table if one.player == name), None),
        fixtures=own[::-1],
        chart=await _chart(request, shown, shape, name),
        errors=await _errors(request, own, name),
    )


async def _chart(
    request: web.Request, shown: tournament_view.ShownTournament, shape: str, name: str
) -> RatingChart | None:
    history = await request.app[HISTORIES].of(shown.row.name, shape) or ()
    points = [(float(each.n_results), each.ratings[name]) for each in history if name in each.ratings]
    return rating_chart({name: points}, "first results", "now") if len(points) > 1 else None


async def _errors(request: web.Request, fixtures: Sequence[tournament_view.ShownFixture], name: str) -> list[ErrorLine]:
    """Return the errors of an entrant, those of the latest matches first."""
    with_errors = [each for each in reversed(fixtures) if each.has_page and _n_errors(each, name)]
    found: list[ErrorLine] = []
    for fixture in with_errors[:_MOST_WITH_ERRORS]:
        found += await _errors_of(request, fixture, name)
    return found


def _n_errors(fixture: tournament_view.ShownFixture, name: str) -> int:
    return fixture.errors[fixture.players.index(name)] if fixture.errors else 0


async def _errors_of(request: web.Request, fixture: tournament_view.ShownFixture, name: str) -> list[ErrorLine]:
    """Return the errors of an entrant in one match, by step; none where its record is damaged."""
    matches = request.app[MANAGER].matches
    row = await matches.find(fixture.match_id)
    if row is None or row.damage:
        return []
    seats = (await matches.seats([row.id]))[row.id]
    played = [number for number, seat in enumerate(seats) if seat.kind != SeatKind.CHANCE]
    try:
        view = await request.app[VIEWS].of(request, row)
        return _read_off(view, fixture, played[fixture.players.index(name)])
    except (GdlError, IndexError):
        return []


def _read_off(view: MatchView, fixture: tournament_view.ShownFixture, seat: int) -> list[ErrorLine]:
    """Return the errors of a seat, each kind where it came first."""
    at_start = view.start_errors[seat] if view.start_errors else ""
    steps = defaultdict[tuple[str, bool], list[int]](list)
    for step in view.steps:
        if trouble := step.moves[seat].trouble:
            steps[trouble, step.moves[seat].origin == MoveOrigin.SUBSTITUTE].append(step.number)
    found = [ErrorLine(fixture, 0, at_start)] if at_start else []
    return found + [
        ErrorLine(fixture, first, trouble, is_replaced, len(more))
        for (trouble, is_replaced), (first, *more) in steps.items()
    ]
