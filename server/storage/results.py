"""The results of matches in the database, whoever ordered them, as ratings read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa

from server.storage.database import Database
from server.storage.rows import MatchPurpose, MatchStatus, SeatKind
from server.storage.schema import matches, seats
from server.tournament.results import MatchResult

_RATED: Final = (SeatKind.OWN, SeatKind.HTTP, SeatKind.DIAL_IN)


@dataclass(frozen=True, slots=True)
class VersionedResult:
    """How a match between players ended, and the version of each; `purpose` is what it was for."""

    result: MatchResult
    versions: tuple[str | None, ...]
    purpose: MatchPurpose | None = None


class ResultStore:
    """The results of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def latest(self, limit: int) -> list[VersionedResult]:
        """Return how the latest *limit* matches that are completed ended, the oldest first.

        Those in which people or programs of this machine played are left out, as are damaged ones.
        """
        last = sa.select(matches.c.id, matches.c.game, matches.c.purpose, matches.c.created_ms)
        last = last.where(matches.c.status == MatchStatus.COMPLETED)
        chosen = last.order_by(matches.c.created_ms.desc(), matches.c.id.desc()).limit(limit).subquery()
        columns = seats.c.player, seats.c.kind, seats.c.goal, seats.c.n_errors, seats.c.version
        query = sa.select(chosen.c.id, chosen.c.game, chosen.c.purpose, *columns)
        query = query.join_from(chosen, seats, seats.c.match_id == chosen.c.id).where(seats.c.kind != SeatKind.CHANCE)
        found: dict[str, list[sa.RowMapping]] = {}
        async with self._database.reading() as connection:
            ordered = query.order_by(chosen.c.created_ms, chosen.c.id, seats.c.position)
            for row in (await connection.execute(ordered)).mappings():
                found.setdefault(row["id"], []).append(row)
        return [_result(chairs) for chairs in found.values() if all(map(_is_rated, chairs))]


def _is_rated(chair: sa.RowMapping) -> bool:
    """Return whether a seat tells of the strength of a player that plays again."""
    is_known = type(chair["goal"]) is int and type(chair["n_errors"]) is int and 0 <= chair["goal"] <= 100
    return is_known and chair["kind"] in _RATED and "://" not in chair["player"]


def _result(chairs: list[sa.RowMapping]) -> VersionedResult:
    first, told = chairs[0], chairs[0]["purpose"]
    purpose = MatchPurpose(told) if told in tuple(MatchPurpose) else None
    players, goals, errors = (tuple(chair[name] for chair in chairs) for name in ("player", "goal", "n_errors"))
    result = MatchResult(first["game"], players, goals, errors, first["id"])
    return VersionedResult(result, tuple(chair["version"] for chair in chairs), purpose)
