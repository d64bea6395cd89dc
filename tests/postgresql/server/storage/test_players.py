"""Registered players are kept by name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from server.storage.accounts import PlayerStore
from server.storage.database import Database
from server.storage.errors import DamagedRowError
from server.storage.rows import PlayerRow, PlayerStatus, SeatKind

ANN = PlayerRow(
    "ann", SeatKind.HTTP, "me", 1, url="http://example.org:9147", info={"name": "Ann"}, seen_ms=5, max_matches=3
)
BOB = PlayerRow("bob", SeatKind.DIAL_IN, "you", 2)


@pytest.fixture
async def players(database: Database) -> PlayerStore:
    found = PlayerStore(database)
    await found.put(BOB)
    await found.put(ANN)
    return found


async def test_players_are_listed_by_name(players: PlayerStore) -> None:
    assert (await players.listed(), await players.listed("you"), await players.get("ann")) == ([ANN, BOB], [BOB], ANN)


async def test_a_player_with_a_damaged_address_is_not_listed(players: PlayerStore) -> None:
    await players.put(replace(ANN, url="ittp://example.org:9147"))
    assert await players.listed() == [BOB]
    with pytest.raises(DamagedRowError, match="url holds 'ittp:"):
        await players.get("ann")


async def test_a_player_that_is_put_again_is_replaced(players: PlayerStore) -> None:
    await players.put(replace(ANN, url="http://example.org:9148"))
    assert await players.get("ann") == replace(ANN, url="http://example.org:9148")


def never(_name: str, _n_failures: int) -> str:
    return ""


def at_two(name: str, n_failures: int) -> str:
    return f"{name} failed {n_failures} times" if n_failures >= 2 else ""


async def failures(players: PlayerStore) -> list[int]:
    return [row.n_failures for row in await players.listed()]


async def test_matches_in_which_players_fail_are_counted_until_they_do_well(players: PlayerStore) -> None:
    found = []
    for has_failed in ({"ann": True, "bob": True}, {"ann": True, "nobody": True}, {"ann": False, "bob": True}):
        await players.count_match(2, has_failed, never)
        found.append(await failures(players))
    assert found == [[1, 1], [2, 1], [0, 2]]


async def test_who_fails_too_often_is_paused(players: PlayerStore) -> None:
    for _ in range(2):
        await players.count_match(2, {"ann": True, "bob": False}, at_two)
    paused = replace(ANN, n_failures=2, status=PlayerStatus.PAUSED, pause_reason="ann failed 2 times")
    assert await players.listed() == [paused, BOB]


async def test_a_match_that_was_ordered_before_a_player_had_its_name_is_not_counted(players: PlayerStore) -> None:
    await players.put(replace(BOB, created_ms=5_000))
    await players.count_match(2, {"ann": True, "bob": True}, never)
    assert await failures(players) == [1, 0]


async def test_a_match_that_cannot_be_counted_to_the_end_is_not_counted(players: PlayerStore) -> None:
    def fail(name: str, n_failures: int) -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await players.count_match(2, {"ann": True, "bob": True}, fail)
    assert await failures(players) == [0, 0]


async def test_failures_are_counted_until_it_plays_again(players: PlayerStore) -> None:
    for _ in range(2):
        await players.count_match(2, {"ann": True}, never)
    assert await players.set_status("ann", "paused", "it timed out\0 twice")
    paused = replace(ANN, n_failures=2, status=PlayerStatus.PAUSED, pause_reason="it timed out\ufffd twice")
    assert await players.get("ann") == paused
    assert await players.set_status("ann", "ok")
    assert await players.get("ann") == ANN


async def test_what_it_answers_to_info_is_kept(players: PlayerStore) -> None:
    await players.count_match(2, {"bob": True}, never)
    assert await players.set_info(BOB, {"status": "available"}, 77)
    await players.count_match(2, {"bob": False}, never)
    assert await players.get("bob") == replace(BOB, info={"status": "available"}, seen_ms=77)


async def test_a_player_that_is_not_there_cannot_be_changed(players: PlayerStore) -> None:
    absent = replace(BOB, name="c")
    tried = [await players.set_status("c", "ok"), await players.set_info(absent, None, 1), await players.delete("c")]
    await players.count_match(2, {"c": True}, never)
    assert (tried, await players.get("c")) == ([False] * 3, None)


async def test_a_player_is_deleted(players: PlayerStore) -> None:
    assert (await players.delete("ann"), await players.listed()) == (True, [BOB])
