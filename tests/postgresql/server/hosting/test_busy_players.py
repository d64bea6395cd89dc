"""Players of one match at a time, real ones of the kit: the game manager waits for them, and counts none a result."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise

import aiohttp
import pytest

from players.kit.http_transport import serving
from players.kit.player_server import Settings
from players.stock import LegalPlayer
from server.records.record import record_of
from server.storage.database import Database
from server.storage.matches import MatchStore
from server.storage.queue import MatchQueue, WaitingMatch
from server.storage.rows import MatchRow
from tests.kit import polling
from tests.kit.server.hosting.managing import YES, managing, order, until
from tests.kit.server.peers import listening
from tests.kit.server.plays import TWO_STEPS
from tests.kit.server.storage.samples import keep

ENDED = ("completed", "aborted", "failed")
START = f"(START elsewhere left ({TWO_STEPS}) 60 60)"


@pytest.fixture
async def single() -> AsyncIterator[str]:
    """Serve a player that takes one match at a time."""
    async with serving(LegalPlayer, Settings("single", max_matches=1)) as url:
        yield url


async def tell(url: str, text: str) -> None:
    async with aiohttp.ClientSession() as session, session.post(url, data=text.encode()) as response:
        await response.read()


def was_one_at_a_time(rows: Sequence[MatchRow]) -> bool:
    """Return whether each match began when the one before had ended."""
    times = sorted((row.started_ms or 0, row.ended_ms or 0) for row in rows)
    return all(ended_ms <= started_ms for (_, ended_ms), (started_ms, _) in pairwise(times))


def seats(left: str, right: str, max_matches: int) -> dict[str, dict[str, object]]:
    return {"left": {"player": left, "maxMatches": max_matches}, "right": {"player": right, "maxMatches": 9}}


@pytest.mark.sampled(2)
async def test_one_match_at_a_time_is_played_at_an_address(database: Database, single: str) -> None:
    async with listening(YES) as other, managing(database) as manager:
        ordered = [await manager.order(order(single, other, players=seats(single, other, 1))) for _ in range(3)]
        rows = [await until(manager, each.row.id, *ENDED) for each in ordered]
    assert [(row.status, row.n_errors) for row in rows] == [("completed", 0)] * 3
    assert was_one_at_a_time(rows)


@pytest.mark.sampled(2)
async def test_a_registered_player_is_the_same_by_its_address(database: Database, single: str) -> None:
    async with managing(database) as manager:
        await manager.registry.register("single", "ann", single)
        ordered = [await manager.order(order(named, "random")) for named in ("single", f"{single}/", "single")]
        rows = [await until(manager, each.row.id, *ENDED) for each in ordered]
    assert [(row.status, row.n_errors) for row in rows] == [("completed", 0)] * 3
    assert was_one_at_a_time(rows)


@pytest.mark.sampled(2)
async def test_the_address_of_a_player_that_is_paused_plays_on(database: Database, single: str) -> None:
    async with managing(database) as manager:
        await manager.registry.register("single", "ann", single)
        await manager.registry.pause("single", "for now")
        ordered = await manager.order(order(single, "random"))
        assert (await until(manager, ordered.row.id, *ENDED)).status == "completed"


@pytest.mark.sampled(2)
async def test_a_player_that_plays_elsewhere_is_waited_for(database: Database, single: str) -> None:
    await tell(single, START)
    async with listening(YES) as other, managing(database) as manager:
        ordered = await manager.order(order(single, other, startClock=60, players=seats(single, other, 1)))
        await until(manager, ordered.row.id, "running")
        await asyncio.sleep(1.5)
        await tell(single, "(ABORT elsewhere)")
        row = await until(manager, ordered.row.id, *ENDED)
    assert (row.status, row.n_errors) == ("completed", 0)


@pytest.mark.sampled(2)
async def test_a_match_that_does_not_come_about_is_no_result(database: Database, single: str) -> None:
    await tell(single, START)
    async with listening(YES) as other, managing(database) as manager:
        ordered = await manager.order(order(single, other, startClock=1, players=seats(single, other, 1)))
        row = await until(manager, ordered.row.id, *ENDED)
        record = record_of(await manager.journals.entries(row.id)).as_json()
    assert (row.status, row.goals, row.n_steps) == ("aborted", None, 0)
    reason = f"did not come about: {single.removeprefix('http://')} was busy"
    assert record["x-end"] | {"at": 0} == {"how": "aborted", "at": 0, "reason": reason}
    assert (record["errors"], "goalValues" in record) == ([["IL busy", ""]], False)


@pytest.mark.sampled(2)
async def test_who_is_only_ever_busy_is_paused(database: Database, single: str) -> None:
    await tell(single, START)
    async with listening(YES) as other, managing(database) as manager:
        await manager.registry.register("single", "ann", single)
        for _ in range(3):
            ordered = await manager.order(order("single", other, startClock=1))
            await until(manager, ordered.row.id, *ENDED)

        async def pause_reason() -> str | None:
            return (await manager.registry.get("single")).pause_reason

        reason = await polling.until(pause_reason)
    assert reason == "it was busy at START, or answered nothing, in 3 matches in a row"


@pytest.mark.sampled(2)
async def test_two_managers_do_not_choose_at_once(database: Database) -> None:
    queue, other = MatchQueue(database), MatchQueue(database)
    async with queue.choosing() as is_first, other.choosing() as is_second:
        assert (is_first, is_second) == (True, database.is_sqlite)
    async with other.choosing() as is_next:
        assert is_next


@pytest.mark.sampled(2)
async def test_the_queue_tells_addresses_as_they_were_ordered(database: Database) -> None:
    named = seats("http://h:1", "http://h:2", 2)
    await keep(
        MatchStore(database),
        MatchRow("m.1", "g", "0", {"text": {"players": named, "startClock": 1, "playClock": 1}}, 0),
        [],
    )
    assert await MatchQueue(database).waiting(10) == [WaitingMatch("m.1", 0, (), named)]
