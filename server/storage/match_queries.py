"""Queries for matches: pages of them, newest first, and what the public may know of each, as conditions."""

from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa

from server.storage.rows import LIVE_STATUSES, RANDOM, MatchRow, MatchStatus, SeatKind
from server.storage.schema import annulments, fixtures, matches, seats, tournaments
from server.storage.tournament_rows import ONGOING_STATUSES


def _set_is_open() -> sa.ColumnElement[bool]:
    """Return whether a match is hidden, and another one with the same seeds is still to be played.

    One of its set that broke off, be it this one, is played again unless its tournament has done otherwise.
    """
    own, leg, other = fixtures.alias("own"), fixtures.alias("leg"), matches.alias("other")
    joined = own.join(tournaments, tournaments.c.name == own.c.tournament).join(leg, leg.c.set_id == own.c.set_id)
    joined = joined.outerjoin(other, other.c.id == leg.c.match_id)
    joined = joined.outerjoin(annulments, annulments.c.match_id == leg.c.match_id)
    is_to_be_played = sa.and_(
        leg.c.match_id != own.c.match_id, sa.or_(other.c.status.is_(None), other.c.status.in_(LIVE_STATUSES))
    )
    found = sa.exists().select_from(joined).where(
        own.c.match_id == matches.c.id,
        tournaments.c.status.in_(ONGOING_STATUSES),
        leg.c.forfeited.is_(None),
        annulments.c.match_id.is_(None),
        sa.or_(is_to_be_played, other.c.status.in_((MatchStatus.ABORTED, MatchStatus.FAILED))),
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
IS_WITHHELD: Final = sa.and_(matches.c.status.not_in(LIVE_STATUSES), _IS_SET_OPEN)
"""Whether a match is over, and its set is not, so that the public may not know all of it yet."""
_SAYS_SCRAMBLE: Final = sa.cast(matches.c.order, sa.Text).contains('"scramble": true', autoescape=True)
IS_NAMED: Final = sa.or_(IS_OPEN, sa.not_(_SAYS_SCRAMBLE))
"""Whether the public may know the game of a match: what `server.visibility` says of it, as a condition."""


def holder_query(match_id: str) -> sa.Select[tuple[str | None, str]]:
    """Return the query for the holder of a match and its status."""
    return sa.select(matches.c.holder, matches.c.status).where(matches.c.id == match_id)


@dataclass(frozen=True, slots=True)
class MatchFilter:
    """What matches must be to be listed; None leaves it open.

    Attributes:
        is_public: leaves out the matches of which not everybody may know the game and the players yet.
        has_begun: leaves out the matches that wait, and those that ended before they began.
    """

    status: str | None = None
    game: str | None = None
    player: str | None = None
    tournament: str | None = None
    is_public: bool = False
    has_begun: bool = False


ALL_MATCHES: Final = MatchFilter()


def page_query(wanted: MatchFilter, before: tuple[int, str] | None, limit: int) -> sa.Select[MatchRow]:
    """Return the query for up to *limit* matches that were created before the one made at that time with that id."""
    # A player has many matches that are over, found by their seats; those that wait or are played are few altogether.
    source = seats if wanted.player is not None and wanted.status not in LIVE_STATUSES else matches
    place = (seats.c.created_ms, seats.c.match_id) if source is seats else (matches.c.created_ms, matches.c.id)
    query = MATCH_ROWS.where(*_conditions(wanted, source))
    if before is not None:
        query = query.where(sa.tuple_(*place) < sa.tuple_(*map(sa.literal, before)))
    if wanted.player is not None and source is seats:
        # A player that has several seats of a match is listed once.
        is_second = has_seat(seats.c.match_id, wanted.player, seats.c.position)
        query = query.select_from(seats.join(matches)).where(~is_second)
    elif wanted.player is not None:
        query = query.where(has_seat(matches.c.id, wanted.player))
    return query.order_by(*(column.desc() for column in place)).limit(limit)


def _conditions(wanted: MatchFilter, source: sa.Table) -> list[sa.ColumnElement[bool]]:
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
    if wanted.has_begun:
        found.append(matches.c.started_ms.is_not(None))
    return found


def _is_player(source: sa.Table, player: str | None) -> sa.ColumnElement[bool]:
    """Return whether *player* has the seat: `random` is ours, not chance, which is called so, too."""
    is_named = source.c.player == player
    return sa.and_(is_named, source.c.kind != SeatKind.CHANCE) if player == RANDOM else is_named


def has_seat(
    match_id: sa.ColumnElement[str], name: str, before: sa.ColumnElement[int] | None = None
) -> sa.ColumnElement[bool]:
    """Return whether a player has a seat of a match, or one *before* a position; chance has none.

    The few seats of a match are looked through; by the name of the player, which adding nothing keeps from the
    planner, it would be all of that player's.
    """
    seat = seats.alias()
    is_seat = sa.and_(seat.c.match_id == match_id, seat.c.player.concat("") == name, seat.c.kind != SeatKind.CHANCE)
    return sa.exists().where(is_seat if before is None else sa.and_(is_seat, seat.c.position < before))
