"""A tournament that is driven by hand: its clock is set, and its matches end as a generator of chance says."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from server.api.tournament_models import tournament_answer
from server.clock import now_ms
from server.hosting.tournament_progress import progress_of
from server.hosting.tournaments import Tournaments
from server.storage.rows import MatchStatus
from server.storage.schema import matches, seats
from server.storage.tournaments import StoredTournament, TournamentStore
from server.tournament.plan import TournamentFormat
from tests.kit.clocks import TimeOfDay
from tests.kit.server.api.tournaments import TOURNAMENTS
from tests.kit.server.api.whole_server import Client, manager_of, whole_server

_IS_ENDING = sa.and_(matches.c.status == MatchStatus.RUNNING, matches.c.abort_reason.is_not(None))


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What lasts when a server ends: chance, the time, and the entrants of whom no match may count any more."""

    chance: random.Random
    clock: TimeOfDay = field(default_factory=lambda: TimeOfDay(now_ms()))
    annulled: set[str] = field(default_factory=set)


class TournamentLife:
    """The tournament `cup` behind *client*, whose matches end as chance says."""

    def __init__(self, client: Client, circumstances: Circumstances) -> None:
        self.client, self.annulled = client, circumstances.annulled
        self.chance, self.clock = circumstances.chance, circumstances.clock
        self.manager = manager_of(client)
        store = TournamentStore(self.manager.database, self.clock)
        self.manager.tournaments = Tournaments(store, self.manager, self.clock)

    async def ask(self, method: str, path: str = "", **body: Any) -> int:
        """Return the status of the answer to a request about the tournament, which is none of a fault."""
        answer = await self.client.request(method, f"{TOURNAMENTS}/cup{path}", json=body or None)
        assert answer.status < 500, (method, path, body, await answer.text())
        return answer.status

    async def found(self) -> StoredTournament:
        """Return the tournament as it is now."""
        return await self.manager.tournaments.get("cup")

    async def drive(self, n: int = 1) -> None:
        """Look *n* times at what there is to do."""
        for _ in range(n):
            await self.manager.tournaments.drive()

    async def break_off(self, match_id: str) -> None:
        """End a match for a reason that is no one's fault."""
        await self.manager.matches.request_abort(match_id, "the hall burned")
        await self._end_aborted()

    async def play(self, n: int) -> None:
        """Begin up to *n* matches of those that wait, and end as many of those that are played."""
        await self._end_aborted()
        waiting = [one.id for one in await self.manager.queue.waiting()]
        await self.manager.queue.claim(waiting[:n], "here", 1_000)
        async with self.manager.database.begin() as connection:
            running = sa.select(matches.c.id).where(matches.c.status == MatchStatus.RUNNING).order_by(matches.c.id)
            for match_id in (await connection.execute(running.limit(n))).scalars().all():
                seated = sa.select(seats.c.role).where(seats.c.match_id == match_id).order_by(seats.c.position)
                for role in (await connection.execute(seated)).scalars().all():
                    told = {"goal": self.chance.choice((0, 50, 100)), "n_errors": self.chance.choice((0, 0, 3))}
                    is_it = sa.and_(seats.c.match_id == match_id, seats.c.role == role)
                    await connection.execute(sa.update(seats).where(is_it).values(n_moves=9, thinking_ms=9, **told))
                over = {"status": MatchStatus.COMPLETED, "ended_ms": self.clock.now_ms, "n_steps": 9, "holder": None}
                await connection.execute(sa.update(matches).where(matches.c.id == match_id).values(over))

    async def _end_aborted(self) -> None:
        ended = {"status": MatchStatus.ABORTED, "ended_ms": self.clock.now_ms}
        async with self.manager.database.begin() as connection:
            await connection.execute(sa.update(matches).where(_IS_ENDING).values(ended))


@asynccontextmanager
async def tournament_life(folder: Path, circumstances: Circumstances) -> AsyncIterator[TournamentLife]:
    """Yield what goes on with the tournament in the database in *folder*, as a server that begins anew does."""
    async with whole_server(folder, plays=False) as (client, _):
        yield TournamentLife(client, circumstances)


def check_consistent(found: StoredTournament, annulled: Collection[str]) -> None:
    """Check that what is annulled waits no more, what is played again does not count, and standings are true.

    No match counts of those whose matches were *annulled* with their withdrawal.
    """
    for one in found.fixtures:
        match, is_void = one.match, one.match.match_id in found.annulments
        assert not (is_void and one.status == MatchStatus.QUEUED), f"{match.match_id} is annulled, and waits"
        before = match.original_id if match.attempt <= 2 else f"{match.original_id}-{match.attempt - 1}"
        assert match.attempt == 1 or found.annulments[before].is_replayed
    is_corrected = any(one.annulled_by for one in found.annulments.values())  # others may go on than those who did
    if found.row.terms.format in (TournamentFormat.SWISS, TournamentFormat.KNOCKOUT) and not is_corrected:
        _check_meetings(found)
    told = tournament_answer(found)
    counted = [one for one in told.matches if one.goals is not None and one.annulled is None]
    n_matches = Counter(name for one in counted for name in one.players)
    assert not n_matches.keys() & annulled
    expected = {one.name: n_matches[one.name] for one in found.entrants} if told.standings else {}
    assert {row.player: row.model_dump()["matches"] for row in told.standings} == expected


def _check_meetings(found: StoredTournament) -> None:
    """Check that in each round an entrant meets the same others, also in meetings that part equal ones."""
    met: defaultdict[tuple[int, str], set[frozenset[str]]] = defaultdict(set)
    for pairing in progress_of(found).competition.pairings if found.fixtures else ():
        for name in pairing.players:
            met[pairing.round, name].add(frozenset(pairing.players))
    assert [place for place, groups in met.items() if len(groups) > 1] == []


def check_over(found: StoredTournament) -> None:
    """Check that a tournament that is over has nothing left to play."""
    progress = progress_of(found)
    left = progress.competition.open_matches, progress.competition.missing_replays, progress.next_matches()
    assert left == ((), (), ())
