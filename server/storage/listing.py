"""The query for a page of matches, newest first, that reads no more rows than the page has, however many there are."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from server.storage.rows import QUEUED, RUNNING, MatchRow
from server.storage.schema import matches, seats


@dataclass(frozen=True, slots=True)
class Filter:
    """What matches must be to be listed; None leaves it open."""

    status: str | None = None
    game: str | None = None
    player: str | None = None
    tournament: str | None = None


def listing(wanted: Filter, before: tuple[int, str] | None, limit: int) -> sa.Select[MatchRow]:
    """Return the query for up to *limit* matches that were created before the one made at that time with that id."""
    source = seats if wanted.player is not None and wanted.status not in (QUEUED, RUNNING) else matches
    place = (seats.c.created_ms, seats.c.match_id) if source is seats else (matches.c.created_ms, matches.c.id)
    query = sa.select(matches).where(*_conditions(wanted)).order_by(*(column.desc() for column in place)).limit(limit)
    if before is not None:
        query = query.where(sa.tuple_(*place) < sa.tuple_(*map(sa.literal, before)))
    if source is seats:
        return query.select_from(seats.join(matches)).where(seats.c.player == wanted.player, _is_first_seat())
    if wanted.player is not None:  # few matches wait or are played, so they are looked through
        sitting = sa.exists().where(seats.c.match_id == matches.c.id, seats.c.player == wanted.player)
        query = query.where(sitting.correlate(matches))
    return query


def _conditions(wanted: Filter) -> list[sa.ColumnElement[bool]]:
    named = {"status": wanted.status, "game": wanted.game, "tournament": wanted.tournament}
    return [matches.c[name] == value for name, value in named.items() if value is not None]


def _is_first_seat() -> sa.ColumnElement[bool]:
    """Return a condition that lists a match once where somebody plays against themselves."""
    other = seats.alias()
    earlier = sa.exists().where(
        other.c.match_id == seats.c.match_id, other.c.player == seats.c.player, other.c.position < seats.c.position
    )
    return ~earlier.correlate(seats)
