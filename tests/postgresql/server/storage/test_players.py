"""Registered players are kept by name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from server.storage.accounts import PlayerStore
from server.storage.database import Database
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


async def test_a_player_that_is_put_again_is_replaced(players: PlayerStore) -> None:
    await players.put(replace(ANN, url="http://example.org:9148"))
    assert await players.get("ann") == replace(ANN, url="http://example.org:9148")


async def test_failures_are_counted_until_it_plays_again(players: PlayerStore) -> None:
    assert [await players.count_failure("ann") for _ in range(2)] == [1, 2]
    assert await players.set_status("ann", "paused", "it timed out\0 twice")
    paused = replace(ANN, n_failures=2, status=PlayerStatus.PAUSED, pause_reason="it timed out\ufffd twice")
    assert await players.get("ann") == paused
    assert await players.set_status("ann", "ok")
    assert await players.get("ann") == ANN


async def test_what_it_answers_to_info_is_kept(players: PlayerStore) -> None:
    await players.count_failure("bob")
    assert await players.set_info("bob", {"status": "available"}, 77)
    assert await players.clear_failures("bob")
    assert await players.get("bob") == replace(BOB, info={"status": "available"}, seen_ms=77)


async def test_a_player_that_is_not_there_cannot_be_changed(players: PlayerStore) -> None:
    tried = [await players.set_status("c", "ok"), await players.set_info("c", None, 1), await players.delete("c")]
    assert (tried, await players.count_failure("c"), await players.get("c")) == ([False] * 3, 0, None)


async def test_a_player_is_deleted(players: PlayerStore) -> None:
    assert (await players.delete("ann"), await players.listed()) == (True, [BOB])
