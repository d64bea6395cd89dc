"""Tournaments in the JSON API: the order of one, and what the API shows of it."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from server.api.operation import Ms, Name, RequestModel, ResponseModel, without_none
from server.hosting.tournaments import played_of, progress_of
from server.storage.rows import EntryRule, FixtureRow, MatchStatus, TournamentRow, TournamentStatus
from server.storage.tournaments import StoredTournament
from server.tournament.plan import TournamentTerms
from server.tournament.table import summary

URL: Final = "/api/v1/tournaments"
MAX_ENTRANTS: Final = 1_000
TournamentName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,59}$")]
Reason = Annotated[Name, Field(description="is shown to everybody")]
_HAS_BEGUN: Final = (TournamentStatus.RUNNING, TournamentStatus.PAUSED, TournamentStatus.OVER)


class EntryText(RequestModel):
    """Who enters a tournament: a registered player or, for a host, one of the server's own."""

    player: Name
    name: Annotated[Name, Field(description="in the tournament; else that of the player")] | None = None


def _entry(value: object) -> object:
    return {"player": value} if isinstance(value, str) else value


class NewTournament(TournamentTerms):
    """The body of POST /api/v1/tournaments: the keys of a plan in camel case. *Units*: seconds."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True)

    name: TournamentName
    entry: EntryRule = EntryRule.OPEN
    players: tuple[Annotated[EntryText, BeforeValidator(_entry)], ...] = Field((), max_length=MAX_ENTRANTS)

    @property
    def terms(self) -> TournamentTerms:
        """What is agreed, without name and entrants."""
        return TournamentTerms.model_validate(self.model_dump(exclude={"name", "entry", "players"}))


class ReasonText(RequestModel):
    """Why something is done with a tournament."""

    reason: Reason


class AnnulmentText(ReasonText):
    """Why a match does not count, and whether it is played again."""

    replay: bool = False


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
    reason: Annotated[str | None, Field(description="why it is paused or cancelled")] = None


class TournamentsAnswer(ResponseModel):
    """Tournaments, the latest first."""

    tournaments: list[TournamentLine]


class EntrantAnswer(ResponseModel):
    """An entrant, with the first round in which it can play, and the last one if it has withdrawn."""

    name: str
    player: str
    entered_by: str
    since_round: int
    withdrawn_after: int | None = None


class FixtureAnswer(ResponseModel):
    """A match of a tournament; `goals` are those that count there, `annulled` says why it does not count."""

    match: str
    round: int
    players: list[str]
    status: Annotated[str, Field(description="that of the match; `scheduled` before it is ordered")]
    game: Annotated[str | None, Field(description="left out before the end where names are scrambled")] = None
    goals: list[int] | None = None
    forfeited: list[str] | None = None
    annulled: str | None = None
    replayed: bool | None = None


class StandingAnswer(ResponseModel):
    """A row of the standings, as `ggp tournament --json` prints it."""

    model_config = ConfigDict(extra="allow")

    rank: int
    player: str
    score: float


class TournamentAnswer(TournamentLine):
    """A tournament: what was agreed, its standings, and its matches by the order of the schedule."""

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
    others = {"started": row.started_ms, "ended": row.ended_ms, "reason": row.reason or None}
    return found | {name: value for name, value in others.items() if value is not None}


def tournament_line(row: TournamentRow) -> TournamentLine:
    """Return a tournament as lists show it."""
    return TournamentLine(**_line(row))


def tournament_answer(found: StoredTournament) -> TournamentAnswer:
    """Return all that everybody may know of a tournament."""
    row = found.row
    is_secret = row.terms.scramble and row.status not in (TournamentStatus.OVER, TournamentStatus.CANCELLED)
    terms = row.terms.model_dump(mode="json", exclude={"seed"} | ({"games"} if is_secret else set()))
    told = summary(progress_of(found)) if found.entrants and row.status in _HAS_BEGUN else {"standings": []}
    sprt = {} if told.get("sprt") is None else {"sprt": told["sprt"]}
    return TournamentAnswer(
        **_line(row),
        terms={to_camel(name): value for name, value in terms.items() if value is not None},
        entrants=[_entrant(found, place) for place in range(len(found.entrants))],
        matches=[_fixture(found, one) for one in found.fixtures],
        standings=[StandingAnswer(**line) for line in told["standings"]],
        **sprt,
    )


def _entrant(found: StoredTournament, place: int) -> EntrantAnswer:
    one = found.entrants[place]
    told: dict[str, Any] = {
        "name": one.name,
        "player": one.player,
        "entered_by": one.entered_by,
        "since_round": one.since_round,
    }
    return EntrantAnswer(**without_none(told | {"withdrawn_after": one.withdrawn_after}))


def _fixture(found: StoredTournament, one: FixtureRow) -> FixtureAnswer:
    match, annulment, played = one.match, found.annulments.get(one.match.match_id), played_of(one)
    told: dict[str, Any] = {"match": match.match_id, "round": match.round, "players": list(match.players)}
    told["status"] = one.status or "scheduled"
    if not found.row.terms.scramble or one.status == MatchStatus.COMPLETED:
        told["game"] = match.game
    if played is not None:
        told["goals"] = list(played.result.goals)
    if one.forfeited:
        told["forfeited"] = list(one.forfeited)
    if annulment is not None:
        told |= {"annulled": annulment.reason, "replayed": annulment.is_replayed}
    return FixtureAnswer(**told)
