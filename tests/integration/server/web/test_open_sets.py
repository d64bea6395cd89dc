"""What is shown of a match that is over while another one with the same seeds is played."""

from __future__ import annotations

import asyncio
import io
import re
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from server.records.entries import ClosedEntry
from server.spectating.publishing import Post, Publisher, PublishSettings, posting
from server.storage.publications import PublicationStore
from tests.kit.server.api.tournaments import command_cup, order_cup, until_cup
from tests.kit.server.api.whole_server import Client, manager_of, told
from tests.kit.server.peers import listening, request
from tests.kit.server.spectating.spectator_server import spectator_server
from tests.kit.server.web.fetching import page_at, words_of

READY = b"HTTP/1.0 200 OK\r\nContent-Type: text/acl\r\nContent-Length: 5\r\n\r\nready"


@asynccontextmanager
async def playing_one() -> AsyncIterator[str]:
    """Yield the address of a player that answers in the match that it first hears of, and in others not at all."""
    heard: list[str] = []

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, body = await request(reader)
        heard.extend(re.findall(r"^\((?:START|PLAY|STOP) (\S+)", body, re.IGNORECASE)[: 1 - len(heard)])
        if heard and heard[0] not in body:
            await reader.read()
        writer.write(READY)

    async with listening(behave) as url:
        yield url


async def half_played(client: Client, url: str, **changes: Any) -> str:
    """Return the id of the match that is over, of a set of two of which the other one is played."""
    await told(await client.post("/api/v1/players", json={"name": "one", "url": url, "maxMatches": 2}), 201)
    await order_cup(client, games=["kuhnpoker"], players=["legal", "one"], startClock=60, **changes)
    await command_cup(client, "start")
    found = await until_cup(client, lambda cup: {one["status"] for one in cup["matches"]} == {"completed", "running"})
    return next(str(one["match"]) for one in found["matches"] if one["status"] == "completed")


async def text_at(client: Client, path: str) -> str:
    return await (await client.get(path)).text()


async def shown_of(client: Client, match_id: str) -> dict[str, bool]:
    """Return by where it is whether what happened in a match is shown."""
    record = await told(await client.get(f"/api/v1/matches/{match_id}"))
    state = await client.get(f"/api/v1/matches/{match_id}/states/1")
    words = words_of(await page_at(client, f"/matches/{match_id}?step=1"))
    archive = await (await client.get("/tournaments/cup/records.zip")).read()
    return {
        "record": {"states", "moves", "x-seed", "x-percepts", "x-wire"} <= record.keys(),
        "state": state.status == 200,
        "journal": '"moves"' in await text_at(client, f"/api/v1/matches/{match_id}/journal"),
        "page": "are shown when all matches with the same seeds are over" not in words,
        "archive": zipfile.ZipFile(io.BytesIO(archive)).namelist() != [],
    }


async def test_what_a_match_tells_of_others_of_its_set_is_shown_when_they_are_over(client: Client) -> None:
    async with playing_one() as url:
        match_id = await half_played(client, url)
        before = await shown_of(client, match_id)
        await command_cup(client, "cancel", reason="rain")
        after = await shown_of(client, match_id)
    assert (before, after) == (dict.fromkeys(before, False), dict.fromkeys(before, True))


@pytest.mark.exhaustive
async def test_a_scrambled_game_is_not_named_before_all_of_the_set_are_over(client: Client) -> None:
    async with playing_one() as url:
        match_id = await half_played(client, url, scramble=True)
        paths = (
            f"/api/v1/matches/{match_id}", f"/api/v1/matches/{match_id}/journal", f"/matches/{match_id}",
            "/api/v1/matches", "/matches", "/api/v1/tournaments/cup", "/tournaments/cup?open=1",
            "/tournaments/cup/results.csv", "/api/v1/players/one",
        )  # fmt: skip
        remembered = "/players/one", "/players/one/against/legal", "/leaderboards"  # as they were, for a minute
        before = [path for path in (*paths, *remembered) if "kuhn" in (await text_at(client, path)).lower()]
        listed = (await told(await client.get("/api/v1/matches?game=kuhnpoker")))["matches"]
        rematch = await client.post(f"/api/v1/matches/{match_id}/rematch")
        await command_cup(client, "cancel", reason="rain")
        after = [path for path in paths if "kuhn" in (await text_at(client, path)).lower()]
    assert (before, listed, rematch.status, after) == ([], [], 409, list(paths))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("is_restarted", [False, True], ids=["going-on", "restarted"])
async def test_a_match_is_published_when_all_of_its_set_are_over(client: Client, *, is_restarted: bool) -> None:
    async with playing_one() as url, spectator_server() as (server, address), posting(address) as post:
        match_id = await half_played(client, url)
        publisher = publisher_of(client, post)
        publisher.take(match_id, 0, ClosedEntry(1))
        await publisher.close()
        await publisher.look()
        await publisher.close()
        before = list(server.updates)
        await command_cup(client, "cancel", reason="rain")
        if is_restarted:
            publisher = publisher_of(client, post)
        await publisher.look()
        await publisher.close()
    assert (before, [update["matchId"] for update in server.updates]) == ([], [match_id])


def publisher_of(client: Client, post: Post) -> Publisher:
    manager = manager_of(client)
    return Publisher(manager, PublicationStore(manager.database), post, PublishSettings(pause_s=0.001))


@pytest.mark.exhaustive
async def test_what_an_older_version_has_withheld_is_published_when_all_of_its_set_are_over(client: Client) -> None:
    async with playing_one() as url, spectator_server() as (server, address), posting(address) as post:
        match_id = await half_played(client, url)
        publisher = publisher_of(client, post)
        await publisher.look()
        await command_cup(client, "cancel", reason="rain")
        await publisher.look()
        await publisher.close()
    assert [update["matchId"] for update in server.updates] == [match_id]
