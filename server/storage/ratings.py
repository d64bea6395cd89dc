"""The results of matches that are over, as ratings read them: the latest of all, of a game, of one or two players."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

import sqlalchemy as sa

from server.storage.database import Database
from server.storage.rows import MatchStatus, SeatKind
from server.storage.schema import annulments, matches, seats
from server.tournament.results import MatchResult

MOST_RESULTS: Final = 10_000
"""How many results are read, the latest."""
_RATED: Final = (SeatKind.OWN, SeatKind.HTTP, SeatKind.DIAL_IN, SeatKind.COMMAND)
"""The kinds of seats whose players are rated: a person is not the same from match to match."""


@dataclass(frozen=True, slots=True)
class RatedResult:
    """The result of a match between programs, and when it ended. *Units*: milliseconds."""

    result: MatchResult
    ended_ms: int


class ResultStore:
    """The results in a database: of completed matches in which programs alone had seats, without annulled ones."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def latest(
        self, game: str | None = None, players: Sequence[str] = (), limit: int = MOST_RESULTS
    ) -> list[RatedResult]:
        """Return the latest results, the oldest first: of *game* if it is named, in which all *players* had seats."""
        chosen = _chosen(game, players).limit(limit).subquery()
        query = sa.select(
            chosen.c.id, chosen.c.game, chosen.c.ended_ms, seats.c.player, seats.c.goal, seats.c.n_errors
        ).select_from(chosen.join(seats, seats.c.match_id == chosen.c.id))
        query = query.where(seats.c.kind != SeatKind.CHANCE)
        query = query.order_by(chosen.c.ended_ms, chosen.c.id, seats.c.position)
        async with self._database.reading() as connection:
            rows = (await connection.execute(query)).all()
        found = (list(of_match) for _, of_match in groupby(rows, key=lambda row: row.id))
        return [_result(of_match) for of_match in found if all(_is_sound(row) for row in of_match)]

    async def rated_games(self) -> list[tuple[str, int]]:
        """Return the games that have results, each with how many matches are completed; the most played first."""
        number = sa.func.count()
        query = sa.select(matches.c.game, number).where(matches.c.status == MatchStatus.COMPLETED)
        query = query.group_by(matches.c.game).order_by(number.desc(), matches.c.game)
        async with self._database.reading() as connection:
            return [(game, n) for game, n in (await connection.execute(query)).all() if game]


def _chosen(game: str | None, players: Sequence[str]) -> sa.Select[Any]:
    """Return the query for the matches whose results are wanted, the latest first."""
    others = seats.alias()
    is_other = sa.and_(others.c.match_id == matches.c.id, others.c.kind.not_in((*_RATED, SeatKind.CHANCE)))
    query = sa.select(matches.c.id, matches.c.game, matches.c.ended_ms)
    query = query.where(
        matches.c.status == MatchStatus.COMPLETED,
        ~sa.exists().where(is_other),
        matches.c.id.not_in(sa.select(annulments.c.match_id)),
    )
    if game is not None:
        query = query.where(matches.c.game == game)
    for player in players:
        seat = seats.alias()
        has_seat = sa.and_(seat.c.player == player, seat.c.kind != SeatKind.CHANCE)
        query = query.where(matches.c.id.in_(sa.select(seat.c.match_id).where(has_seat)))
    return query.order_by(matches.c.ended_ms.desc(), matches.c.id.desc())


def _is_sound(row: Any) -> bool:
    """Return whether a seat has what a result needs; one that is damaged costs its match alone."""
    is_number = all(type(value) is int for value in (row.goal, row.n_errors, row.ended_ms))
    return is_number and isinstance(row.player, str) and isinstance(row.game, str)


def _result(of_match: Sequence[Any]) -> RatedResult:
    first = of_match[0]
    players = tuple(row.player for row in of_match)
    goals, errors = tuple(row.goal for row in of_match), tuple(row.n_errors for row in of_match)
    return RatedResult(MatchResult(first.game, players, goals, errors, first.id), first.ended_ms)
