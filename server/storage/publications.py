"""Which matches the spectator server has not got to their end yet, whichever process began to publish them."""

from collections.abc import Callable, Collection
from typing import Final

import sqlalchemy as sa

from server.clock import now_ms
from server.storage.database import Database, insert
from server.storage.match_queries import IS_WITHHELD
from server.storage.rows import LIVE_STATUSES
from server.storage.schema import matches, publications

PAUSE_MS: Final = 600_000
"""How long after a claim nothing else claims the same match. *Units*: milliseconds."""
MAX_CLAIMS: Final = 144
"""After how many claims a match is given up: those of a day."""
_N_AT_ONCE: Final = 50
_IS_PUBLIC: Final = sa.and_(matches.c.status.not_in(LIVE_STATUSES), sa.not_(IS_WITHHELD))
_PUBLIC_IDS: Final = (
    sa.select(publications.c.match_id)
    .join_from(publications, matches, matches.c.id == publications.c.match_id)
    .where(_IS_PUBLIC, publications.c.n_claims < MAX_CLAIMS)
    .order_by(publications.c.claimed_ms, publications.c.match_id)
    .limit(_N_AT_ONCE)
)


class PublicationStore:
    """The publications of a database that have not come to their end; *clock_ms* tells the time of day of a claim."""

    def __init__(self, database: Database, clock_ms: Callable[[], int] = now_ms) -> None:
        self._database, self._clock_ms = database, clock_ms

    async def begin(self, match_ids: Collection[str]) -> None:
        """Note that the matches are to be published to their end."""
        if match_ids:
            adding = insert(self._database, publications).on_conflict_do_nothing()
            values = [{"match_id": match_id, "claimed_ms": 0, "n_claims": 0} for match_id in match_ids]
            await self._database.change(adding.values(values))

    async def end(self, match_id: str) -> None:
        """Note that the match is published to its end."""
        await self._database.change(sa.delete(publications).where(publications.c.match_id == match_id))

    async def claim(self) -> list[str]:
        """Return matches that are over and public, and not published to their end, those that wait longest first.

        For some minutes no process claims them again, and after a day of claims none does.
        """
        time_ms = self._clock_ms()
        chosen = _PUBLIC_IDS.where(publications.c.claimed_ms < time_ms - PAUSE_MS)
        chosen = chosen.with_for_update(skip_locked=True, of=publications)
        claiming = sa.update(publications).where(publications.c.match_id.in_(chosen))
        claiming = claiming.values(claimed_ms=time_ms, n_claims=publications.c.n_claims + 1)
        return sorted(row["match_id"] for row in await self._database.changed_rows(claiming.returning(publications)))
