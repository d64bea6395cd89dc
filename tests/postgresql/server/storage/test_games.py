"""Games are kept with every version of their rules."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from server.storage.database import Database
from server.storage.games import GameStore
from tests.kit.server.storage.samples import VERSION

LATER = replace(VERSION, sha256="1a7e", rules="(role x)", roles=("x",), created_ms=2)


async def test_what_is_put_is_found(database: Database) -> None:
    games = GameStore(database)
    full = replace(
        VERSION, about="title = 'Tiny'", verdict="ok", report={"a": [1, "\0"]}, uploaded_by="me", is_library=True
    )
    await games.put(full)
    assert (await games.find("tiny"), await games.find("other")) == (full, None)


async def test_the_last_one_put_is_the_current_version(database: Database) -> None:
    games = GameStore(database)
    await games.put(VERSION, LATER)
    assert (await games.find("tiny"), await games.versions("tiny")) == (LATER, [LATER, VERSION])


async def test_many_are_put_at_once(database: Database) -> None:
    games = GameStore(database)
    first, second = replace(VERSION, name="a", report={"a": 1}), replace(LATER, name="b", is_library=True)
    await games.put(second, first)
    await games.put()
    assert await games.listed() == [first, second]


async def test_a_version_is_found_by_its_hash_or_by_the_name_of_its_game(database: Database) -> None:
    games = GameStore(database)
    await games.put(VERSION)
    await games.put(LATER)
    found = [await games.version(name) for name in ("5ha", "1a7e", "tiny", "other")]
    assert found == [VERSION, LATER, LATER, None]


async def test_of_games_with_the_same_rules_the_one_that_was_played_is_found(database: Database) -> None:
    games, other = GameStore(database), replace(VERSION, name="another")
    await games.put(VERSION, other)
    found = [await games.played(name, VERSION.sha256) for name in ("tiny", "another", "gone")]
    assert found == [VERSION, other, other]
    assert await games.played("tiny", "none") is None


async def test_rules_that_come_again_keep_their_first_time(database: Database) -> None:
    games = GameStore(database)
    await games.put(VERSION)
    await games.put(replace(VERSION, created_ms=99, verdict="better"))
    assert await games.versions("tiny") == [replace(VERSION, verdict="better")]


async def test_of_owners_who_keep_a_game_under_one_name_at_once_one_has_it(database: Database) -> None:
    games = GameStore(database)
    owners = [f"owner {number}" for number in range(5)]
    puts = [games.put_as_owner(replace(VERSION, sha256=owner, uploaded_by=owner)) for owner in owners]
    kept = await asyncio.gather(*puts)
    current = await games.find("tiny")
    assert current is not None
    assert kept == [owner == current.uploaded_by for owner in owners]
    assert [version.uploaded_by for version in await games.versions("tiny")] == [current.uploaded_by]


async def test_a_game_is_replaced_by_its_owner_and_by_one_who_may_replace_any_but_the_library_s(
    database: Database,
) -> None:
    games, found = GameStore(database), []
    await games.put(replace(VERSION, uploaded_by="ada"), replace(VERSION, name="ours", is_library=True))
    for name in ("tiny", "ours", "new"):
        owned = [await games.owns(name, owner) for owner in ("ada", "bob")]
        found.append([*owned, await games.owns(name, "bob", may_replace_any=True)])
    assert found == [[True, False, True], [False, False, False], [True, True, True]]


async def test_games_with_the_same_rules_are_two(database: Database) -> None:
    games = GameStore(database)
    await games.put(replace(VERSION, name="b"))
    await games.put(replace(VERSION, name="B"))
    await games.put(replace(VERSION, name="a"))
    assert await games.names() == ["B", "a", "b"]
    assert [game.name for game in await games.listed()] == ["B", "a", "b"]
