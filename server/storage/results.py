"""Results of completed matches between programs, which ratings come from."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final

import sqlalchemy as sa

from server.storage.database import Database
from server.storage.listing import IS_NAMED, has_seat
from server.storage.rows import MatchPurpose, MatchStatus, RatedResult, SeatKind
from server.storage.schema import annulments, matches, players, seats
from server.tournament.fixtures import MatchResult

MOST_RESULTS: Final = 10_000
"""How many results are read, the latest."""
_RATED: Final = (SeatKind.OWN, SeatKind.HTTP, SeatKind.DIAL_IN, SeatKind.COMMAND)
"""The kinds of seats whose players are rated: a person is not the same from match to match."""


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
    """The results in a database: of completed matches in which programs alone had seats.

    Annulled ones are left out, and those of which the public may not know the game yet.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def latest(
        self, game: str | None = None, players: Sequence[str] = (), limit: int = MOST_RESULTS, since_ms: int = 0
    ) -> list[RatedResult]:
        """Return the latest results, the oldest first: of *game* if it is named, in which all *players* had seats.

        Those of matches that ended before *since_ms* are left out.
        """
        wanted = matches_with_results(game, players)
        wanted = wanted.where(matches.c.ended_ms >= since_ms) if since_ms else wanted
        chosen = wanted.limit(limit).subquery()
        of_seat = seats.c.player, seats.c.goal, seats.c.n_errors, seats.c.version
        query = sa.select(chosen.c.id, chosen.c.game, chosen.c.ended_ms, chosen.c.purpose, *of_seat)
        query = query.select_from(chosen.join(seats, seats.c.match_id == chosen.c.id))
        query = query.where(seats.c.kind != SeatKind.CHANCE)
        query = query.order_by(chosen.c.ended_ms, chosen.c.id, seats.c.position)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        # Ten thousand results take long to make.
        return await asyncio.to_thread(_results, rows)

    async def rated_games(self) -> list[tuple[str, int]]:
        """Return the games that have results, each with how many matches are completed; the most played first."""
        number = sa.func.count()
        query = sa.select(matches.c.game, number).where(matches.c.status == MatchStatus.COMPLETED, IS_NAMED)
        query = query.group_by(matches.c.game).order_by(number.desc(), matches.c.game)
        found = await self._database.read(lambda connection: connection.execute(query).all())
        return [(game, n) for game, n in found if game]

    async def versions(self) -> dict[str, str | None]:
        """Return the version that each registered player has now, None where it tells none."""
        query = sa.select(players.c.name, players.c.version)
        return dict(await self._database.read(lambda connection: connection.execute(query).all()))


def _results(rows: Iterable[Any]) -> list[RatedResult]:
    """Return the results that *rows* hold, a row for each seat; without those that are damaged."""
    found = (list(of_match) for _, of_match in groupby(rows, key=lambda row: row.id))
    return [_result(of_match) for of_match in found if all(_is_sound(row) for row in of_match)]


def matches_with_results(game: str | None, names: Sequence[str]) -> sa.Select[Any]:
    """Return the query for the matches whose results are wanted, the latest first."""
    others = seats.alias()
    is_other = sa.and_(others.c.match_id == matches.c.id, others.c.kind.not_in((*_RATED, SeatKind.CHANCE)))
    query = sa.select(matches.c.id, matches.c.game, matches.c.ended_ms, matches.c.purpose)
    query = query.where(
        matches.c.status == MatchStatus.COMPLETED,
        ~sa.exists().where(is_other),
        matches.c.id.not_in(sa.select(annulments.c.match_id)),
        IS_NAMED,
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
    earlier = has_seat(first.c.match_id, names[0], first.c.position)
    query = query.select_from(first.join(matches, first.c.match_id == matches.c.id)).where(
        first.c.player == names[0], first.c.kind != SeatKind.CHANCE, ~earlier
    )
    for name in names[1:]:
        query = query.where(has_seat(first.c.match_id, name))
    return query.order_by(first.c.created_ms.desc(), first.c.match_id.desc())


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
