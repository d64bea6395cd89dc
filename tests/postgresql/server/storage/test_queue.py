"""The queue lists waiting matches oldest first, and one game manager begins each."""

from __future__ import annotations

import asyncio

import pytest

from server.storage.accounts import PlayerStore
from server.storage.database import Database
from server.storage.matches import MatchStore
from server.storage.queue import MatchQueue, WaitingMatch
from server.storage.rows import MatchPurpose, MatchStatus, PlayerRow, SeatKind
from tests.kit.clocks import TimeOfDay
from tests.kit.server.storage.samples import ORDER, add, begun, match


@pytest.fixture
def clock() -> TimeOfDay:
    return TimeOfDay()


@pytest.fixture
async def queue(database: Database, clock: TimeOfDay) -> MatchQueue:
    store = MatchStore(database, clock)
    await add(store, match("young", created_ms=3), "ann", "bob")
    await add(store, match("old", created_ms=1), "cid")
    await add(store, match("alone", created_ms=2))
    return MatchQueue(database, clock)


async def test_the_oldest_are_listed_with_their_players(queue: MatchQueue) -> None:
    assert await queue.waiting(2) == [
        WaitingMatch("old", 1, (("cid", "http"),)),
        WaitingMatch("alone", 2, (("ann", "http"), ("bob", "http"))),
    ]
    assert [waiting.players for waiting in await queue.waiting(9)][-1] == (("ann", "http"), ("bob", "http"))


async def test_what_is_begun_waits_no_more(queue: MatchQueue, clock: TimeOfDay) -> None:
    begun = await queue.claim(["old", "young", "unknown"], "here", 2.5)
    assert {(row.id, row.status, row.holder, row.epoch) for row in begun} == {
        ("old", "running", "here", 1),
        ("young", "running", "here", 1),
    }
    assert {row.lease_until_ms for row in begun} == {clock() + 2500}
    assert await queue.length() == 1


async def test_matches_that_any_server_plays_are_listed(queue: MatchQueue) -> None:
    await queue.claim(["old"], "here", 2.5)
    await queue.claim(["young"], "there", 2.5)
    assert sorted(await queue.playing()) == ["old", "young"]


async def test_seats_are_named_as_they_were_ordered(database: Database) -> None:
    store = await begun(database)
    seat = {"player": "http://127.0.0.1:9147", "maxMatches": 2}
    ordered = ORDER | {"text": {"game": "tiny", "players": {"x": seat}}}
    for match_id in ("one", "two"):
        await add(store, match(match_id, order=ordered))
    assert await MatchQueue(database).named(["one", "none"]) == {"one": {"x": seat}}


@pytest.mark.parametrize("seat", [{"plaxer": "ann"}, {"player": 5}, {"player": "ann", "maxMatches": "2"}])
async def test_a_match_with_a_damaged_seat_was_ordered_with_none(database: Database, seat: dict[str, object]) -> None:
    store, queue = await begun(database), MatchQueue(database)
    await add(store, match("one", order=ORDER | {"text": ORDER["text"] | {"players": {"x": seat}}}), "ann")
    found = await store.find("one")
    assert found is not None
    assert found.damage.startswith("order holds ")
    assert await queue.named(["one"]) == {"one": {}}
    assert await queue.waiting() == [WaitingMatch("one", 10, (("ann", "http"),), {})]


async def test_each_match_is_begun_by_one(queue: MatchQueue) -> None:
    claims = await asyncio.gather(*(queue.claim(["old", "young"], f"server{number}", 2.5) for number in range(5)))
    assert sorted(row.id for rows in claims for row in rows) == ["old", "young"]


async def test_practice_comes_after_all_others_and_the_ladder_last(database: Database) -> None:
    store = await begun(database)
    purposes = {"first": MatchPurpose.LADDER, "second": MatchPurpose.PRACTICE, "third": None, "fourth": None}
    for at_ms, (name, purpose) in enumerate(purposes.items()):
        await add(store, match(name, at_ms, purpose=purpose))
    queue = MatchQueue(database)
    assert [one.id for one in await queue.waiting(3)] == ["third", "fourth", "second"]
    assert [one.id for one in await queue.waiting(9)] == ["third", "fourth", "second", "first"]


async def test_seats_keep_the_version_that_a_registered_player_has_when_the_match_begins(database: Database) -> None:
    store = await begun(database)
    registered = PlayerStore(database)
    await registered.put(PlayerRow("ann", SeatKind.HTTP, "me", 1, version="1.0"))
    for name, version in (("old", "1.0"), ("young", "2.0")):
        await registered.change("ann", version=version)
        await add(store, match(name))
        await MatchQueue(database).claim([name], "here", 9)
    found = await store.seats(["old", "young"])
    assert {name: [seat.version for seat in seats] for name, seats in found.items()} == {
        "old": ["1.0", None], "young": ["2.0", None],
    }  # fmt: skip


async def test_practice_matches_are_counted_by_who_ordered_them_and_since_when(database: Database) -> None:
    store = await begun(database)
    told = {"ordered_by": "ann", "purpose": MatchPurpose.PRACTICE}
    for at_ms, changes in enumerate([told, told | {"status": MatchStatus.ABORTED}, told, {"ordered_by": "ann"}]):
        await add(store, match(f"m{at_ms}", at_ms, **changes))
    assert await store.n_practised("ann", 0) == (3, 2)
    assert await store.n_practised("ann", 1) == (2, 2)
    assert await store.n_practised("bob", 0) == (0, 0)
