"""Matches over HTTP: ordering and aborting them, lists, records, states, and what one's own seat was told."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Final

from aiohttp import web
from pydantic import Field

from server.access.access import PRINCIPAL, principal
from server.access.role import Role
from server.api.beginning import with_first_state
from server.api.keys import MANAGER
from server.api.operation import Operations
from server.api.shapes import Asked, MatchId, Ms, Name, Open, Told, kept
from server.errors import RequestError
from server.hosting.order import MAX_STEP, OrderText
from server.spectating.listing import page
from server.spectating.record import public_record
from server.spectating.seat import transcript
from server.spectating.state import state_at
from server.storage.listing import Filter
from server.storage.rows import STATUSES

operations: Final = Operations("matches")
URL: Final = "/api/v1/matches"
Step = Annotated[int, Field(ge=0, le=MAX_STEP)]
Status = Annotated[str, Field(pattern=f"^({'|'.join(STATUSES)})$")]


class Origin(Told):
    """The match and the step that another match began at."""

    match: str
    step: int


class MatchLine(Told):
    """A match in a list; which game it is, and who plays which role, is left out while that is not public."""

    id: str
    status: str
    steps: int
    errors: int
    start_clock: int
    play_clock: int
    is_hidden: Annotated[bool, Field(description="whether states and moves are shown only after the end")]
    created: Ms
    started: Ms | None = None
    ended: Ms | None = None
    tournament: str | None = None
    game: str | None = None
    players: dict[str, str] | None = None
    begun_at: Annotated[Origin | None, Field(alias="from")] = None
    result: Annotated[dict[str, int | None] | None, Field(description="the goals, once it is completed")] = None


class MatchPage(Told):
    """Matches, the latest first; `next` is what `before` must be to go on, if there are more."""

    matches: list[MatchLine]
    next: str | None = None


class MatchQuery(Asked):
    """Which matches are wanted."""

    status: Status | None = None
    game: Name | None = None
    player: Annotated[Name, Field(description="who has a seat in it")] | None = None
    tournament: Name | None = None
    before: Annotated[MatchId, Field(description="a match's id: only those ordered before it")] | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class OrderedMatch(Told):
    """A match that was ordered; `seats` has by role what a person says to take that seat, and is told only here."""

    id: str
    url: str
    status: str
    seats: dict[str, str]


class Record(Open):
    """The match record in the public format, see docs/record.md; its public view with `x-status` before the end."""

    match_id: str
    is_completed: bool
    is_aborted: bool


class Abortion(Told):
    """A match that ends soon."""

    id: str
    aborted: bool


class StateQuery(Asked):
    """Whose view is wanted."""

    role: Annotated[Name, Field(description="what this role could know; else everything")] | None = None


class State(Told):
    """A match at one step: the state, what was done there, what was perceived of the moves before; all by role."""

    match_id: str
    step: int
    n_steps: Annotated[int, Field(description="the last step whose state is known")]
    roles: list[str]
    at_ms: Ms
    facts: list[str] | None = None
    percepts: dict[str, list[str]] | None = None
    moves: dict[str, str] | None = None
    errors: dict[str, str] | None = None
    thinking_ms: dict[str, int | None] | None = None
    origins: dict[str, str] | None = None
    goals: dict[str, int | None] | None = None


class Transcript(Told):
    """What a seat was sent and answered, in order: lines as `x-wire` of the record has them."""

    lines: list[dict[str, Any]]


@operations.get(URL, errors=["unknown_match"])
async def list_matches(request: web.Request, query: MatchQuery) -> MatchPage:
    """List matches, the latest first."""
    wanted = Filter(query.status, query.game, query.player, query.tournament)
    found, after = await page(request.app[MANAGER], wanted, query.before, query.limit)
    return MatchPage(matches=[MatchLine(**match) for match in found], **kept({"next": after}))


@operations.post(
    URL, role=Role.HOST, status=201, invalid="invalid_order",
    errors=["unknown_game", "unknown_player", "unknown_role", "invalid_player", "rules_refused", "rules_too_costly",
            "unknown_match", "unknown_step", "not_public_yet", "too_many_matches"],
)  # fmt: skip
async def order_match(request: web.Request, body: OrderText) -> OrderedMatch:
    """Order a match; it begins as soon as its players are free.

    `game` names a game, `rules` brings the rules, or `from` names a step of a match (or of a match record) from whose
    state it begins.
    """
    manager, by = request.app[MANAGER], principal(request).name
    ordered = await manager.order(await with_first_state(manager, body, by), by)
    row = ordered.row
    return OrderedMatch(id=row.id, url=f"{URL}/{row.id}", status=row.status, seats=dict(ordered.seat_secrets))


@operations.get(f"{URL}/{{match_id}}", errors=["unknown_match"], answer=Record)
async def read_record(request: web.Request, match_id: str) -> web.StreamResponse:
    """Return the match record; before the end its public view, with `x-status`."""
    return web.json_response(await public_record(request.app[MANAGER], match_id))


@operations.post(f"{URL}/{{match_id}}/abort", role=Role.HOST, status=202, errors=["unknown_match", "match_is_over"])
async def abort_match(request: web.Request, match_id: str) -> Abortion:
    """End a match soon; its players are told."""
    if not await request.app[MANAGER].abort(match_id, "aborted through the API"):
        raise RequestError("match_is_over", f"match {match_id} is over already", status=409)
    return Abortion(id=match_id, aborted=True)


@operations.get(
    f"{URL}/{{match_id}}/states/{{step}}",
    errors=["unknown_match", "unknown_step", "not_public_yet", "unknown_seat"],
)
async def read_state(request: web.Request, match_id: str, step: Step, query: StateQuery) -> State:
    """Return a match at one of its steps.

    Where states are hidden (GDL-II, or scrambled names) they are shown after the end; with `role`, who registered the
    player of that role is told before the end what it perceived and did.
    """
    found = await state_at(request.app[MANAGER], match_id, step, request.get(PRINCIPAL), query.role)
    return State(**kept(asdict(found)))


@operations.get(
    f"{URL}/{{match_id}}/seats/{{role}}/transcript", errors=["unknown_match", "not_public_yet", "unknown_seat"]
)
async def read_transcript(request: web.Request, match_id: str, role: Name) -> Transcript:
    """Return what a seat was sent and what it answered.

    Before the end only to who registered its player; where its names are scrambled, in those names alone.
    """
    return Transcript(lines=await transcript(request.app[MANAGER], match_id, role, request.get(PRINCIPAL)))
