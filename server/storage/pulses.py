"""What has changed of a tournament, in a few numbers that are read often: its revision, and what its matches are at."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import sqlalchemy as sa

from server.storage.database import Database
from server.storage.rows import ENDED, LIVE, MatchStatus
from server.storage.schema import fixtures, matches, tournaments


@dataclass(frozen=True, slots=True)
class LiveMatch:
    """A match of a tournament that waits or is played, and the number of its last step."""

    match_id: str
    status: str
    n_steps: int


@dataclass(frozen=True, slots=True)
class Pulse:
    """How far a tournament is: its revision, how many of its matches are over, and those that are live."""

    revision: int
    n_over: int
    live: tuple[LiveMatch, ...]

    @property
    def shape(self) -> str:
        """A word that is another one when anything but the steps of matches has changed."""
        parts = (self.revision, self.n_over, [(one.match_id, one.status) for one in self.live])
        return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()

    @property
    def steps(self) -> dict[str, int]:
        """The number of the last step of each match that is played, by its id, in the order of the schedule."""
        return {one.match_id: one.n_steps for one in self.live if one.status == MatchStatus.RUNNING}


class PulseStore:
    """The pulses of the tournaments of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, name: str) -> Pulse | None:
        """Return the pulse of the tournament *name*; None where there is none of that name."""
        joined = fixtures.join(matches, matches.c.id == fixtures.c.match_id)
        counting = sa.select(sa.func.count()).select_from(joined)
        counting = counting.where(fixtures.c.tournament == name, matches.c.status.in_(ENDED))
        listing = sa.select(matches.c.id, matches.c.status, matches.c.n_steps).select_from(joined)
        listing = listing.where(fixtures.c.tournament == name, matches.c.status.in_(LIVE))
        async with self._database.reading() as connection:
            revision = await connection.scalar(sa.select(tournaments.c.revision).where(tournaments.c.name == name))
            if revision is None:
                return None
            # What is read later may be newer: a change that is missed here is seen by the next look.
            n_over = await connection.scalar(counting)
            live = (await connection.execute(listing.order_by(fixtures.c.position))).all()
        return Pulse(revision, n_over or 0, tuple(LiveMatch(*row) for row in live))
