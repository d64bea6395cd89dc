"""Seats of people over HTTP: the open question, what the role knows, and the move."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Annotated, Any, Final

from aiohttp import web
from pydantic import Field

from gdl.language.kif import read_term
from server.access.authentication import is_secret_of
from server.access.control import PRINCIPAL
from server.api.operation import Operations, RequestModel, ResponseModel
from server.api.streams import NDJSON, SSE, EventStream, streamed
from server.app_keys import MANAGER
from server.hosting.game_manager import GameManager
from server.links.queued_player import Turn
from server.match.position import fact_texts
from server.principal import Principal
from server.records.entries import AnsweredEntry, EndEntry, Entry, SentEntry, StartedEntry, StateEntry, StepEntry
from server.refusals import RequestError, UnauthorizedError
from server.spectating.public_record import journal, known_match, missing_roles
from server.spectating.stream import POLL_S
from server.spectating.viewers import secrecy_of, viewer_of
from server.storage.notifications import something_new
from server.storage.rows import MatchRow, MatchStatus
from server.visibility import Aspect, Viewer, may_see

_SEEN: Final = StartedEntry | StateEntry | StepEntry | EndEntry
"""What of a journal changes what every seat sees."""


class SeatStep(ResponseModel):
    """A step as one role knows it: its move, and in GDL-II what it perceived of the joint move."""

    step: int
    move: str
    percepts: list[str] | None = None


class SeatView(ResponseModel):
    """What a person sees.

    In the `lobby` the match waits for the people who play the roles that are `missing`.
    `isAsked` is whether a move is wanted in `step`, one of `legalMoves`, within `secondsLeft`. `told` is what the
    request says: the last joint move, or in GDL-II the percepts of it. `state` are the facts, in GDL-I alone; `steps`
    are the person's own.
    """

    match_id: str
    role: str
    status: str
    missing: list[str]
    step: int
    is_asked: bool
    seconds_left: float | None
    legal_moves: list[str]
    told: list[str] | None
    state: list[str] | None
    steps: list[SeatStep]


async def view_of_seat(manager: GameManager, match: MatchRow, role: str) -> SeatView:
    """Return what the person who plays *role* in *match* sees now."""
    turn = await manager.relay.turn(match, role)
    record = await journal(manager, match.id)
    known = record.as_json() if record.has_begun else None
    return SeatView(
        match_id=match.id,
        role=role,
        status=match.status,
        missing=await missing_roles(manager, match),
        step=_step(turn, known),
        is_asked=turn is not None,
        seconds_left=None if turn is None or turn.left_s is None else round(turn.left_s, 3),
        legal_moves=[] if turn is None else list(map(str, turn.legal_moves)),
        told=None if turn is None or turn.told is None else list(map(str, turn.told)),
        state=None if known is None else _state(match, known),
        steps=[] if known is None else _steps(known, role),
    )


async def seat_changes(manager: GameManager, match_id: str, role: str) -> AsyncIterator[MatchRow]:
    """Yield the match, and again whenever the person who plays *role* may see something new; it ends with the match.

    Raises:
        UnknownMatchError: there is no such match.
    """
    last, seen = -1, None
    with manager.notifier.subscribed(match_id) as fresh:
        while True:
            fresh.clear()
            match = await known_match(manager, match_id)
            entries = await manager.journals.entries(match_id, last)
            last += len(entries)
            is_new = any(_is_seen(entry, role) for entry in entries)
            now = match.status, await missing_roles(manager, match)
            if is_new or now != seen:
                yield match
            seen = now
            if match.has_ended:
                return
            await something_new(fresh, POLL_S)


def _is_seen(entry: Entry, role: str) -> bool:
    return isinstance(entry, _SEEN) or (isinstance(entry, (SentEntry, AnsweredEntry)) and entry.role == role)


def _step(turn: Turn | None, record: dict[str, Any] | None) -> int:
    if turn is not None:
        return turn.step
    return 0 if record is None else max(0, len(record["states"]) - 1)


def _state(match: MatchRow, record: dict[str, Any]) -> list[str] | None:
    secrecy = replace(secrecy_of(match, is_gdl2=record["x-gdl2"]), has_ended=False)
    if not record["states"] or not may_see(Aspect.PLAY, Viewer.PERSON, secrecy):
        return None
    return fact_texts(record["states"][-1])


def _steps(record: dict[str, Any], role: str) -> list[SeatStep]:
    """Return the moves and percepts of *role* in a record, step by step."""
    place = record["x-roles"].index(role)
    percepts = record.get("x-percepts", [])
    return [
        SeatStep(
            step=step,
            move=_bare(moves[place]),
            percepts=list(map(_bare, percepts[step][place])) if step < len(percepts) else None,
        )
        for step, moves in enumerate(record["moves"])
    ]


def _bare(spaced: str) -> str:
    """Return a term of a record as rule files write it."""
    return str(read_term(spaced))


SEAT: Final = "/api/v1/matches/{match_id}/seats/{role}"
SECRET: Final = "GGP-Seat-Secret"  # noqa: S105 -- the name of the header, not what is in it
_ERRORS: Final = ("unknown_match", "no_seat", "unauthorized", "forbidden")
_HEADERS: Final = {SECRET: "what the order was answered with for this seat, unless the token ordered the match"}
operations: Final = Operations("seats")


class MoveText(RequestModel):
    """The move of a person: as rule files write it, in the step in which it is asked for."""

    step: Annotated[int, Field(ge=0, le=1_000_000)]
    move: Annotated[str, Field(min_length=1, max_length=10_000)]


class MoveAnswer(ResponseModel):
    """The move was taken, as the rules write it."""

    step: int
    move: str


@operations.get(SEAT, role=None, errors=_ERRORS, headers=_HEADERS)
async def read_seat(request: web.Request, match_id: str, role: str) -> SeatView:
    """Tell the person in a seat what is asked, and what that role may know.

    Who asks has come: a match in the lobby begins once everybody has.
    """
    manager = request.app[MANAGER]
    match = await _claimed(request, match_id, role)
    if match.status == MatchStatus.LOBBY:
        await manager.note_arrival(match_id, role)
        match = await known_match(manager, match_id)
    return await view_of_seat(manager, match, role)


@operations.get(f"{SEAT}/events", role=None, media=[SSE, NDJSON], errors=_ERRORS, headers=_HEADERS)
async def follow_seat(request: web.Request, match_id: str, role: str) -> web.StreamResponse:
    """Tell the person in a seat whenever there is something new to see, until the match is over.

    The events are `changed`, and `closed` at the end. Who asks has come, as with the seat itself.
    """
    await _claimed(request, match_id, role)
    return await stream_of_seat(request, match_id, role)


async def stream_of_seat(request: web.Request, match_id: str, role: str) -> web.StreamResponse:
    """Stream the changes that the person who plays *role* may see; the caller has checked that it is this person."""
    manager = request.app[MANAGER]
    await manager.note_arrival(match_id, role)

    async def send(stream: EventStream) -> None:
        async for match in seat_changes(manager, match_id, role):
            await stream.send("changed", {"status": match.status})
        await stream.send("closed", {})

    return await streamed(request, send)


@operations.post(
    f"{SEAT}/move",
    role=None,
    errors=(*_ERRORS, "illegal_move", "not_asked", "late_reply", "other_reply"),
    headers=_HEADERS,
)
async def make_move(request: web.Request, match_id: str, role: str, body: MoveText) -> MoveAnswer:
    """Make a person's move; the same one may come twice."""
    match = await _claimed(request, match_id, role)
    move = await request.app[MANAGER].relay.choose(match, role, body.step, body.move)
    await name_person(request, match, role)
    return MoveAnswer(step=body.step, move=move)


async def name_person(request: web.Request, match: MatchRow, role: str) -> None:
    """Keep the name on the token of *request*, if it has one, as that of the person who plays *role*."""
    who = request.get(PRINCIPAL)
    if who is not None and who.token_id is not None and role not in match.order.get("people", {}):
        await request.app[MANAGER].matches.name_person(match.id, role, who.name)


async def _claimed(request: web.Request, match_id: str, role: str) -> MatchRow:
    """Return the match if *request* may speak for the person who plays *role* in it."""
    match = await known_match(request.app[MANAGER], match_id)
    check_seat(match, role, request.headers.get(SECRET), request.get(PRINCIPAL))
    return match


def check_seat(match: MatchRow, role: str, secret: str | None, viewer: Principal | None) -> None:
    """Check that *viewer*, or the sender of *secret*, is the person who plays *role* in *match*.

    Raises:
        RequestError: no person plays it, or another one does; which of the two, who may not know the game does not see.
    """
    claims: dict[str, Any] = match.order.get("seatClaims", {})
    secrecy, is_seat = secrecy_of(match), role in claims
    is_person = is_seat and secret is not None and is_secret_of(secret, claims[role])
    may_sit = may_see(Aspect.SEAT, viewer_of(viewer, match, is_person=is_person), secrecy)
    # Which roles people play tells something of a game that is not public.
    if not is_seat and (may_sit or not secrecy.hides_game):
        raise RequestError("no_seat", f"no person plays {role[:100]!r} in this match", status=404)
    if may_sit:
        return
    if secret is None and viewer is None:
        raise UnauthorizedError("the seat's secret or a token is needed here", f"send {SECRET}")
    raise RequestError("forbidden", "this seat belongs to another person", status=403)
