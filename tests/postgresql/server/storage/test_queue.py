"""Matches that wait are told oldest first, and each is begun by one."""

from __future__ import annotations

import asyncio

import pytest

from server.storage.database import Database
from server.storage.matches import MatchStore
from server.storage.queue import MatchQueue, WaitingMatch
from tests.kit.server.storage.samples import HandClock, add, match


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
async def queue(database: Database, clock: HandClock) -> MatchQueue:
    store = MatchStore(database, clock)
    await add(store, match("young", created_ms=3), "ann", "bob")
    await add(store, match("old", created_ms=1), "cid")
    await add(store, match("alone", created_ms=2))
    return MatchQueue(database, clock)


async def test_the_oldest_are_told_with_their_players(queue: MatchQueue) -> None:
    assert await queue.waiting(2) == [
        WaitingMatch("old", 1, (("cid", "http"),)),
        WaitingMatch("alone", 2, (("ann", "http"), ("bob", "http"))),
    ]
    assert [waiting.players for waiting in await queue.waiting(9)][-1] == (("ann", "http"), ("bob", "http"))


async def test_what_is_begun_waits_no_more(queue: MatchQueue, clock: HandClock) -> None:
    begun = await queue.claim(["old", "young", "unknown"], "here", 2.5)
    assert {(row.id, row.status, row.holder, row.epoch) for row in begun} == {
        ("old", "running", "here", 1),
        ("young", "running", "here", 1),
    }
    assert {row.lease_until_ms for row in begun} == {clock() + 2500}
    assert await queue.length() == 1


async def test_each_match_is_begun_by_one(queue: MatchQueue) -> None:
    claims = await asyncio.gather(*(queue.claim(["old", "young"], f"server{number}", 2.5) for number in range(5)))
    assert sorted(row.id for rows in claims for row in rows) == ["old", "young"]
