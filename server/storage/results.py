"""Results of completed matches between programs, which ratings come from."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any, Final

import sqlalchemy as sa

from server.storage.database import Database
from server.storage.match_queries import IS_NAMED, has_seat
from server.storage.rows import MatchPurpose, MatchStatus, RatedResult, SeatKind
from server.storage.schema import annulments, fixtures, matches, players, seats, tournaments
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


def rated_results(found: Iterable[RatedResult]) -> list[MatchResult]:
    """Return the results *found* as ratings read them, without those that tell nothing of strength."""
    return [result for each in found if (result := each.rated) is not None]


class ResultStore:
    """The results in a database: of completed matches in which programs alone had seats.

    Annulled and forfeited ones are left out, and those of which the public may not know the game yet.
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
        of_match = chosen.c.id, chosen.c.game, chosen.c.ended_ms, chosen.c.purpose, fixtures.c.tournament
        joined = chosen.join(seats, seats.c.match_id == chosen.c.id)
        joined = joined.outerjoin(fixtures, fixtures.c.match_id == chosen.c.id)
        query = sa.select(*of_match, *of_seat).select_from(joined).where(seats.c.kind != SeatKind.CHANCE)
        query = query.order_by(chosen.c.ended_ms, chosen.c.id, seats.c.position)
        rows, limits = await self._database.read(partial(_with_limits, query=query))
        # Ten thousand results take long to make.
        return await asyncio.to_thread(_results, rows, limits)

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


def _with_limits(connection: sa.Connection, query: sa.Select[Any]) -> tuple[Sequence[Any], dict[str, int]]:
    """Return the rows of *query*, and how many errors lose a match in the tournaments that they name."""
    rows = connection.execute(query).all()
    names = {row.tournament for row in rows} - {None}
    terms = sa.select(tournaments.c.name, tournaments.c.terms).where(tournaments.c.name.in_(names))
    limits = {name: _forfeit_errors(told) for name, told in connection.execute(terms)} if names else {}
    return rows, {name: limit for name, limit in limits.items() if limit is not None}


def _forfeit_errors(terms: Any) -> int | None:
    """Return how many errors lose a match by the *terms* of its tournament; None where they, or a disk, say none."""
    found = terms.get("forfeit_errors") if isinstance(terms, dict) else None
    return found if type(found) is int and found >= 1 else None


def _results(rows: Iterable[Any], limits: Mapping[str, int]) -> list[RatedResult]:
    """Return the results that *rows* hold, a row for each seat; without those that are damaged.

    *limits* say how many errors lose a match, by tournament.
    """
    found = (list(of_match) for _, of_match in groupby(rows, key=lambda row: row.id))
    return [_result(of_match, limits) for of_match in found if all(_is_sound(row) for row in of_match)]


def matches_with_results(game: str | None, names: Sequence[str]) -> sa.Select[Any]:
    """Return the query for the matches whose results are wanted, the latest first."""
    others = seats.alias()
    is_other = sa.and_(others.c.match_id == matches.c.id, others.c.kind.not_in((*_RATED, SeatKind.CHANCE)))
    query = sa.select(matches.c.id, matches.c.game, matches.c.ended_ms, matches.c.purpose)
    query = query.where(
        matches.c.status == MatchStatus.COMPLETED,
        ~sa.exists().where(is_other),
        matches.c.id.not_in(sa.select(annulments.c.match_id)),
        ~sa.exists().where(fixtures.c.match_id == matches.c.id, fixtures.c.forfeited.is_not(None)),
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


def _result(of_match: Sequence[Any], limits: Mapping[str, int]) -> RatedResult:
    first = of_match[0]
    columns = zip(*((row.player, row.goal, row.n_errors, row.version) for row in of_match), strict=True)
    names, goals, errors, versions = columns
    purpose = MatchPurpose(first.purpose) if first.purpose in tuple(MatchPurpose) else None
    told = versions if any(version is not None for version in versions) else ()
    result = MatchResult(first.game, names, goals, errors, first.id)
    limit = limits.get(first.tournament)
    return RatedResult(result, first.ended_ms, told, purpose, forfeit_errors=limit)
