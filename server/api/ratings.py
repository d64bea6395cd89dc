"""Ratings over HTTP: the leaderboard over all games or of one, and two players head to head."""

from typing import Annotated, Any, Final, TypeAlias

from aiohttp import web
from pydantic import Field

from server.api.operation import Ms, Name, Operations, RequestModel, ResponseModel
from server.api.player_models import RatingAnswer, rating_answer
from server.app_keys import LEADERBOARDS, MANAGER
from server.leaderboards.cache import ALL_GAMES
from server.leaderboards.encounters import Encounters, MeetingTally
from server.leaderboards.leaderboard import LeaderboardRow
from server.refusals import RequestError
from server.storage.rows import GameVersion
from server.tournament.ratings import RoleEffect

MOST_LISTED: Final = 10_000
_LISTED: Final = 200
_PlayerName: TypeAlias = Annotated[str, Field(min_length=1, max_length=500)]
operations: Final = Operations("ratings")


class LeaderboardQuery(RequestModel):
    """Which leaderboard, and how much of it."""

    game: Annotated[Name | None, Field(description="of this game alone; else over all games")] = None
    limit: Annotated[int, Field(ge=1, le=MOST_LISTED, description="how many players, the best ones")] = _LISTED


class LeaderboardEntry(ResponseModel):
    """A player on a leaderboard; one that has met no other has no `rating`.

    An older version is a player of its own; `name` is that of the player without it.
    """

    rank: int
    player: str
    name: str
    rating: RatingAnswer | None = None
    wins: int
    draws: int
    losses: int
    errors: int
    forfeits: Annotated[int, Field(description="matches that its errors lost, in tournaments where so many lose one")]
    last_ms: Ms


class RoleAnswer(ResponseModel):
    """What a seat is worth beside the mean of the game's roles, in points of Elo, with the 95 % interval."""

    role: str
    elo: float
    elo_low: float
    elo_high: float


class LeaderboardAnswer(ResponseModel):
    """The best players by the latest 10,000 matches between programs.

    `players` are how many there are altogether, `roles` what each role of the game is worth, if it is one game.
    """

    game: str | None
    matches: int
    players: int
    entries: list[LeaderboardEntry]
    roles: list[RoleAnswer]


@operations.get("/api/v1/leaderboard", errors=["unknown_game_name", "busy"])
async def read_leaderboard(request: web.Request, query: LeaderboardQuery) -> LeaderboardAnswer:
    """List the best players by the matches between programs, with their ratings; over all games, or of one."""
    version = None
    if query.game is not None:
        version = await request.app[MANAGER].games.find(query.game)
        if version is None:
            raise RequestError("unknown_game_name", f"there is no game called {query.game!r}", status=404)
    board = await request.app[LEADERBOARDS].needed(query.game or ALL_GAMES)
    return LeaderboardAnswer(
        game=query.game,
        matches=board.n_matches,
        players=len(board.rows),
        entries=[_entry(row) for row in board.rows[: query.limit]],
        roles=[] if version is None else [_role(effect, version) for effect in board.roles],
    )


def _entry(row: LeaderboardRow) -> LeaderboardEntry:
    rated = {"rating": rating_answer(row.rating)} if row.rating.n_matches else {}
    return LeaderboardEntry(
        rank=row.rank,
        player=row.rating.player,
        name=row.name,
        wins=row.outcomes.get("wins", 0),
        draws=row.outcomes.get("draws", 0),
        losses=row.outcomes.get("losses", 0),
        errors=row.n_errors,
        forfeits=row.n_forfeits,
        last_ms=row.last_ms,
        **rated,
    )


def _role(effect: RoleEffect, version: GameVersion) -> RoleAnswer:
    elo, low, high = (round(value, 1) for value in (effect.elo, effect.low, effect.high))
    return RoleAnswer(role=_role_name(effect.role, version), elo=elo, elo_low=low, elo_high=high)


def _role_name(number: int, version: GameVersion | None) -> str:
    """Return the name of a role, or its number, the first being 1, where no game has that role any more."""
    roles = () if version is None else version.played_roles
    return roles[number] if number < len(roles) else str(number + 1)


class EncountersQuery(RequestModel):
    """Which two players; their older versions count, too."""

    player: _PlayerName
    opponent: _PlayerName


class TallyAnswer(ResponseModel):
    """What the player made against the opponent, by the goals that count: those of a match that errors lost are 0."""

    matches: int
    wins: int
    draws: int
    losses: int
    mean_goal: float
    opponent_mean_goal: float


class SeatTallyAnswer(TallyAnswer):
    """What the player made against the opponent in one role of a game."""

    game: str
    role: str


class EncountersAnswer(ResponseModel):
    """The latest 2,000 matches of two players.

    `lead` is the player's rating above the opponent's by these matches alone, `superiority` how likely it is that it is
    the stronger one; neither is there where they have not met. `latest` are their last 40 matches, the newest first.
    """

    player: str
    opponent: str
    total: TallyAnswer
    lead: RatingAnswer | None = None
    superiority: float | None = None
    seats: list[SeatTallyAnswer]
    latest: list[str]


_NEVER: Final = MeetingTally(0, 0, 0, 0, 0.0, 0.0)


@operations.get("/api/v1/encounters", errors=["busy"])
async def read_encounters(request: web.Request, query: EncountersQuery) -> EncountersAnswer:
    """Compare two players by the matches in which both had a seat: altogether, and by game and role."""
    found = await request.app[LEADERBOARDS].encounters(query.player, query.opponent)
    games = request.app[MANAGER].games
    versions = {game: await games.find(game) for game in {part.game for part in found.seats}}
    seats = [
        SeatTallyAnswer(game=part.game, role=_role_name(part.role, versions[part.game]), **_tally(part.tally))
        for part in found.seats
    ]
    latest = [each.result.match_id for each in found.latest if each.result.match_id is not None]
    return EncountersAnswer(
        player=query.player,
        opponent=query.opponent,
        total=TallyAnswer(**_tally(found.total or _NEVER)),
        seats=seats,
        latest=latest,
        **_lead(found),
    )


def _tally(tally: MeetingTally) -> dict[str, Any]:
    return {
        "matches": tally.n_matches,
        "wins": tally.wins,
        "draws": tally.draws,
        "losses": tally.losses,
        "mean_goal": round(tally.mean_goal, 2),
        "opponent_mean_goal": round(tally.other_goal, 2),
    }


def _lead(found: Encounters) -> dict[str, Any]:
    if found.lead is None or found.superiority is None:
        return {}
    return {"lead": rating_answer(found.lead), "superiority": round(found.superiority, 4)}
