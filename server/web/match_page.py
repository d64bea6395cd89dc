"""The page of a match: its board, its history, which roles are asked, and the end."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from yarl import URL

from gdl.boards import Board
from gdl.errors import GdlError
from gdl.quantities import whole_number
from server.access.control import PRINCIPAL, principal, requires
from server.app_keys import MANAGER
from server.clock import now_ms
from server.hosting.practice import check_may_abort, may_abort
from server.principal import Principal, Role
from server.records.record import understood
from server.spectating.broadcast import delay_of
from server.spectating.knowledge import SeatHistory, facts_after
from server.spectating.public_record import known_match
from server.spectating.viewers import secrecy_of
from server.storage.rows import MatchRow, MatchStatus
from server.visibility import Aspect, Viewer, may_see
from server.web import boards, match_lists, rendering, tournament_pages, tournament_view
from server.web.game_versions import FIRST_POSITIONS, GAME_VERSIONS, ShownRules, shown_rules
from server.web.insight_view import insight_view_of
from server.web.match_view import KNOWN_FACTS, VIEWS, MatchView, rows_of
from server.web.template_filters import segment


@dataclass(frozen=True, slots=True)
class ShownMatch:
    """What the page shows of a match: the state number `step`, and what of it the role `only` could see, if named."""

    row: MatchRow
    card: match_lists.MatchCard
    view: MatchView
    step: int
    only: int | None
    rules: ShownRules | None

    @property
    def is_hidden(self) -> bool:
        """Whether the state of this step is not shown, since not every role may know it."""
        state = self.view.state(self.step)
        return secrecy_of(self.row).is_hidden and (state is None or state.text is None)

    @property
    def opening(self) -> str:
        """When everything of it is shown."""
        return secrecy_of(self.row).opening

    @property
    def delay(self) -> str:
        """How late the page shows what happens; empty where it shows everything."""
        late = delay_of(self.row)
        return "" if late.is_live or self.row.has_ended else str(late)

    @property
    def picture_title(self) -> str:
        """What the picture of its board is called."""
        return f"{self.card.title}, step {self.step}"

    @property
    def roles(self) -> tuple[str, ...]:
        """What the roles are called here."""
        return tuple(seat.role for seat in self.card.seats)

    @property
    def has_views(self) -> bool:
        """Whether roles saw different things, and everybody may know by now what."""
        return _is_open(self.row) and any(state.percepts is not None for state in self.view.states)


async def show_match(request: web.Request) -> web.Response:
    """Show a match at the step that the query names, else at its last."""
    shown = await shown_match(request, request.get(PRINCIPAL))
    with understood(shown.row.id):
        ruling = await _ruling(request, shown.row)
        return rendering.render(request, "match.html", **await _context(request, shown), ruling=ruling)


async def show_parts(request: web.Request) -> web.Response:
    """Show what of the page changes from step to step, for the page's script."""
    shown = await shown_match(request, request.get(PRINCIPAL))
    with understood(shown.row.id):
        context = await _context(request, shown)
        response = rendering.render(request, "match_parts.html", **context)
    if secrecy_of(shown.row).is_over and not context["is_soon"]:
        response.headers["Cache-Control"] = "private, max-age=600"
    return response


@requires(Role.PLAYER)
async def confirm_abort(request: web.Request) -> web.Response:
    """Ask whether a match is to be ended; who asks from a seat, that of the role of the query, comes back to it."""
    match, who = await known_match(request.app[MANAGER], request.match_info["id"]), principal(request)
    check_may_abort(who, match)
    page, role = URL("/matches") / match.id, request.query.get("role")
    if match.has_ended:
        raise web.HTTPSeeOther(page)
    word = "Cancel" if match.status == MatchStatus.LOBBY else "Abort" if who.may(Role.HOST) else "Give up"
    asked = rendering.Confirmation(
        f"{word} this match?",
        f"{match.id} ends for all who play in it, counts as no result, and does not go on.",
        word=word,
        address=str(page / "abort"),
        back=f"{page}/play/{segment(role)}" if role else str(page),
    )
    return rendering.ask(request, asked)


@requires(Role.PLAYER)
async def abort(request: web.Request) -> web.StreamResponse:
    """End a match soon, and show it."""
    match, who = await known_match(request.app[MANAGER], request.match_info["id"]), principal(request)
    check_may_abort(who, match)
    # Everybody sees the reason, but not the name of a person who may play in the match by hand.
    reason = f"aborted by {who.name}" if who.may(Role.HOST) else "given up"
    await request.app[MANAGER].abort(match.id, reason)
    raise web.HTTPSeeOther(URL("/matches") / match.id)


async def shown_match(request: web.Request, who: Principal | None, *, ignores_role: bool = False) -> ShownMatch:
    """Return the match of the path for *who*, at the step of the query, and for its role unless that is ignored."""
    row = await known_match(request.app[MANAGER], request.match_info["id"])
    view = await request.app[VIEWS].of(request, row)
    (card,) = await request.app[match_lists.CARDS].of([row], who)
    version = await request.app[GAME_VERSIONS].version(row.game, row.sha256)
    step = _number(request.query, "step", view.n_steps)
    only = None if ignores_role else _role_index(request.query, card, row)
    rules = None if version is None else await shown_rules(version)
    return ShownMatch(row, card, view, min(step, view.n_steps), only, rules)


def _number(query: Mapping[str, str], name: str, default: int) -> int:
    found = whole_number(query.get(name, ""))
    return default if found is None else found


def _role_index(query: Mapping[str, str], card: match_lists.MatchCard, row: MatchRow) -> int | None:
    roles = [seat.role for seat in card.seats]
    return roles.index(query["as"]) if _is_open(row) and query.get("as") in roles else None


def _is_open(row: MatchRow) -> bool:
    """Return whether everybody may know everything by now."""
    return may_see(Aspect.SECRETS, Viewer.SPECTATOR, secrecy_of(row))


async def _context(request: web.Request, shown: ShownMatch) -> dict[str, Any]:
    """Return what the template of the page needs."""
    picture, is_soon = await _picture(request, shown)
    return {
        "shown": shown,
        "row": shown.row,
        "card": shown.card,
        "view": shown.view,
        "step": shown.step,
        "rows": rows_of(shown.view),
        "move": shown.view.step_to(shown.step),
        "picture": picture,
        "is_soon": is_soon,
        "order": _public_order(shown.row),
        "may_abort": may_abort(request.get(PRINCIPAL), shown.row),
        "now_ms": now_ms(),
        "wait_reason": request.app[MANAGER].wait_reasons.get(shown.row.id),
        "lobby_until_ms": request.app[MANAGER].lobby_until_ms(shown.row),
        "insights": insight_view_of(shown.view, shown.roles, shown.step, shown.only),
        "has_tournament": await _has_tournament(request, shown.row),
    }


async def _has_tournament(request: web.Request, row: MatchRow) -> bool:
    """Return whether the tournament that the match names is one of this server, and not a word of who ordered it."""
    return row.tournament is not None and await request.app[tournament_pages.SHOWN].feed.now(row.tournament) is not None


async def _ruling(request: web.Request, row: MatchRow) -> tournament_view.ShownFixture | None:
    """Return what its tournament makes of a match that is over, where it counts otherwise than it was played."""
    if row.tournament is None or not row.has_ended:
        return None
    try:
        _, shown = await request.app[tournament_pages.SHOWN].of(row.tournament)
    except GdlError:  # there is none of that name, or it is damaged, which is no fault of the match
        return None
    found = shown.fixtures.get(row.id)
    return None if found is None or found.note in ("", row.abort_reason) else found


async def _picture(request: web.Request, shown: ShownMatch) -> tuple[boards.Picture | None, bool]:
    """Return the board, if there is anything that may be drawn, and whether there may be one soon."""
    if shown.rules is None or shown.is_hidden:
        return None, False
    try:
        if shown.only is not None:
            return await _known_picture(request, shown)
        drawn, last = await board_at(request, shown)
        is_over = shown.view.end == "completed" and shown.step == shown.view.n_steps
        return await boards.picture_of(drawn, shown.picture_title, last, is_over=is_over), False
    except GdlError:
        return None, False


async def board_at(request: web.Request, shown: ShownMatch) -> tuple[Board | None, boards.LastMove | None]:
    """Return what there is to draw of the step that is *shown*, and of the move before it.

    Raises:
        GdlError: nothing of it can be drawn.
    """
    if shown.rules is None:
        return None, None
    drawn = await _board(shown.rules, shown.view, shown.step) or await _first_board(request, shown)
    before = await _board(shown.rules, shown.view, shown.step - 1)
    move = shown.view.step_to(shown.step)
    moves = () if move is None else tuple(one.move for one in move.moves if one.move is not None)
    return drawn, boards.last_move(drawn, before, moves)


async def _known_picture(request: web.Request, shown: ShownMatch) -> tuple[boards.Picture | None, bool]:
    """Return the picture of what the role `shown.only` knew for certain, if that was worked out already."""
    assert shown.rules is not None
    assert shown.only is not None
    steps = tuple(
        (step.moves[shown.only].move or "", state.percepts[shown.only] if state.percepts else ())
        for step, state in zip(shown.view.steps, shown.view.states[1:], strict=False)
    )
    history = SeatHistory(shown.rules.description.source.text, shown.roles[shown.only], steps)
    known = await request.app[KNOWN_FACTS].of(history)
    if known is None:
        return None, True
    facts = facts_after(known, shown.step)
    drawn = await boards.board(shown.rules, facts, is_partial=True) if facts else None
    return await boards.picture_of(drawn, shown.picture_title), False


async def _board(rules: ShownRules, view: MatchView, step: int) -> Board | None:
    state = view.state(step)
    return None if state is None or state.text is None else await boards.recorded_board(rules, state.text)


async def _first_board(request: web.Request, shown: ShownMatch) -> Board | None:
    version = await request.app[GAME_VERSIONS].version(shown.row.game, shown.row.sha256)
    facts = None if version is None else await request.app[FIRST_POSITIONS].facts(version)
    return None if facts is None or shown.rules is None else await boards.board(shown.rules, facts)


def _public_order(row: MatchRow) -> dict[str, Any]:
    """Return what was agreed before the match, the seeds only after it."""
    text = row.order["text"]
    seeds = {"seed": row.order["seed"]} if _is_open(row) else {}
    return {"startClock": text["startClock"], "playClock": text["playClock"]} | seeds
