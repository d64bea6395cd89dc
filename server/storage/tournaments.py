"""The tournaments: who entered, what was scheduled and ordered, what came of it, and what was annulled.

Every change is one transaction that begins from a revision of the tournament, and is refused where another one came
first: so that of two managers that schedule the same matches, one does.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from server.clock import now_ms
from server.refusals import RequestError
from server.storage import rows, tournament_rows
from server.storage.database import Database, insert, upsert
from server.storage.errors import DamagedRowError
from server.storage.integrity import Found, each_sound, sound
from server.storage.match_queries import MATCH_ROWS
from server.storage.matches import abort_matches, add_match, match_row
from server.storage.schema import annulments, entrants, fixtures, interventions, matches, seats, tournaments
from server.tournament.fixtures import ScheduledMatch

_OF_MATCH: Final = (
    matches.c.status, matches.c.ended_ms, matches.c.n_steps, matches.c.abort_reason, matches.c.created_ms,
)  # fmt: skip
_SEAT: Final = [seats.c[name] for name in rows.SeatRow.__slots__]
_INTERVENTION: Final = [interventions.c[name] for name in ("position", *tournament_rows.InterventionRow.__slots__)]


@dataclass(frozen=True, slots=True)
class StoredTournament:
    """A tournament as the database holds it."""

    row: tournament_rows.TournamentRow
    entrants: tuple[tournament_rows.EntrantRow, ...]
    fixtures: tuple[tournament_rows.FixtureRow, ...] = ()
    annulments: Mapping[str, tournament_rows.AnnulmentRow] = field(default_factory=dict)
    interventions: tuple[tournament_rows.InterventionRow, ...] = ()


@dataclass(frozen=True, slots=True)
class TournamentChange:
    """What one transaction changes of a tournament.

    Attributes:
        values: of its row.
        entrants: new ones, or changed ones.
        left: the names of entrants that are forgotten.
        scheduled: matches that are scheduled now.
        ordered: matches that are ordered now, with their seats.
        forfeits: by the id of a match, the entrants that have lost it by their absence.
        annulled: matches that do not count any more.
        aborted: by the id of a match that is ended, why.
        interventions: what the host did that changes so much.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    entrants: Sequence[tournament_rows.EntrantRow] = ()
    left: Collection[str] = ()
    scheduled: Sequence[ScheduledMatch] = ()
    ordered: Sequence[tuple[rows.MatchRow, Sequence[rows.SeatRow]]] = ()
    forfeits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    annulled: Sequence[tournament_rows.AnnulmentRow] = ()
    aborted: Mapping[str, str] = field(default_factory=dict)
    interventions: Sequence[tournament_rows.InterventionRow] = ()


@dataclass(frozen=True, slots=True)
class _FoundRows:
    """All rows that belong to a tournament, as they were found; `seats` are those of matches that were completed."""

    row: Found
    annulments: Sequence[Found]
    fixtures: Sequence[Found]
    seats: Sequence[Found]
    entrants: Sequence[Found]
    interventions: Sequence[Found]


def _changes() -> sa.Select[Any]:
    is_over = sa.case((matches.c.status.in_(rows.ENDED_STATUSES), 1), else_=0)
    joined = tournaments.outerjoin(fixtures, fixtures.c.tournament == tournaments.c.name)
    joined = joined.outerjoin(matches, matches.c.id == fixtures.c.match_id)
    query = sa.select(tournaments.c.name, tournaments.c.revision, sa.func.sum(is_over)).select_from(joined)
    may_start = sa.and_(
        tournaments.c.status == tournament_rows.TournamentStatus.OPEN, tournaments.c.timetable.is_not(None)
    )
    query = query.where(sa.or_(tournaments.c.status == tournament_rows.TournamentStatus.RUNNING, may_start))
    return query.group_by(tournaments.c.name, tournaments.c.revision)


_CHANGES: Final = _changes()
"""Made once: it is asked at the end of every match."""


class TournamentStore:
    """The tournaments of a database; *clock_ms* tells the time of day."""

    def __init__(self, database: Database, clock_ms: Callable[[], int] = now_ms) -> None:
        self._database, self._clock_ms = database, clock_ms

    async def add(self, row: tournament_rows.TournamentRow, entered: Sequence[tournament_rows.EntrantRow] = ()) -> bool:
        """Keep a new tournament; return False, and change nothing, where there is one of that name."""
        timetable = None if row.timetable is None else row.timetable.model_dump(mode="json", exclude_none=True)
        values = asdict(row) | {"terms": row.terms.model_dump(mode="json"), "timetable": timetable}
        async with self._database.begin() as connection:
            adding = insert(self._database, tournaments).on_conflict_do_nothing()
            if not (await connection.execute(adding, values)).rowcount:
                return False
            if entered:
                await connection.execute(
                    sa.insert(entrants), [asdict(one) | {"tournament": row.name} for one in entered]
                )
        return True

    async def page(
        self, before: str | None = None, limit: int = 50, *, is_over: bool | None = None
    ) -> tuple[list[tournament_rows.TournamentRow], str | None]:
        """Return up to *limit* tournaments, the newest first, and the name to go on from, if there are more.

        *before* is the name of the last tournament of the page before. Those that are over alone are wanted, or those
        that are not; None leaves that open. Those whose row is damaged are named in the log, and left out.

        Raises:
            RequestError: there is no tournament called *before*.
        """
        place = tournaments.c.created_ms, tournaments.c.name
        query = sa.select(tournaments).order_by(*(column.desc() for column in place)).limit(limit + 1)
        if is_over is not None:
            query = query.where(tournaments.c.ended_ms.is_not(None) if is_over else tournaments.c.ended_ms.is_(None))
        async with self._database.reading() as connection:
            if before is not None:
                created_ms = await connection.scalar(sa.select(place[0]).where(tournaments.c.name == before))
                if created_ms is None:
                    raise RequestError("unknown_tournament", f"no tournament {before[:100]!r}", status=404)
                query = query.where(sa.tuple_(*place) < sa.tuple_(sa.literal(created_ms), sa.literal(before)))
            found = (await connection.execute(query)).mappings().all()
        listed = each_sound(self._database.name, tournaments, found[:limit], self._row)
        return listed, found[limit - 1]["name"] if len(found) > limit else None

    async def changes(self) -> dict[str, tuple[int, int]]:
        """Return the revision of each tournament that runs, or may start by itself, and how many matches are over."""
        found = await self._database.read(lambda connection: connection.execute(_CHANGES).all())
        return {name: (revision, int(n_over)) for name, revision, n_over in found}

    async def live(self, name: str) -> tuple[int, int, list[rows.MatchRow]] | None:
        """Return the revision of a tournament, how many of its matches are over, and those that wait or are played.

        These are in the order of the schedule; it is None where there is no tournament *name*.
        """
        joined, is_of_it = fixtures.join(matches, matches.c.id == fixtures.c.match_id), fixtures.c.tournament == name
        counting = sa.select(sa.func.count()).select_from(joined)
        counting = counting.where(is_of_it, matches.c.status.in_(rows.ENDED_STATUSES))
        listing = MATCH_ROWS.select_from(joined).where(is_of_it, matches.c.status.in_(rows.LIVE_STATUSES))
        async with self._database.reading() as connection:
            revision = await connection.scalar(sa.select(tournaments.c.revision).where(tournaments.c.name == name))
            if revision is None:
                return None
            # What is read later may be newer: a change that is missed here is seen by the next look.
            n_over = await connection.scalar(counting)
            found = (await connection.execute(listing.order_by(fixtures.c.position))).mappings().all()
        return revision, n_over or 0, list(map(match_row, found))

    async def read(self, name: str) -> StoredTournament | None:
        """Return the tournament *name* with all that belongs to it.

        Raises:
            DamagedRowError: one of its rows is damaged.
        """
        found = await self._database.read(partial(_found_rows, name=name))
        # Thousands of rows are checked: the event loop has other work meanwhile.
        return None if found is None else await asyncio.to_thread(self._stored, found)

    def _stored(self, found: _FoundRows) -> StoredTournament:
        """Return the tournament of the rows *found*.

        Raises:
            DamagedRowError: one of them is damaged.
        """
        row = self._row(sound(self._database.name, tournaments, found.row))
        annulled = [
            tournament_rows.AnnulmentRow(**sound(self._database.name, annulments, one)) for one in found.annulments
        ]
        seat_rows: dict[str, list[rows.SeatRow]] = {}
        for one in found.seats:
            seat = rows.SeatRow(**sound(self._database.name, seats, one))
            seat_rows.setdefault(seat.match_id, []).append(seat)
        scheduled = tuple(self._fixture(one, seat_rows) for one in found.fixtures)
        entered = tuple(_entrant(sound(self._database.name, entrants, one)) for one in found.entrants)
        done = tuple(_intervention(sound(self._database.name, interventions, one)) for one in found.interventions)
        self._check(scheduled, row, entered)
        return StoredTournament(row, entered, scheduled, {one.match_id: one for one in annulled}, done)

    def _row(self, found: Found) -> tournament_rows.TournamentRow:
        """Return the tournament of a row.

        Raises:
            DamagedRowError: its terms or its games cannot be read.
        """
        try:
            from server.tournament.plan import TournamentTerms, within_bounds  # noqa: PLC0415 -- most commands read none
            from server.tournament.timetable import Timetable  # noqa: PLC0415 -- most commands read none

            terms = TournamentTerms.model_validate(within_bounds(found["terms"]))
            games = {name: tournament_rows.PinnedGame(**found["games"][name]) for name in terms.games}
            kept = found["timetable"]
            timetable = None if kept is None else Timetable.model_validate(kept)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            what = f"its terms, timetable or games cannot be read ({type(error).__name__})"
            raise DamagedRowError(self._database.name, tournaments.name, str(found["name"]), what) from error
        read = {"games": games, "terms": terms, "timetable": timetable}
        words = {
            "status": tournament_rows.TournamentStatus(found["status"]),
            "entry": tournament_rows.EntryRule(found["entry"]),
        }
        return tournament_rows.TournamentRow(**{**found, **read, **words})

    def _fixture(self, row: Found, seat_rows: Mapping[str, Sequence[rows.SeatRow]]) -> tournament_rows.FixtureRow:
        """Return a scheduled match and what has become of it.

        Raises:
            DamagedRowError: it cannot be read.
        """
        sound(self._database.name, fixtures, row)
        try:
            match = ScheduledMatch(**{**row["body"], "players": tuple(row["body"]["players"])})
            status = None if row["status"] is None else rows.MatchStatus(row["status"])
        except (LookupError, TypeError, ValueError) as error:
            what = f"it cannot be read ({type(error).__name__})"
            raise DamagedRowError(self._database.name, fixtures.name, str(row["match_id"]), what) from error
        result = row["ended_ms"], row["n_steps"] or 0, row["abort_reason"]
        sat = tuple(seat_rows.get(match.match_id, ()))
        ordered_ms = row["created_ms"] if type(row["created_ms"]) is int else None
        return tournament_rows.FixtureRow(match, tuple(row["forfeited"] or ()), status, *result, sat, ordered_ms)

    def _check(
        self,
        found: Sequence[tournament_rows.FixtureRow],
        row: tournament_rows.TournamentRow,
        entered: Sequence[tournament_rows.EntrantRow],
    ) -> None:
        """Check that the scheduled matches are between entrants, in games of the tournament.

        Raises:
            DamagedRowError: one is not, or has not as many seats as players.
        """
        names = {one.name for one in entered}
        for one in found:
            is_complete = one.status != rows.MatchStatus.COMPLETED or len(one.seats) == len(one.match.players)
            if not is_complete or one.match.game not in row.games or not names.issuperset(one.match.players):
                what = "its game or its players are not those of the tournament"
                raise DamagedRowError(self._database.name, fixtures.name, one.match.match_id, what)

    async def apply(self, row: tournament_rows.TournamentRow, change: TournamentChange) -> bool:
        """Make *change* as a whole; return False, and change nothing, where *row* is not the newest revision."""
        is_newest = sa.and_(tournaments.c.name == row.name, tournaments.c.revision == row.revision)
        advancing = sa.update(tournaments).where(is_newest).values({"revision": row.revision + 1} | dict(change.values))
        async with self._database.begin() as connection:
            if not (await connection.execute(advancing)).rowcount:
                return False
            await self._change_entrants(connection, row.name, change)
            await _add_fixtures(connection, row.name, change.scheduled)
            for match, seat_rows in change.ordered:
                await connection.run_sync(add_match, match, seat_rows)
            for match_id, names in change.forfeits.items():
                forfeiting = sa.update(fixtures).where(fixtures.c.match_id == match_id)
                await connection.execute(forfeiting.values(forfeited=list(names)))
            if change.annulled:
                await connection.execute(sa.insert(annulments), [asdict(one) for one in change.annulled])
            await _add_interventions(connection, row.name, change.interventions)
            if change.aborted:
                await connection.run_sync(abort_matches, change.aborted, self._clock_ms())
        return True

    async def _change_entrants(self, connection: AsyncConnection, name: str, change: TournamentChange) -> None:
        for one in change.entrants:
            await connection.execute(upsert(self._database, entrants), asdict(one) | {"tournament": name})
        if change.left:
            leaving = sa.delete(entrants).where(entrants.c.tournament == name, entrants.c.name.in_(change.left))
            await connection.execute(leaving)


def _found_rows(connection: sa.Connection, name: str) -> _FoundRows | None:
    """Return the rows of the tournament *name*; None where there is none."""
    row = connection.execute(sa.select(tournaments).where(tournaments.c.name == name)).mappings().first()
    if row is None:
        return None

    def found(query: sa.Select[Any], table: sa.Table, *order: sa.Column[Any]) -> Sequence[Found]:
        return connection.execute(query.where(table.c.tournament == name).order_by(*order)).mappings().all()

    of_seats = fixtures.join(matches, matches.c.id == fixtures.c.match_id).join(seats, seats.c.match_id == matches.c.id)
    sat = sa.and_(matches.c.status == rows.MatchStatus.COMPLETED, seats.c.kind != rows.SeatKind.CHANCE)
    of_annulments = annulments.join(fixtures, fixtures.c.match_id == annulments.c.match_id)
    of_fixtures = fixtures.outerjoin(matches, matches.c.id == fixtures.c.match_id)
    # What is read later may have become more: what names a match comes before the matches.
    return _FoundRows(
        row,
        found(sa.select(annulments).select_from(of_annulments), fixtures, annulments.c.at_ms, annulments.c.match_id),
        found(sa.select(fixtures, *_OF_MATCH).select_from(of_fixtures), fixtures, fixtures.c.position),
        found(sa.select(*_SEAT).select_from(of_seats).where(sat), fixtures, seats.c.match_id, seats.c.position),
        found(sa.select(entrants), entrants, entrants.c.position, entrants.c.name),
        found(sa.select(*_INTERVENTION), interventions, interventions.c.position),
    )


def _entrant(found: Found) -> tournament_rows.EntrantRow:
    return tournament_rows.EntrantRow(**{name: found[name] for name in tournament_rows.EntrantRow.__slots__})


def _intervention(found: Found) -> tournament_rows.InterventionRow:
    kept = {name: found[name] for name in tournament_rows.InterventionRow.__slots__}
    return tournament_rows.InterventionRow(**kept | {"kind": tournament_rows.InterventionKind(found["kind"])})


async def _add_interventions(
    connection: AsyncConnection, name: str, done: Sequence[tournament_rows.InterventionRow]
) -> None:
    if done:
        last = sa.select(sa.func.max(interventions.c.position)).where(interventions.c.tournament == name)
        first = 1 + (await connection.scalar(last) or 0)
        values = [asdict(one) | {"tournament": name, "position": place} for place, one in enumerate(done, first)]
        await connection.execute(sa.insert(interventions), values)


async def _add_fixtures(connection: AsyncConnection, name: str, scheduled: Sequence[ScheduledMatch]) -> None:
    if not scheduled:
        return
    last = sa.select(sa.func.max(fixtures.c.position)).where(fixtures.c.tournament == name)
    first = 1 + (await connection.scalar(last) or 0)
    values = [
        {
            "match_id": match.match_id,
            "tournament": name,
            "position": place,
            "set_id": match.set_id,
            "body": asdict(match),
        }
        for place, match in enumerate(scheduled, first)
    ]
    await connection.execute(sa.insert(fixtures), values)
