"""Matches over HTTP: ordering and aborting them, lists, records and states."""

from dataclasses import asdict
from typing import Annotated, Any, Final

from aiohttp import web
from pydantic import Field

from server.access.control import PRINCIPAL, principal
from server.api import operation
from server.app_keys import MANAGER
from server.hosting.order import MAX_STEP, DrawnMatch, MatchRequest, RoleName
from server.hosting.practice import check_may_abort
from server.hosting.start_points import with_first_state
from server.principal import Role
from server.refusals import RequestError
from server.spectating.overview import page
from server.spectating.public_record import known_match, public_record_text, transcript
from server.spectating.state import state_at
from server.storage import match_queries, rows

operations: Final = operation.Operations("matches")
URL: Final = "/api/v1/matches"
Step = Annotated[int, Field(ge=0, le=MAX_STEP)]
Status = Annotated[str, Field(pattern=f"^({'|'.join(rows.MatchStatus)})$")]


class StartPoint(operation.ResponseModel):
    """The match and the step that another match began at."""

    match: str
    step: int


class MatchLine(operation.ResponseModel):
    """A match in a list; which game it is, and who plays which role, is left out while that is not public."""

    id: str
    status: str
    steps: int
    errors: int
    start_clock: int
    play_clock: int
    is_hidden: Annotated[
        bool, Field(description="whether states and moves that not every role knows are shown only after the end")
    ]
    broadcast_delay: Annotated[str, Field(description="how late it is shown")] | None = None
    created: operation.Ms
    started: operation.Ms | None = None
    ended: operation.Ms | None = None
    tournament: str | None = None
    purpose: Annotated[str | None, Field(description="`practice` or `ladder`, where no host ordered it")] = None
    game: str | None = None
    players: dict[str, str] | None = None
    waits_for: Annotated[
        str | None, Field(description="in the queue: `players`, or `core` while it only waits for one to think on")
    ] = None
    unavailable: Annotated[
        dict[str, str] | None,
        Field(description="the players that it waits for: each is `not-connected`, `paused` or `busy`"),
    ] = None
    missing: Annotated[list[str] | None, Field(description="in the lobby: the roles whose people have not come")] = None
    people: Annotated[
        dict[str, str] | None, Field(description="the names of those who play by hand, for who has a token")
    ] = None
    begun_at: Annotated[StartPoint | None, Field(alias="from")] = None
    result: Annotated[dict[str, int | None] | None, Field(description="the goals, once it is completed")] = None
    reason: Annotated[str | None, Field(description="why it was aborted or failed")] = None
    damage: Annotated[str | None, Field(description="what the database holds damaged of it")] = None


class MatchPage(operation.ResponseModel):
    """Matches, the latest first; `next` is what `before` must be to go on, if there are more."""

    matches: list[MatchLine]
    next: str | None = None


class MatchQuery(operation.RequestModel):
    """Which matches are wanted."""

    status: Status | None = None
    game: operation.Name | None = None
    player: Annotated[operation.Name, Field(description="who has a seat in it")] | None = None
    tournament: operation.Name | None = None
    before: Annotated[operation.MatchId, Field(description="a match's id: only those ordered before it")] | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class OrderedMatch(operation.ResponseModel):
    """A match that was ordered; `seats` has by role the secret of each person's seat, and is sent only here.

    Where people play it is in the `lobby` until each of them has come.
    """

    id: str
    url: str
    status: str
    seats: dict[str, str]


class Record(operation.ExtensibleModel):
    """The match record in the public format, see docs/record.md; its public view with `x-status` before the end."""

    match_id: str
    is_completed: bool
    is_aborted: bool


class Abortion(operation.ResponseModel):
    """A match that ends soon."""

    id: str
    aborted: bool


class StateQuery(operation.RequestModel):
    """Whose view is wanted."""

    role: Annotated[RoleName, Field(description="what this role could know; else everything")] | None = None


class StateAnswer(operation.ResponseModel):
    """A match at one step: the state, what was done there, what was perceived of the moves before; all by role."""

    match_id: str
    step: int
    n_steps: Annotated[int, Field(description="the last step whose state is known")]
    roles: list[str]
    at_ms: operation.Ms
    facts: list[str] | None = None
    percepts: dict[str, list[str]] | None = None
    moves: dict[str, str] | None = None
    errors: dict[str, str] | None = None
    thinking_ms: dict[str, int | None] | None = None
    origins: dict[str, str] | None = None
    goals: dict[str, int | None] | None = None


class Transcript(operation.ResponseModel):
    """What a seat was sent and answered, in order: lines as `x-wire` of the record has them."""

    lines: list[dict[str, Any]]


@operations.get(URL, errors=["unknown_match"])
async def list_matches(request: web.Request, query: MatchQuery) -> MatchPage:
    """List matches, the latest first."""
    wanted = match_queries.MatchFilter(query.status, query.game, query.player, query.tournament)
    found, after = await page(request.app[MANAGER], wanted, query.before, query.limit, request.get(PRINCIPAL))
    return MatchPage(matches=[MatchLine(**match) for match in found], **operation.without_none({"next": after}))


_ORDERING: Final = (
    "unknown_game", "unknown_player", "unknown_role", "invalid_player", "rules_refused", "rules_too_costly",
    "too_many_roles", "too_many_seats", "unknown_match", "too_many_matches", "shutting_down", "no_own_seat",
    "not_challengeable", "too_much_practice", "busy",
)  # fmt: skip


@operations.post(
    URL, role=Role.PLAYER, status=201, invalid="invalid_order", errors=(*_ORDERING, "unknown_step", "not_public_yet")
)
async def order_match(request: web.Request, body: MatchRequest) -> OrderedMatch:
    """Order a match; it begins as soon as its people have come and its players are free.

    `game` names a game, `rules` brings the rules, or `from` names a step of a match (or of a match record) from whose
    state it begins.

    With the role `player` it is a practice match, of a game, with a player or a seat of one's own; others' players must
    allow it. Matches that hosts order, and those of tournaments, come before it.
    """
    manager, viewer = request.app[MANAGER], principal(request)
    order = await with_first_state(manager, body, viewer.name) if viewer.may(Role.HOST) else body
    return _ordered(await manager.practice.order(order, viewer))


@operations.post(f"{URL}/{{match_id}}/rematch", role=Role.PLAYER, status=201, errors=(*_ORDERING, "match_not_over"))
async def order_rematch(request: web.Request, match_id: str) -> OrderedMatch:
    """Order the match once more, of the same rules, with seats that have moved on by one; as the order of a match."""
    manager = request.app[MANAGER]
    return _ordered(await manager.practice.rematch(await known_match(manager, match_id), principal(request)))


def _ordered(ordered: DrawnMatch) -> OrderedMatch:
    row = ordered.row
    return OrderedMatch(id=row.id, url=f"{URL}/{row.id}", status=row.status, seats=dict(ordered.seat_secrets))


@operations.get(f"{URL}/{{match_id}}", errors=["unknown_match"], answer=Record)
async def read_record(request: web.Request, match_id: str) -> web.StreamResponse:
    """Return the match record; before the end its public view, with `x-status`."""
    return web.json_response(text=await public_record_text(request.app[MANAGER], match_id))


@operations.post(f"{URL}/{{match_id}}/abort", role=Role.PLAYER, status=202, errors=["unknown_match", "match_is_over"])
async def abort_match(request: web.Request, match_id: str) -> Abortion:
    """Abort a match, with the role `player` a practice match of one's own; its players get ABORT."""
    manager = request.app[MANAGER]
    check_may_abort(principal(request), await known_match(manager, match_id))
    if not await manager.abort(match_id, "aborted through the API"):
        raise RequestError("match_is_over", f"match {match_id} is over already", status=409)
    return Abortion(id=match_id, aborted=True)


@operations.get(
    f"{URL}/{{match_id}}/states/{{step}}",
    errors=["unknown_match", "unknown_step", "not_public_yet", "unknown_seat"],
)
async def read_state(request: web.Request, match_id: str, step: Step, query: StateQuery) -> StateAnswer:
    """Return a match at one of its steps.

    Where states are hidden (GDL-II, or scrambled names) they are shown after the end; with `role`, who registered the
    player of that role gets before the end what it perceived and did.
    """
    found = await state_at(request.app[MANAGER], match_id, step, request.get(PRINCIPAL), query.role)
    return StateAnswer(**operation.without_none(asdict(found)))


@operations.get(
    f"{URL}/{{match_id}}/seats/{{role}}/transcript", errors=["unknown_match", "not_public_yet", "unknown_seat"]
)
async def read_transcript(request: web.Request, match_id: str, role: RoleName) -> Transcript:
    """Return what a seat was sent and what it answered.

    Before the end only to who registered its player; where its names are scrambled, in those names alone, and under the
    number of the seat, as events have it, instead of its role.
    """
    return Transcript(lines=await transcript(request.app[MANAGER], match_id, role, request.get(PRINCIPAL)))
