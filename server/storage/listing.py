"""The query for a page of matches, newest first, that reads no more rows than the page has, however many there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa

from server.storage.rows import QUEUED, RUNNING, MatchRow
from server.storage.schema import matches, seats

LIVE: Final = (QUEUED, RUNNING)
IS_OPEN: Final = sa.or_(matches.c.status.not_in(LIVE), sa.not_(matches.c.is_hidden))
"""Whether anybody may know the game and the players of a match."""


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
    source = seats if wanted.player is not None and wanted.status not in LIVE else matches
    place = (seats.c.created_ms, seats.c.match_id) if source is seats else (matches.c.created_ms, matches.c.id)
    query = sa.select(matches).where(*_conditions(wanted, source))
    if before is not None:
        query = query.where(sa.tuple_(*place) < sa.tuple_(*map(sa.literal, before)))
    if source is seats:
        query = query.select_from(seats.join(matches)).where(~_sits(wanted.player, seats.c.match_id, before=True))
    elif wanted.player is not None:
        query = query.where(_sits(wanted.player, matches.c.id))
    return query.order_by(*(column.desc() for column in place)).limit(limit)


def _conditions(wanted: Filter, source: sa.Table) -> list[sa.ColumnElement[bool]]:
    found = [
        matches.c[name] == value for name in ("status", "tournament") if (value := getattr(wanted, name)) is not None
    ]
    if wanted.game is not None:
        found.append(source.c.game == wanted.game)
    if source is seats:
        found.append(seats.c.player == wanted.player)
    if wanted.is_public:
        found.append(IS_OPEN)
    return found


def _sits(player: str | None, match_id: sa.ColumnElement[str], *, before: bool = False) -> sa.ColumnElement[bool]:
    """Return whether *player* sits in a match, or *before* the seat in question: somebody who has both is listed once.

    The few seats of a match are looked through; by the name of the player, which adding nothing keeps from the
    planner, it would be all of that player's.
    """
    other = seats.alias()
    condition = sa.exists().where(other.c.match_id == match_id, other.c.player.concat("") == player)
    if before:
        condition = condition.where(other.c.position < seats.c.position)
    return condition.correlate(seats, matches)
