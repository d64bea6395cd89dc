"""The page on which a person plays: the seat with its moves.

Moves are chosen by clicks on the board or in a list. The person with the claim to a seat may take it; a cookie for this
seat alone keeps it, out of sight in addresses.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from aiohttp import web
from yarl import URL

from gdl.boards import Board
from gdl.errors import CallerError, GdlError
from gdl.language.kif import read_term
from gdl.quantities import whole_number
from server.access.control import PRINCIPAL, REMOTE, requires
from server.api.seats import SeatView, check_seat, name_person, stream_of_seat, view_of_seat
from server.app_keys import MANAGER
from server.hosting.practice import may_abort
from server.links.errors import NotAskedError
from server.refusals import RequestError
from server.spectating.knowledge import SeatHistory, facts_after
from server.spectating.public_record import known_match
from server.storage.rows import GameVersion, MatchRow
from server.web import match_lists, rendering
from server.web.boards import board, cells_of, last_move, picture_of
from server.web.game_versions import FIRST_POSITIONS, GAME_VERSIONS, shown_rules
from server.web.match_view import KNOWN_FACTS
from server.web.template_filters import segment, sentence

_COOKIE: Final = "ggp_seat"
_WEEK_S: Final = 7 * 86_400


@dataclass(frozen=True, slots=True)
class MoveChoice:
    """A move to choose: its cells in the order in which they are clicked, or one of them where it is of a line."""

    text: str
    cells: tuple[str, ...]
    is_line: bool


def seat_address(match_id: str, role: str, claim: str = "") -> URL:
    """Return where the person who plays *role* sits down."""
    address = URL(f"/matches/{segment(match_id)}/play/{segment(role)}", encoded=True)
    return address.with_query(claim=claim) if claim else address


@requires(None)
async def show_seat(request: web.Request) -> web.StreamResponse:
    """Show the seat to the person who has the claim to it; a claim in the query goes into a cookie."""
    match, role = await _match(request), request.match_info["role"]
    claim = request.query.get("claim")
    if claim is not None:
        check_seat(match, role, claim.strip(), None)
        return _seated(request, match, role, claim.strip())
    try:
        _check_seat(request, match, role)
    except RequestError as error:
        if error.status == web.HTTPNotFound.status_code:
            raise
        return rendering.render(request, "claim.html", status=error.status, row=match, role=role)
    return rendering.render(request, "seat.html", **await _context(request, match, role))


@requires(None)
async def show_parts(request: web.Request) -> web.Response:
    """Show what of the page changes, for its script."""
    match, role = await _match(request), request.match_info["role"]
    _check_seat(request, match, role)
    return rendering.render(request, "seat_parts.html", **await _context(request, match, role))


@requires(None)
async def follow(request: web.Request) -> web.StreamResponse:
    """Tell the page whenever something changes, by the seat's own authority; who looks at the page has come."""
    match, role = await _match(request), request.match_info["role"]
    _check_seat(request, match, role)
    return await stream_of_seat(request, match.id, role)


@requires(None)
async def make_move(request: web.Request) -> web.StreamResponse:
    """Make the move of the form, or come to the lobby where no script does it, and show the seat again."""
    match, role = await _match(request), request.match_info["role"]
    _check_seat(request, match, role)
    data = await request.post()
    if "come" in data:
        await request.app[MANAGER].note_arrival(match.id, role)
        raise web.HTTPSeeOther(seat_address(match.id, role))
    problem = await _chosen(request, match, role, data)
    if not problem:
        await name_person(request, match, role)
        raise web.HTTPSeeOther(seat_address(match.id, role))
    return rendering.render(request, "seat.html", status=409, **await _context(request, match, role, problem))


async def _chosen(request: web.Request, match: MatchRow, role: str, data: Any) -> str:
    """Make the move that *data* has; return what was wrong with it, nothing if it is made."""
    step = whole_number(str(data.get("step", "")))
    if step is None:
        return "No move is asked for now."
    try:
        await request.app[MANAGER].relay.choose(match, role, step, str(data.get("move", "")))
    except NotAskedError:
        return "No move is asked for now."
    except CallerError as error:
        return sentence(error)
    return ""


async def _match(request: web.Request) -> MatchRow:
    return await known_match(request.app[MANAGER], request.match_info["id"])


def _check_seat(request: web.Request, match: MatchRow, role: str) -> None:
    check_seat(match, role, request.cookies.get(_COOKIE), request.get(PRINCIPAL))


def _seated(request: web.Request, match: MatchRow, role: str, claim: str) -> web.StreamResponse:
    address = seat_address(match.id, role)
    response = web.HTTPSeeOther(address)
    is_secret = REMOTE in request and request[REMOTE].is_secret
    response.set_cookie(
        _COOKIE, claim, path=address.raw_path, max_age=_WEEK_S, httponly=True, samesite="Lax", secure=is_secret
    )
    raise response


async def _context(request: web.Request, match: MatchRow, role: str, problem: str = "") -> dict[str, Any]:
    """Return what the template of the page needs: the seat's view, the board, the choices."""
    view = await view_of_seat(request.app[MANAGER], match, role)
    (card,) = await request.app[match_lists.CARDS].of([match], request.get(PRINCIPAL), is_person=True)
    seats = (await request.app[MANAGER].matches.seats([match.id]))[match.id]
    opponents = [line for line, seat in zip(card.seats, seats, strict=True)
                 if seat.role != role and line in card.played]  # fmt: skip
    version = await request.app[GAME_VERSIONS].version(match.game, match.sha256)
    known = None if version is None else await _known(request, version, view)
    drawn = None if version is None or known is None else await _board(version, known)
    sees_all = version is not None and not version.is_gdl2
    moves = () if view.state is None else tuple(view.told or ())
    return {
        "row": match,
        "role": role,
        "card": card,
        "opponents": opponents,
        "view": view,
        "picture": await picture_of(
            drawn,
            f"{card.title}, step {view.step}",
            last_move(drawn, None, moves),
            playable=not match.has_ended,
            is_over=match.has_ended,
        ),
        "sees_all": sees_all,
        "is_soon": not sees_all and version is not None and known is None,
        "choices": [_choice(text, drawn) for text in view.legal_moves],
        "left_ms": None if view.seconds_left is None else round(1000 * view.seconds_left),
        "problem": problem,
        "may_abort": may_abort(request.get(PRINCIPAL), match),
        "wait_reason": request.app[MANAGER].wait_reasons.get(match.id),
        "lobby_until_ms": request.app[MANAGER].lobby_until_ms(match),
    }


async def _known(request: web.Request, version: GameVersion, view: SeatView) -> Sequence[str] | None:
    """Return the facts that the person may know: all, or where information is hidden those that are certain.

    Before the match begins these are the facts of the first state.

    None: that is still being worked out.
    """
    if not version.is_gdl2:
        return view.state or await _first_facts(request, version)
    steps = tuple((step.move, tuple(step.percepts or ())) for step in view.steps)
    known = await request.app[KNOWN_FACTS].of(SeatHistory(version.rules, view.role, steps))
    return None if known is None else facts_after(known, len(steps)) or ()


async def _first_facts(request: web.Request, version: GameVersion) -> Sequence[str] | None:
    facts = await request.app[FIRST_POSITIONS].facts(version)
    return None if facts is None else tuple(map(str, facts))


async def _board(version: GameVersion, facts: Sequence[str]) -> Board | None:
    try:
        return await board(await shown_rules(version), facts, is_partial=version.is_gdl2)
    except GdlError:
        return None


def _choice(text: str, drawn: Board | None) -> MoveChoice:
    cells, is_line = ((), False) if drawn is None else cells_of(read_term(text), drawn)
    return MoveChoice(text, cells, is_line)
