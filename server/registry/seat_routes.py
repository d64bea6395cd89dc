"""The API of seats that people take: what they are asked, and what they play."""

from __future__ import annotations

from typing import Annotated, Any, Final

from aiohttp import web
from pydantic import Field

from server.access.access import PRINCIPAL
from server.access.role import Principal, Role
from server.api.keys import MANAGER
from server.api.operation import Operations
from server.errors import RequestError
from server.links.errors import NotAskedError, UnknownLetterError
from server.links.human_seat import choose
from server.links.mail import letter_id
from server.registry.answers import Text
from server.registry.claims import is_claim
from server.registry.seat_view import SeatView, view_of_seat
from server.spectating.record import known_match
from server.storage.rows import MatchRow

SEAT: Final = "/api/v1/matches/{match_id}/seats/{role}"
SECRET: Final = "GGP-Seat-Secret"  # noqa: S105 -- the name of the header, not what is in it
_ERRORS: Final = ("unknown_match", "no_seat", "unauthorized", "forbidden")
_HEADERS: Final = {SECRET: "what the order was answered with for this seat, unless the token ordered the match"}
seats: Final = Operations("seats")


class MoveText(Text):
    """The move of a person: as rule files write it, in the step in which it is asked for."""

    step: Annotated[int, Field(ge=0, le=1_000_000)]
    move: Annotated[str, Field(min_length=1, max_length=10_000)]


class MoveAnswer(Text):
    """The move was taken, as the rules write it."""

    step: int
    move: str


@seats.get(SEAT, role=None, errors=_ERRORS, headers=_HEADERS)
async def read_seat(request: web.Request, match_id: str, role: str) -> SeatView:
    """Tell the person in a seat what is asked, and what that role may know."""
    match = await _claimed(request, match_id, role)
    return await view_of_seat(request.app[MANAGER], match, role)


@seats.post(
    f"{SEAT}/move",
    role=None,
    errors=(*_ERRORS, "illegal_move", "not_asked", "late_reply", "other_reply"),
    headers=_HEADERS,
)
async def make_move(request: web.Request, match_id: str, role: str, body: MoveText) -> MoveAnswer:
    """Make a person's move; the same one may come twice."""
    match = await _claimed(request, match_id, role)
    mailboxes = request.app[MANAGER].mailboxes
    if not mailboxes.has_seat(match.id, role):
        raise NotAskedError(body.step)
    try:
        move = choose(mailboxes.seat(match.id, role), letter_id(match.id, body.step, "PLAY"), body.move)
    except UnknownLetterError:
        raise NotAskedError(body.step) from None
    return MoveAnswer(step=body.step, move=str(move))


async def _claimed(request: web.Request, match_id: str, role: str) -> MatchRow:
    """Return the match if *request* may speak for the person who plays *role* in it."""
    match = await known_match(request.app[MANAGER], match_id)
    check_seat(match, role, request.headers.get(SECRET), request.get(PRINCIPAL))
    return match


def check_seat(match: MatchRow, role: str, secret: str | None, viewer: Principal | None) -> None:
    """Check that *viewer*, or whoever says *secret*, may speak for the person who plays *role* in *match*.

    Raises:
        RequestError: no person plays it, or it is somebody else.
    """
    claims: dict[str, Any] = match.order.get("seatClaims", {})
    if role not in claims:
        raise RequestError("no_seat", f"no person plays {role[:100]!r} in this match", status=404)
    if secret is not None and is_claim(secret, claims[role]):
        return
    if viewer is not None and (viewer.may(Role.ADMIN) or (viewer.may(Role.PLAYER) and viewer.name == match.ordered_by)):
        return
    if secret is None and viewer is None:
        raise RequestError("unauthorized", "the seat's secret or a token is needed here", f"send {SECRET}", 401)
    raise RequestError("forbidden", "this seat is somebody else's", status=403)
