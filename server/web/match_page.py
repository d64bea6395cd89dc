"""The page of a match: its board, its history, who thinks, and how it ended; with no script, as of one step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from aiohttp import web
from cachetools import LRUCache
from yarl import URL

from gdl.errors import GdlError
from gdl.games.boards import Board
from gdl.kif import read_term
from server.access.rights import requires
from server.access.role import Role
from server.api.keys import MANAGER
from server.match.clock import now_ms
from server.spectating.record import known_match
from server.storage.rows import MatchRow, SeatRow
from server.web.boards import Picture, board, last_move, picture_of, recorded_board
from server.web.knowledge import KNOWLEDGE, Story, facts_after
from server.web.match_cards import CARDS, MatchCard
from server.web.match_view import MatchView, public_events, view_of
from server.web.rendering import render
from server.web.rule_books import FIRST_POSITIONS, SHELF, RuleBook, rule_book
from server.web.visitor import visitor_of

_N_VIEWS: Final = 64


class Views:
    """What is public of matches that are over, which does not change any more."""

    def __init__(self) -> None:
        self._found: LRUCache[str, MatchView] = LRUCache(_N_VIEWS)

    async def of(self, request: web.Request, row: MatchRow) -> MatchView:
        """Return what is public of the match of *row* now."""
        found = self._found.get(row.id)
        if found is None:
            entries = await request.app[MANAGER].matches.entries(row.id)
            found = view_of(public_events(entries, has_ended=row.has_ended))
            if row.has_ended:
                self._found[row.id] = found
        return found


VIEWS: Final = web.AppKey("views", Views)


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page shows of a match: the state number `step`, and what of it the role `only` could see, if named."""

    row: MatchRow
    card: MatchCard
    view: MatchView
    step: int
    only: int | None
    book: RuleBook | None
    seats: tuple[SeatRow, ...]

    @property
    def is_followed(self) -> bool:
        """Whether the page shows the latest state, and is to show the next one when it comes."""
        return not self.row.has_ended and self.step == self.view.n_steps

    @property
    def roles(self) -> tuple[str, ...]:
        """What the roles are called here."""
        return tuple(seat.role for seat in self.card.seats)

    @property
    def has_views(self) -> bool:
        """Whether roles saw different things, and everybody may know by now what."""
        return self.row.has_ended and any(state.percepts is not None for state in self.view.states)


async def show_match(request: web.Request) -> web.Response:
    """Show a match at the step that the query names, else at its last."""
    shown = await _shown(request)
    return render(request, "match.html", **await _context(request, shown))


async def show_parts(request: web.Request) -> web.Response:
    """Show what of the page changes from step to step, for the page's script."""
    shown = await _shown(request)
    context = await _context(request, shown)
    response = render(request, "match_parts.html", **context)
    if shown.row.has_ended and not context["is_soon"]:
        response.headers["Cache-Control"] = "private, max-age=600"
    return response


@requires(Role.HOST)
async def abort(request: web.Request) -> web.StreamResponse:
    """End a match soon, and show it."""
    match = await known_match(request.app[MANAGER], request.match_info["id"])
    await request.app[MANAGER].abort(match.id, f"aborted by {visitor_of(request).name}")
    raise web.HTTPSeeOther(URL("/matches") / match.id)


async def _shown(request: web.Request) -> Shown:
    row = await known_match(request.app[MANAGER], request.match_info["id"])
    view = await request.app[VIEWS].of(request, row)
    (card,) = await request.app[CARDS].of([row])
    version = await request.app[SHELF].version(row.sha256)
    seats = (await request.app[MANAGER].matches.seats([row.id]))[row.id]
    step = _number(request.query, "step", view.n_steps)
    only = _role_index(request.query, card, row)
    book = None if version is None else rule_book(version)
    return Shown(row, card, view, min(step, view.n_steps), only, book, seats)


def _number(query: Mapping[str, str], name: str, default: int) -> int:
    text = query.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else default


def _role_index(query: Mapping[str, str], card: MatchCard, row: MatchRow) -> int | None:
    roles = [seat.role for seat in card.seats]
    return roles.index(query["as"]) if row.has_ended and query.get("as") in roles else None


async def _context(request: web.Request, shown: Shown) -> dict[str, Any]:
    picture, is_soon = await _picture(request, shown)
    return {
        "shown": shown,
        "row": shown.row,
        "card": shown.card,
        "view": shown.view,
        "step": shown.step,
        "move": shown.view.step_to(shown.step),
        "picture": picture,
        "is_soon": is_soon,
        "terms": _public_terms(shown.row),
        "now_ms": now_ms(),
    }


async def _picture(request: web.Request, shown: Shown) -> tuple[Picture | None, bool]:
    """Return the board, if there is anything that may be drawn, and whether there may be one soon."""
    if shown.book is None or shown.row.is_secret:
        return None, False
    title = f"{shown.card.title}, step {shown.step}"
    try:
        if shown.only is not None:
            return await _known_picture(request, shown, title)
        drawn = _board(shown.book, shown.view, shown.step) or await _first_board(request, shown)
        before, move = _board(shown.book, shown.view, shown.step - 1), shown.view.step_to(shown.step)
        moves = () if move is None else (one.move for one in move.moves if one.move is not None)
        is_over = shown.view.end == "completed" and shown.step == shown.view.n_steps
        return picture_of(drawn, title, last_move(drawn, before, moves), is_over=is_over), False
    except GdlError:
        return None, False


async def _known_picture(request: web.Request, shown: Shown, title: str) -> tuple[Picture | None, bool]:
    """Return the picture of what the role `shown.only` knew for certain, if that was worked out already."""
    assert shown.book is not None
    assert shown.only is not None
    steps = tuple(
        (step.moves[shown.only].move or "", state.percepts[shown.only] if state.percepts else ())
        for step, state in zip(shown.view.steps, shown.view.states[1:], strict=False)
    )
    story = Story(shown.book.description.source.text, shown.roles[shown.only], steps)
    known = await request.app[KNOWLEDGE].of(story)
    if known is None:
        return None, True
    facts = facts_after(known, shown.step)
    return (None if not facts else picture_of(board(shown.book, map(read_term, facts)), title)), False


def _board(book: RuleBook, view: MatchView, step: int) -> Board | None:
    state = view.state(step)
    return None if state is None or state.text is None else recorded_board(book, state.text)


async def _first_board(request: web.Request, shown: Shown) -> Board | None:
    version = await request.app[SHELF].version(shown.row.sha256)
    facts = None if version is None else await request.app[FIRST_POSITIONS].facts(version)
    return None if facts is None or shown.book is None else board(shown.book, facts)


def _public_terms(row: MatchRow) -> dict[str, Any]:
    """Return what was agreed before the match, the seeds only after it."""
    text = row.order["text"]
    seeds = {"seed": row.order["seed"]} if row.has_ended else {}
    return {"startClock": text["startClock"], "playClock": text["playClock"]} | seeds
