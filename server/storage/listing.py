"""Matches read in bounded time, each query from an index: pages, newest first, statistics, and results for ratings."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Final

import sqlalchemy as sa

from server.storage.database import Database
from server.storage.rows import LIVE_STATUSES, RANDOM, MatchPurpose, MatchRow, MatchStatus, SeatKind
from server.storage.schema import annulments, fixtures, matches, players, seats, tournaments
from server.storage.tournament_rows import TournamentStatus
from server.tournament.fixtures import MatchResult


def _set_is_open() -> sa.ColumnElement[bool]:
    """Return whether a match is hidden, and another one with the same seeds is still to be played."""
    own, leg, other = fixtures.alias("own"), fixtures.alias("leg"), matches.alias("other")
    joined = own.join(tournaments, tournaments.c.name == own.c.tournament).join(leg, leg.c.set_id == own.c.set_id)
    joined = joined.outerjoin(other, other.c.id == leg.c.match_id)
    joined = joined.outerjoin(annulments, annulments.c.match_id == leg.c.match_id)
    found = sa.exists().select_from(joined).where(
        own.c.match_id == matches.c.id,
        leg.c.match_id != own.c.match_id,
        tournaments.c.status.in_((TournamentStatus.RUNNING, TournamentStatus.PAUSED)),
        leg.c.forfeited.is_(None),
        annulments.c.match_id.is_(None),
        sa.or_(other.c.status.is_(None), other.c.status.in_(LIVE_STATUSES)),
    )  # fmt: skip
    # Most matches need no look at the others: what stands first decides.
    return sa.and_(matches.c.is_hidden, matches.c.tournament.is_not(None), found.correlate(matches))


_IS_SET_OPEN: Final = _set_is_open()
MATCH_ROWS: Final = sa.select(matches, _IS_SET_OPEN.label("is_set_open"))
"""The query for all rows of matches, each with what `MatchRow` says of it."""
IS_OPEN: Final = sa.or_(
    sa.not_(matches.c.is_hidden), sa.and_(matches.c.status.not_in(LIVE_STATUSES), sa.not_(_IS_SET_OPEN))
)
"""Whether the public may know all of a match."""
_SAYS_SCRAMBLE: Final = sa.cast(matches.c.order, sa.Text).contains('"scramble": true', autoescape=True)
IS_NAMED: Final = sa.or_(IS_OPEN, sa.not_(_SAYS_SCRAMBLE))
"""Whether the public may know the game of a match: what `server.visibility` says of it, as a condition."""
MOST_RESULTS: Final = 10_000
"""How many results are read, the latest."""
_RATED: Final = (SeatKind.OWN, SeatKind.HTTP, SeatKind.DIAL_IN, SeatKind.COMMAND)
"""The kinds of seats whose players are rated: a person is not the same from match to match."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What matches must be to be listed; None leaves it open.

    Attributes:
        is_public: leaves out the matches of which not everybody may know the game and the players yet.
    """

    status: str | None = None
    game: str | None = None
    player: str | None = None
    tournament: str | None = None
    is_public: bool = False


def listing(wanted: Filter, before: tuple[int, str] | None, limit: int) -> sa.Select[MatchRow]:
    """Return the query for up to *limit* matches that were created before the one made at that time with that id."""
    # A player has many matches that are over, found by their seats; those that wait or are played are few altogether.
    source = seats if wanted.player is not None and wanted.status not in LIVE_STATUSES else matches
    place = (seats.c.created_ms, seats.c.match_id) if source is seats else (matches.c.created_ms, matches.c.id)
    query = MATCH_ROWS.where(*_conditions(wanted, source))
    if before is not None:
        query = query.where(sa.tuple_(*place) < sa.tuple_(*map(sa.literal, before)))
    if source is seats:
        query = query.select_from(seats.join(matches)).where(~_sits(wanted.player, seats.c.match_id, before=True))
    elif wanted.player is not None:
        query = query.where(_sits(wanted.player, matches.c.id))
    return query.order_by(*(column.desc() for column in place)).limit(limit)


def _conditions(wanted: Filter, source: sa.Table) -> list[sa.ColumnElement[bool]]:
    """Return what *wanted* demands of the rows of *source*."""
    found = [
        matches.c[name] == value for name in ("status", "tournament") if (value := getattr(wanted, name)) is not None
    ]
    if wanted.game is not None:
        # A caller that asks for a game is not to learn which of the scrambled matches are of it.
        found += [source.c.game == wanted.game, IS_NAMED]
    if source is seats:
        found.append(_is_player(seats, wanted.player))
    if wanted.is_public:
        found.append(IS_OPEN)
    return found


def _is_player(source: sa.Table, player: str | None) -> sa.ColumnElement[bool]:
    """Return whether *player* has the seat: `random` is ours, not chance, which is called so, too."""
    is_named = source.c.player == player
    return sa.and_(is_named, source.c.kind != SeatKind.CHANCE) if player == RANDOM else is_named


def _sits(player: str | None, match_id: sa.ColumnElement[str], *, before: bool = False) -> sa.ColumnElement[bool]:
    """Return whether *player* sits in a match, or *before* the seat in question: a player that has both is listed once.

    The few seats of a match are looked through; by the name of the player, which adding nothing keeps from the
    planner, it would be all of that player's.
    """
    other = seats.alias()
    condition = sa.exists().where(other.c.match_id == match_id, other.c.player.concat("") == player)
    if player == RANDOM:
        condition = condition.where(other.c.kind != SeatKind.CHANCE)
    if before:
        condition = condition.where(other.c.position < seats.c.position)
    return condition.correlate(seats, matches)


@dataclass(frozen=True, slots=True)
class GameStatistics:
    """The matches of a game.

    Attributes:
        n_matches: by status, without those that are played by players who may not know the game.
        mean_steps: over the completed ones; None where there is none.
        mean_goals: over the completed ones, by role.
        goal_margins: by how much the mean of as many other matches may differ, in 95 of 100 cases; by role.
    """

    n_matches: dict[str, int]
    mean_steps: float | None
    mean_goals: dict[str, float]
    goal_margins: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlayerStatistics:
    """A player's seats in the completed matches of a game; `thinking_ms` is the time for all of its `n_moves` moves."""

    n_seats: int
    mean_goal: float
    n_errors: int
    n_moves: int
    thinking_ms: int


@dataclass(frozen=True, slots=True)
class VersionResult:
    """A registered player's seats in the completed matches of a game under one of its versions."""

    game: str
    version: str | None
    matches: int
    mean_goal: float
    errors: int


def _margin(mean: float, mean_square: float, n: int) -> float:
    """Return half the width of the interval in which the mean of *n* numbers is in 95 of 100 cases."""
    return 1.96 * math.sqrt(max(0.0, mean_square - mean * mean) / (n - 1))


class Statistics:
    """The statistics of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def by_status(self) -> dict[str, int]:
        """Return how many matches there are of each status, zero included."""
        found = await self._counts(matches.c.status)
        return {status: found.get(status, 0) for status in MatchStatus}

    async def by_game(self) -> dict[str, int]:
        """Return how many matches are over of each game that was ever played to an end."""
        return await self._counts(matches.c.game, matches.c.status.not_in(LIVE_STATUSES))

    async def of_game(self, game: str) -> GameStatistics:
        """Return how the matches of a game went."""
        is_over = matches.c.status.not_in(LIVE_STATUSES)
        over = await self._counts(matches.c.status, matches.c.game == game, is_over)
        live = await self._counts(matches.c.status, matches.c.game == game, ~is_over, IS_OPEN)
        goal = sa.cast(seats.c.goal, sa.Double)
        squares = sa.func.avg(goal * goal), sa.func.count()
        means = sa.select(seats.c.role, sa.func.avg(seats.c.goal), sa.func.avg(seats.c.n_moves), *squares)
        means = means.where(seats.c.game == game, seats.c.goal.is_not(None)).group_by(seats.c.role)
        rows = await self._database.read(lambda connection: connection.execute(means).all())
        # Everybody who has a seat is asked for a move in each step.
        mean_steps = max((float(n_moves) for _, _, n_moves, *_ in rows), default=None)
        return GameStatistics(
            {status: (over | live).get(status, 0) for status in MatchStatus},
            mean_steps,
            {role: float(mean) for role, mean, *_ in rows},
            {role: _margin(float(mean), float(square), n) for role, mean, _, square, n in rows if n > 1},
        )

    async def of_player(self, player: str) -> dict[str, PlayerStatistics]:
        """Return how a player did, by game."""
        # Whole numbers could be too large together where one of them is damaged.
        sums = (sa.func.sum(sa.cast(seats.c[name], sa.Double)) for name in ("n_errors", "n_moves", "thinking_ms"))
        query = sa.select(seats.c.game, sa.func.count(), sa.func.avg(seats.c.goal), *sums)
        query = query.where(seats.c.player == player, seats.c.goal.is_not(None))
        if player == RANDOM:  # chance is called so, too
            query = query.where(seats.c.kind != SeatKind.CHANCE)
        query = query.group_by(seats.c.game).order_by(seats.c.game)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return {game: PlayerStatistics(n, float(goal), *map(int, found)) for game, n, goal, *found in rows}

    async def by_version(self, player: str, since_ms: int = 0) -> list[VersionResult]:
        """Return how a registered player did since then, by game and version."""
        sums = sa.func.count(), sa.func.avg(seats.c.goal), sa.func.sum(sa.cast(seats.c.n_errors, sa.Double))
        query = sa.select(seats.c.game, seats.c.version, *sums).where(
            seats.c.player == player, seats.c.goal.is_not(None), seats.c.created_ms >= since_ms
        )
        order = seats.c.game, sa.func.coalesce(seats.c.version, "")  # NULL comes first on SQLite, last on PostgreSQL
        query = query.group_by(seats.c.game, seats.c.version).order_by(*order)
        async with self._database.reading() as connection:
            rows = (await connection.execute(query)).all()
        return [
            VersionResult(game, version, n, float(goal), int(n_errors)) for game, version, n, goal, n_errors in rows
        ]

    async def _counts(self, column: sa.Column[str], *conditions: sa.ColumnElement[bool]) -> dict[str, int]:
        query = sa.select(column, sa.func.count()).where(*conditions).group_by(column)
        return dict(await self._database.read(lambda connection: connection.execute(query).all()))


@dataclass(frozen=True, slots=True)
class RatedResult:
    """The result of a match between programs.

    Attributes:
        ended_ms: when it ended. *Units*: milliseconds since 1970.
        versions: the version of each player then, None where it has none; empty where no player has one.
        purpose: what the match was for, where that is kept.
        names: what the players are called without their versions, where `by_version` has added these.
    """

    result: MatchResult
    ended_ms: int
    versions: tuple[str | None, ...] = ()
    purpose: MatchPurpose | None = None
    names: tuple[str, ...] = ()


def by_version(found: Iterable[RatedResult], current: Mapping[str, str | None]) -> list[RatedResult]:
    """Return results in which an older version of a player is another player: `mine 1.0`.

    *current* has the versions that registered players have now.
    """
    return [_by_version(each, current) for each in found]


def _by_version(found: RatedResult, current: Mapping[str, str | None]) -> RatedResult:
    names = found.result.players
    told = zip(names, found.versions or (None,) * len(names), strict=True)
    called = tuple(
        name if name not in current or current[name] == version else f"{name} {version or 'before'}"
        for name, version in told
    )
    return replace(found, result=replace(found.result, players=called), names=names)


class ResultStore:
    """The results in a database: of completed matches in which programs alone had seats, without annulled ones."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def latest(
        self, game: str | None = None, players: Sequence[str] = (), limit: int = MOST_RESULTS
    ) -> list[RatedResult]:
        """Return the latest results, the oldest first: of *game* if it is named, in which all *players* had seats."""
        chosen = _chosen(game, players).limit(limit).subquery()
        of_seat = seats.c.player, seats.c.goal, seats.c.n_errors, seats.c.version
        query = sa.select(chosen.c.id, chosen.c.game, chosen.c.ended_ms, chosen.c.purpose, *of_seat)
        query = query.select_from(chosen.join(seats, seats.c.match_id == chosen.c.id))
        query = query.where(seats.c.kind != SeatKind.CHANCE)
        query = query.order_by(chosen.c.ended_ms, chosen.c.id, seats.c.position)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        found = (list(of_match) for _, of_match in groupby(rows, key=lambda row: row.id))
        return [_result(of_match) for of_match in found if all(_is_sound(row) for row in of_match)]

    async def rated_games(self) -> list[tuple[str, int]]:
        """Return the games that have results, each with how many matches are completed; the most played first."""
        number = sa.func.count()
        query = sa.select(matches.c.game, number).where(matches.c.status == MatchStatus.COMPLETED)
        query = query.group_by(matches.c.game).order_by(number.desc(), matches.c.game)
        found = await self._database.read(lambda connection: connection.execute(query).all())
        return [(game, n) for game, n in found if game]

    async def versions(self) -> dict[str, str | None]:
        """Return the version that each registered player has now, None where it tells none."""
        query = sa.select(players.c.name, players.c.version)
        return dict(await self._database.read(lambda connection: connection.execute(query).all()))


def _chosen(game: str | None, names: Sequence[str]) -> sa.Select[Any]:
    """Return the query for the matches whose results are wanted, the latest first."""
    others = seats.alias()
    is_other = sa.and_(others.c.match_id == matches.c.id, others.c.kind.not_in((*_RATED, SeatKind.CHANCE)))
    query = sa.select(matches.c.id, matches.c.game, matches.c.ended_ms, matches.c.purpose)
    query = query.where(
        matches.c.status == MatchStatus.COMPLETED,
        ~sa.exists().where(is_other),
        matches.c.id.not_in(sa.select(annulments.c.match_id)),
    )
    if game is not None:
        query = query.where(matches.c.game == game)
    if names:
        return _of_players(query, names)
    return query.order_by(matches.c.ended_ms.desc(), matches.c.id.desc())


def _of_players(query: sa.Select[Any], names: Sequence[str]) -> sa.Select[Any]:
    """Return *query* for the matches in which all *names* had seats, those that were ordered last first.

    An index has the seats of a player in that order, so that the latest are found without a look at all others.
    """
    first = seats.alias()
    earlier = _has_seat(first.c.match_id, names[0], first.c.position)
    query = query.select_from(first.join(matches, first.c.match_id == matches.c.id)).where(
        first.c.player == names[0], first.c.kind != SeatKind.CHANCE, ~earlier
    )
    for name in names[1:]:
        query = query.where(_has_seat(first.c.match_id, name))
    return query.order_by(first.c.created_ms.desc(), first.c.match_id.desc())


def _has_seat(
    match_id: sa.ColumnElement[str], name: str, before: sa.ColumnElement[int] | None = None
) -> sa.ColumnElement[bool]:
    """Return whether a player has a seat of a match, or one *before* a position: the few seats are looked through."""
    seat = seats.alias()
    # Adding nothing to the name keeps the planner from going through all seats of that player.
    is_seat = sa.and_(seat.c.match_id == match_id, seat.c.player.concat("") == name, seat.c.kind != SeatKind.CHANCE)
    return sa.exists().where(is_seat if before is None else sa.and_(is_seat, seat.c.position < before))


def _is_sound(row: Any) -> bool:
    """Return whether a seat has what a result needs; one that is damaged costs its match alone."""
    is_number = all(type(value) is int for value in (row.goal, row.n_errors, row.ended_ms))
    return is_number and isinstance(row.player, str) and isinstance(row.game, str)


def _result(of_match: Sequence[Any]) -> RatedResult:
    first = of_match[0]
    columns = zip(*((row.player, row.goal, row.n_errors, row.version) for row in of_match), strict=True)
    names, goals, errors, versions = columns
    purpose = MatchPurpose(first.purpose) if first.purpose in tuple(MatchPurpose) else None
    told = versions if any(version is not None for version in versions) else ()
    return RatedResult(MatchResult(first.game, names, goals, errors, first.id), first.ended_ms, told, purpose)
