"""Matches stay in the lobby until the last person has come, however many come at once, or until they are cancelled."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from server.storage.database import Database
from server.storage.lobby import Lobby
from server.storage.matches import MatchStore
from server.storage.rows import MatchRow, MatchStatus, SeatKind
from tests.kit.clocks import TimeOfDay
from tests.kit.server.storage.samples import keep, match, seats


@pytest.fixture
def clock() -> TimeOfDay:
    return TimeOfDay(10_000)


@pytest.fixture
async def lobby(database: Database, clock: TimeOfDay) -> Lobby:
    """Return a lobby with the match `m`, which two people play."""
    people = [replace(seat, kind=SeatKind.HUMAN) for seat in seats("m", "human", "human")]
    await keep(MatchStore(database, clock), match("m", created_ms=10_000, status=MatchStatus.LOBBY), people)
    return Lobby(database, clock)


async def row(database: Database) -> MatchRow:
    found = await MatchStore(database).get("m")
    assert found is not None
    return found


async def test_a_match_waits_for_the_last_person(database: Database, lobby: Lobby, clock: TimeOfDay) -> None:
    assert [await lobby.note_arrival("m", "x"), await lobby.note_arrival("m", "x")] == [True, False]
    assert (await row(database)).status == "lobby"
    clock.now_ms += 5
    assert [await lobby.note_arrival("m", role) for role in ("nobody", "o", "o")] == [False, True, False]
    came = [seat.came_ms for seat in (await MatchStore(database).seats(["m"]))["m"]]
    assert ((await row(database)).status, came) == ("queued", [10_000, 10_005])


async def test_people_who_come_at_once_are_all_seen(database_address: str, lobby: Lobby) -> None:
    others = [await Database.open(database_address, exclusive=False) for _ in range(2)]
    came = await asyncio.gather(*(Lobby(each).note_arrival("m", role) for each in others for role in ("x", "o")))
    assert (sum(came), (await row(others[0])).status) == (2, "queued")
    for each in others:
        await each.close()


async def test_a_match_that_waited_too_long_is_cancelled_with_who_was_missing(
    database: Database, lobby: Lobby, clock: TimeOfDay
) -> None:
    await lobby.note_arrival("m", "x")
    clock.now_ms += 60_000
    assert await lobby.overdue(60) == {}
    clock.now_ms += 1
    assert await lobby.overdue(60) == {"m": ("o",)}
    assert [await lobby.cancel("m", "o did not come"), await lobby.cancel("m", "again")] == [True, False]
    found = await row(database)
    assert (found.status, found.ended_ms, found.abort_reason) == ("aborted", 70_001, "o did not come")
    assert not await lobby.note_arrival("m", "o")


async def test_an_hour_that_the_server_did_not_see_pass_is_not_waited(lobby: Lobby, clock: TimeOfDay) -> None:
    """As where the machine sleeps, or its clock is set: people could not come meanwhile."""
    found = [await lobby.overdue(60)]
    for step_ms in (20_000, 3_600_000, 20_000, 20_000, 1):
        clock.now_ms += step_ms
        found.append(await lobby.overdue(60))
    assert found == [{}, {}, {}, {}, {}, {"m": ("x", "o")}]


async def test_a_match_that_left_the_lobby_is_not_cancelled_for_who_was_late(database: Database, lobby: Lobby) -> None:
    assert [await lobby.note_arrival("m", role) for role in "xo"] == [True, True]
    assert not await lobby.cancel("m", "too late")
    assert (await row(database)).status == "queued"
