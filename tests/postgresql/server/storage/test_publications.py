"""The matches that are still to be published to their end, and which of several servers tries that."""

from __future__ import annotations

import asyncio

import pytest

from server.storage.database import Database
from server.storage.matches import MatchStore
from server.storage.publications import MAX_CLAIMS, PAUSE_MS, PublicationStore
from server.storage.rows import MatchStatus
from tests.kit.clocks import TimeOfDay
from tests.kit.server.storage.samples import begun, keep, match, seats

NOW_MS = 10**12


@pytest.fixture
def clock() -> TimeOfDay:
    return TimeOfDay(NOW_MS)


async def owed(database: Database, clock: TimeOfDay, *match_ids: str) -> tuple[MatchStore, PublicationStore]:
    """Return the stores, with matches that are over and whose end is owed, and `live`, which is played."""
    matches, publications = await begun(database, "live"), PublicationStore(database, clock)
    for match_id in match_ids:
        row = match(match_id, status=MatchStatus.COMPLETED, ended_ms=NOW_MS, goals=(100, 0))
        await keep(matches, row, seats(match_id))
    await publications.begin(["live", *match_ids])
    return matches, publications


async def test_what_is_over_is_claimed_and_what_is_published_to_its_end_is_not(
    database: Database, clock: TimeOfDay
) -> None:
    _, publications = await owed(database, clock, "a", "b", "c")
    await publications.end("b")
    assert await publications.claim() == ["a", "c"]


async def test_only_one_of_several_servers_has_a_match_at_a_time(database: Database, clock: TimeOfDay) -> None:
    _, publications = await owed(database, clock, "a", "b")
    at_once = await asyncio.gather(*[publications.claim() for _ in range(4)])
    later = []
    for after_ms in (PAUSE_MS, PAUSE_MS + 1):
        clock.now_ms = NOW_MS + after_ms
        later.append(await publications.claim())
    assert (sorted(found for found in at_once if found), later) == ([["a", "b"]], [[], ["a", "b"]])


async def test_a_match_that_is_begun_again_keeps_its_claims(database: Database, clock: TimeOfDay) -> None:
    _, publications = await owed(database, clock, "a")
    claims = []
    for _ in range(MAX_CLAIMS + 3):
        claims.append(await publications.claim())
        clock.now_ms += PAUSE_MS + 1
        await publications.begin(["a"])
    assert claims == [["a"]] * MAX_CLAIMS + [[]] * 3


async def test_a_match_that_is_forgotten_is_not_owed(database: Database, clock: TimeOfDay) -> None:
    matches, publications = await owed(database, clock, "a")
    await matches.delete("a")
    assert await publications.claim() == []
