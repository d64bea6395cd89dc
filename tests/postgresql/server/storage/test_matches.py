"""Matches wait, have one holder at a time, and are listed newest first."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from server.errors import UnknownMatchError
from server.storage import schema as tables
from server.storage.database import Database
from server.storage.errors import StorageError
from server.storage.match_queries import MatchFilter
from server.storage.matches import MatchStore
from server.storage.queue import MatchQueue
from server.storage.rows import MatchPurpose, MatchStatus, SeatKind, SeatRow
from tests.kit.clocks import TimeOfDay
from tests.kit.server.storage.samples import ORDER, add, match, seats


@pytest.fixture
def clock() -> TimeOfDay:
    return TimeOfDay()


@pytest.fixture
def store(database: Database, clock: TimeOfDay) -> MatchStore:
    return MatchStore(database, clock)


@pytest.fixture
def queue(database: Database, clock: TimeOfDay) -> MatchQueue:
    return MatchQueue(database, clock)


async def test_what_is_added_is_found(store: MatchStore) -> None:
    row = match("a", order=ORDER | {"people": {"x": "é"}}, tournament="t", is_hidden=True, ordered_by="me")
    await add(store, row)
    assert (await store.get("a"), await store.has("a"), await store.get("b"), await store.has("b")) == (
        row,
        True,
        None,
        False,
    )


async def test_an_id_is_given_once(store: MatchStore) -> None:
    await add(store, match("a"))
    with pytest.raises(StorageError):
        await add(store, match("a"))


async def test_practice_that_waits_for_longer_than_a_day_still_waits(store: MatchStore) -> None:
    statuses = (MatchStatus.QUEUED, MatchStatus.COMPLETED, MatchStatus.RUNNING, MatchStatus.COMPLETED)
    for created_ms, status in enumerate(statuses):
        practice = match(f"m{created_ms}", created_ms, status=status, ordered_by="ann", purpose=MatchPurpose.PRACTICE)
        await add(store, practice)
        await add(store, replace(practice, id=f"b{created_ms}", ordered_by="bob"))
        await add(store, replace(practice, id=f"h{created_ms}", purpose=None))
    assert await store.n_practised("ann", since_ms=2) == (2, 2)


async def test_the_seats_of_many_matches_come_at_once(store: MatchStore) -> None:
    await add(store, match("a"), "ann", "bob")
    await add(store, match("b"), "cid")
    expected = {"a": tuple(seats("a", "ann", "bob")), "b": (SeatRow("b", "x", 0, "cid", SeatKind.HTTP),), "c": ()}
    assert await store.seats(["a", "b", "c"]) == expected


async def test_a_kind_of_seat_that_no_version_here_knows_is_unknown(store: MatchStore, database: Database) -> None:
    await add(store, match("a"), "ann")
    async with database.begin() as connection:
        await connection.execute(sa.update(tables.seats).values(kind="oracle"))
    assert await store.seats(["a"]) == {"a": (SeatRow("a", "x", 0, "ann", SeatKind.UNKNOWN),)}


async def listed(store: MatchStore, before: str | None = None, limit: int = 50, **wanted: Any) -> list[str]:
    return [row.id for row in await store.listed(MatchFilter(**wanted), before=before, limit=limit)]


async def test_lists_go_on_behind_the_page_before(store: MatchStore) -> None:
    for number in range(5):
        await add(store, match(f"m{number}", created_ms=10 + number // 2))
    assert await listed(store, limit=2) == ["m4", "m3"]
    assert await listed(store, limit=2, before="m3") == ["m2", "m1"]
    assert await listed(store, limit=2, before="m1") == ["m0"]
    with pytest.raises(UnknownMatchError):
        await listed(store, before="m9")


async def test_lists_hold_what_is_asked_for(store: MatchStore, queue: MatchQueue) -> None:
    await add(store, match("a", 1), "ann", "bob")
    await add(store, match("b", 2, tournament="t"), "bob", "cid")
    await add(store, match("c", 3, game="other"), "bob", "bob")
    await queue.claim(["b"], "here", 9)
    await store.request_abort("c", "enough")
    found = {
        "ann": await listed(store, player="ann"),
        "bob": await listed(store, player="bob"),
        "bob, second page": await listed(store, player="bob", before="c"),
        "bob, queued": await listed(store, player="bob", status="queued"),
        "bob, aborted": await listed(store, player="bob", status="aborted"),
        "running": await listed(store, status="running"),
        "tiny": await listed(store, game="tiny"),
        "tiny, queued": await listed(store, game="tiny", status="queued"),
        "t": await listed(store, tournament="t"),
        "waiting": [row.id for row in await store.queued()],
    }
    assert found == {
        "ann": ["a"],
        "bob": ["c", "b", "a"],
        "bob, second page": ["b", "a"],
        "bob, queued": ["a"],
        "bob, aborted": ["c"],
        "running": ["b"],
        "tiny": ["b", "a"],
        "tiny, queued": ["a"],
        "t": ["b"],
        "waiting": ["a"],
    }


async def test_a_match_is_taken_over_when_its_lease_is_over(
    store: MatchStore, queue: MatchQueue, clock: TimeOfDay
) -> None:
    await add(store, match("a"))
    await queue.claim(["a"], "here", 10)
    assert await store.take_over("there", 10, 5) == []
    clock.now_ms += 10_001
    assert await store.take_over("there", 10, 5) == ["a"]
    found = await store.get("a")
    assert found is not None
    assert (found.holder, found.epoch, await store.renew("here", 10), await store.renew("there", 10)) == (
        "there", 2, set(), {"a"},
    )  # fmt: skip


async def test_a_lease_that_is_renewed_goes_on(store: MatchStore, queue: MatchQueue, clock: TimeOfDay) -> None:
    await add(store, match("a"))
    await queue.claim(["a"], "here", 10)
    clock.now_ms += 9_000
    assert await store.renew("here", 10) == {"a"}
    clock.now_ms += 9_000
    assert await store.take_over("there", 10, 5) == []


async def test_several_servers_take_over_each_match_once(
    store: MatchStore, queue: MatchQueue, clock: TimeOfDay
) -> None:
    names = [f"m{number:02}" for number in range(30)]
    for name in names:
        await add(store, match(name))
        await queue.claim([name], "here", 1)
    clock.now_ms += 2_000
    taken = await asyncio.gather(*(store.take_over(f"server{number}", 10, 8) for number in range(6)))
    assert sorted(name for part in taken for name in part) == names
    assert max(map(len, taken)) <= 8


async def test_what_is_released_is_taken_over_at_once(store: MatchStore, queue: MatchQueue) -> None:
    for name in ("a", "b"):
        await add(store, match(name))
        await queue.claim([name], "here", 10)
    assert (await store.release(["a", "b"], "there"), await store.release(["b"], "here")) == (0, 1)
    assert (await store.take_over("there", 10, 5), await store.renew("here", 10)) == (["b"], {"a"})
    assert (await store.free_all(), await store.take_over("there", 10, 5)) == (2, ["a", "b"])


async def test_an_abort_is_asked_of_the_holder(store: MatchStore, queue: MatchQueue, clock: TimeOfDay) -> None:
    for name in ("waits", "played"):
        await add(store, match(name))
    await queue.claim(["played"], "here", 10)
    asked = [await store.request_abort(name, "enough") for name in ("waits", "played", "nowhere")]
    assert (asked, await store.request_abort("waits", "again")) == ([True, True, False], False)
    assert (await store.abort_requests("here"), await store.abort_requests("there")) == ({"played": "enough"}, {})
    aborted = match("waits", status=MatchStatus.ABORTED, ended_ms=clock.now_ms, abort_reason="enough")
    assert await store.get("waits") == aborted


async def test_players_are_busy_with_the_matches_that_are_played(store: MatchStore, queue: MatchQueue) -> None:
    await add(store, match("a"), "ann", "bob")
    await add(store, match("b"), "bob", "bob")
    await add(store, match("c"), "ann", "cid")
    for name in ("a", "b"):
        await queue.claim([name], "here", 10)
    assert (await store.busy(), await store.busy(["bob", "cid"])) == ({"ann": 1, "bob": 2}, {"bob": 2})


async def test_a_match_that_is_deleted_leaves_nothing(store: MatchStore) -> None:
    await add(store, match("a"))
    assert (await store.delete("a"), await store.delete("a"), await store.seats(["a"])) == (True, False, {"a": ()})


async def test_what_ended_lately_is_listed_the_latest_end_first(store: MatchStore, clock: TimeOfDay) -> None:
    for name in ("live", "first", "last"):
        await add(store, match(name))
    await store.request_abort("first", "enough")
    clock.now_ms += 5
    await store.request_abort("last", "enough")
    found = [await store.ended_since(clock.now_ms - k) for k in (5, 4, -1)]
    assert [[row.id for row in rows] for rows in found] == [["last", "first"], ["last"], []]
    assert [row.id for row in await store.ended_since(0, 1)] == ["last"]


async def test_several_matches_are_found_by_their_ids(store: MatchStore) -> None:
    for name in ("a", "b", "c"):
        await add(store, match(name))
    found = await store.of_ids(["a", "c", "none"])
    assert ({row.id for row in found}, await store.of_ids([])) == ({"a", "c"}, [])


async def test_the_row_has_the_fields_of_the_table(store: MatchStore, queue: MatchQueue) -> None:
    await add(store, match("a"))
    await queue.claim(["a"], "here", 1)
    found = await store.get("a")
    assert found is not None
    assert replace(found, status=MatchStatus.QUEUED, holder=None, lease_until_ms=None, epoch=0) == match("a")
