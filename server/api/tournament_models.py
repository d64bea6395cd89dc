"""Tournaments in the JSON API: the order of one, and what the API shows of it."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, ConfigDict, Field, field_validator
from pydantic.alias_generators import to_camel

from server.api.operation import Ms, Name, RequestModel, ResponseModel, without_none
from server.clock import now_ms
from server.hosting.rounds import next_round_ms, standstill, wait_reasons_of
from server.hosting.tournament_progress import played_of, progress_of
from server.registry.queueing import WaitReason
from server.sanitization import CleanLine
from server.storage.tournament_rows import EntryRule, FixtureRow, InterventionRow, TournamentRow, TournamentStatus
from server.storage.tournaments import StoredTournament
from server.tournament.plan import TournamentTerms
from server.tournament.scoring import counted_goals
from server.tournament.summary import summary
from server.tournament.timetable import AT_ONCE, Timetable

URL: Final = "/api/v1/tournaments"
MAX_ENTRANTS: Final = 1_000
_NAME: Final = r"^[a-z0-9][a-z0-9_-]{0,59}$"


def _named(value: object) -> object:
    if isinstance(value, str) and not re.search(_NAME, value):
        raise ValueError("up to 60 small letters, digits, - and _, of which the first is a letter or a digit")
    return value


TournamentName = Annotated[str, BeforeValidator(_named), Field(pattern=_NAME)]
Reason = Annotated[Name, Field(description="is shown to everybody")]
_HAS_BEGUN: Final = (TournamentStatus.RUNNING, TournamentStatus.PAUSED, TournamentStatus.OVER)


class EntryText(RequestModel):
    """Who enters a tournament: a registered player or, for a host, one of the server's own."""

    player: Name
    name: Annotated[Name, Field(description="in the tournament; else that of the player")] | None = None


def _entry(value: object) -> object:
    return {"player": value} if isinstance(value, str) else value


class NewTournament(TournamentTerms, Timetable):
    """The body of POST /api/v1/tournaments: the keys of a plan in camel case, and a timetable. *Units*: seconds."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, validate_by_name=False, validate_by_alias=True, frozen=True
    )

    name: TournamentName
    entry: EntryRule = EntryRule.OPEN
    players: tuple[Annotated[EntryText, BeforeValidator(_entry)], ...] = Field((), max_length=MAX_ENTRANTS)

    @field_validator("starts", "entry_closes")
    @classmethod
    def _is_in_calendar(cls, at: datetime | None) -> datetime | None:
        """Return *at*.

        Raises:
            ValueError: it is before the year 1 or after the year 9999 in UTC, where it cannot be shown.
        """
        try:
            if at is not None:
                at.astimezone(UTC)
        except OverflowError as error:
            raise ValueError("in UTC, the time is in none of the years 1 to 9999") from error
        return at

    @property
    def terms(self) -> TournamentTerms:
        """What is agreed, without name and entrants."""
        return TournamentTerms.model_validate(self.model_dump(include=set(TournamentTerms.model_fields)))

    @property
    def timetable(self) -> Timetable | None:
        """What it does by the clock; None: nothing."""
        found = Timetable.model_validate(self.model_dump(include=set(Timetable.model_fields)))
        return None if found == AT_ONCE else found


def order_of_toml(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of an order from those of a plan file, in which players have names: `mine = "mcts"`."""
    players = fields.get("players")
    if not isinstance(players, Mapping):
        return fields
    return {**fields, "players": [{"name": name, "player": player} for name, player in players.items()]}


class ReasonText(RequestModel):
    """Why something is done with a tournament."""

    reason: Reason


class AnnulmentText(ReasonText):
    """Why a match does not count, and whether it is played again."""

    replay: bool = False


class SubstitutionText(ReasonText):
    """Who plays for an entrant from now on, and why: a registered player, or one of the server's own."""

    player: Name


class WithdrawalQuery(RequestModel):
    """Why a host withdraws an entrant, and whether what it has played counts no more."""

    reason: Annotated[CleanLine, Field(max_length=100, description="is shown to everybody")] = ""
    annul: Annotated[
        bool, Field(description="as a host: none of its matches counts, instead of losing the open ones")
    ] = False


class TournamentLine(ResponseModel):
    """A tournament in a list."""

    name: str
    url: str
    owner: str
    status: str
    entry: str
    format: str
    created: Ms
    started: Ms | None = None
    ended: Ms | None = None
    starts: Annotated[Ms | None, Field(description="when it starts by itself")] = None
    entry_closes: Annotated[Ms | None, Field(description="when players can no longer enter by themselves")] = None
    reason: Annotated[str | None, Field(description="why it is paused or cancelled")] = None


class TournamentsQuery(RequestModel):
    """Which tournaments are wanted."""

    before: Annotated[Name, Field(description="a tournament's name: only those ordered before it")] | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class TournamentsAnswer(ResponseModel):
    """Tournaments, the latest first; `next` is what `before` must be to go on, if there are more."""

    tournaments: list[TournamentLine]
    next: str | None = None


class EntrantAnswer(ResponseModel):
    """An entrant, with the first round in which it can play, and the last one if it has withdrawn."""

    name: str
    player: str
    entered_by: str
    since_round: int
    withdrawn_after: int | None = None


_WaitsFor = Annotated[str, Field(description="`players`, or `core` while it only waits for one to think on")]
_Unavailable = Annotated[
    dict[str, str], Field(description="the players that it waits for: each is `not-connected`, `paused` or `busy`")
]


class FixtureAnswer(ResponseModel):
    """A match of a tournament; `goals` are those that count there, `annulled` says why it does not count.

    `waitsFor` says what it waits for in the queue, if not only for its turn.
    """

    match: str
    round: int
    players: list[str]
    status: Annotated[str, Field(description="that of the match; `scheduled` before it is ordered")]
    game: Annotated[str | None, Field(description="left out before the end where names are scrambled")] = None
    goals: list[int] | None = None
    waits_for: _WaitsFor | None = None
    unavailable: _Unavailable | None = None
    forfeited: list[str] | None = None
    annulled: str | None = None
    replayed: bool | None = None


class StandingAnswer(ResponseModel):
    """A row of the standings, as `ggp tournament run --json` prints it."""

    model_config = ConfigDict(extra="allow")

    rank: int
    player: str
    score: float


class InterventionAnswer(ResponseModel):
    """What a host did with a tournament, and why; `player` plays for the entrant from then on."""

    kind: str
    by: str
    at: Ms
    reason: str | None = None
    match: str | None = None
    entrant: str | None = None
    player: str | None = None


class TournamentAnswer(TournamentLine):
    """A tournament: what was agreed, its standings, and its matches by the order of the schedule.

    `waitsFor` says what its matches in the queue wait for altogether, while none of its matches is played.
    """

    timetable: Annotated[Timetable, Field(description="what it does by the clock")] | None = None
    next_round: Annotated[Ms | None, Field(description="when the next round begins by the clock")] = None
    waits_for: _WaitsFor | None = None
    unavailable: _Unavailable | None = None
    interventions: Annotated[list[InterventionAnswer], Field(description="what its hosts did, in this order")]
    terms: Annotated[dict[str, Any], Field(description="as ordered; without games while their names are secret")]
    entrants: list[EntrantAnswer]
    matches: list[FixtureAnswer]
    standings: list[StandingAnswer]
    sprt: Annotated[dict[str, Any] | None, Field(description="how the sequential test stands")] = None


def _line(row: TournamentRow) -> dict[str, Any]:
    found = {
        "name": row.name, "url": f"{URL}/{row.name}", "owner": row.owner, "status": row.status, "entry": row.entry,
        "format": row.terms.format, "created": row.created_ms,
    }  # fmt: skip
    timetable = row.timetable or AT_ONCE
    times = {"starts": timetable.starts_ms, "entry_closes": timetable.entry_closes_ms}
    others = {"started": row.started_ms, "ended": row.ended_ms, "reason": row.reason or None} | times
    return found | {name: value for name, value in others.items() if value is not None}


def tournament_line(row: TournamentRow) -> TournamentLine:
    """Return a tournament as lists show it."""
    return TournamentLine(**_line(row))


def tournament_answer(
    found: StoredTournament, reasons: Mapping[str, WaitReason] = MappingProxyType({})
) -> TournamentAnswer:
    """Return all that everybody may know of a tournament; *reasons* says by id what matches of the queue wait for."""
    row = found.row
    terms = row.terms.model_dump(mode="json", exclude={"seed"} | ({"games"} if row.hides_games else set()))
    has_standings = bool(found.entrants) and row.status in _HAS_BEGUN and not row.waits_to_start
    told = summary(progress_of(found)) if has_standings else {"standings": []}
    others = {"sprt": told.get("sprt"), "timetable": row.timetable, "next_round": next_round_ms(found, now_ms())}
    waits = wait_reasons_of(found, reasons)
    reason = standstill(found, waits)
    return TournamentAnswer(
        **_line(row),
        terms={to_camel(name): value for name, value in terms.items() if value is not None},
        entrants=[_entrant(found, place) for place in range(len(found.entrants))],
        matches=[_fixture(found, one, waits.get(one.match.match_id)) for one in found.fixtures],
        standings=[StandingAnswer(**line) for line in told["standings"]],
        interventions=[_intervention(one) for one in found.interventions],
        **without_none(others),
        **({} if reason is None else reason.told),
    )


def _intervention(one: InterventionRow) -> InterventionAnswer:
    told = {"match": one.match_id, "entrant": one.entrant, "player": one.player, "reason": one.reason or None}
    return InterventionAnswer(kind=one.kind, by=one.made_by, at=one.at_ms, **without_none(told))


def _entrant(found: StoredTournament, place: int) -> EntrantAnswer:
    one = found.entrants[place]
    told: dict[str, Any] = {
        "name": one.name,
        "player": one.player,
        "entered_by": one.entered_by,
        "since_round": one.since_round,
    }
    return EntrantAnswer(**without_none(told | {"withdrawn_after": one.withdrawn_after}))


def _fixture(found: StoredTournament, one: FixtureRow, reason: WaitReason | None) -> FixtureAnswer:
    match, annulment, played = one.match, found.annulments.get(one.match.match_id), played_of(one)
    told: dict[str, Any] = {"match": match.match_id, "round": match.round, "players": list(match.players)}
    told["status"] = one.status or "scheduled"
    if not found.row.hides_games:
        told["game"] = match.game
    if played is not None:
        told["goals"] = list(counted_goals(played.result, found.row.terms.scoring))
    if reason is not None:
        told |= reason.told
    if one.forfeited:
        told["forfeited"] = list(one.forfeited)
    if annulment is not None:
        told |= {"annulled": annulment.reason, "replayed": annulment.is_replayed}
    return FixtureAnswer(**told)
