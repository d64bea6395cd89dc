"""Matches between people begin when all of them have come, whatever happens to the game manager meanwhile."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from server.hosting.game_manager import GameManager
from server.hosting.settings import GameManagerSettings
from server.principal import Role
from server.spectating.public_record import known_match
from server.storage.database import Database
from server.storage.lobby import Lobby
from server.storage.matches import MatchStore
from server.storage.notifications import something_new
from server.storage.rows import MatchRow
from tests.kit import polling
from tests.kit.server.api.whole_server import MATCHES, told, whole_server
from tests.kit.server.hosting.hosts import hosting, kept, looking
from tests.kit.server.registry.host import order

SECRET = "GGP-Seat-Secret"


async def until(store: MatchStore, match_id: str, *statuses: str) -> MatchRow:
    """Return the match as soon as it has one of the statuses."""

    async def looked_at() -> MatchRow | None:
        row = await store.get(match_id)
        assert row is not None
        return row if row.status in statuses else None

    return await polling.until(looked_at)


async def test_a_match_between_people_begins_with_the_last_of_them(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as (client, _):
        sent = {"game": "tictactoe", "players": {"x": "human", "o": "human"}, "startClock": 20, "playClock": 20}
        ordered = await told(await client.post(MATCHES, json=sent), 201)
        listed, seen = [], []
        for role in ("x", "o"):
            line = (await told(await client.get(MATCHES)))["matches"][0]
            record = await told(await client.get(ordered["url"]))
            listed.append((line["status"], line["missing"], record["x-status"], record["x-missing"]))
            headers = {SECRET: ordered["seats"][role]}
            view = await told(await client.get(f"{ordered['url']}/seats/{role}", headers=headers))
            seen.append((view["status"] == "lobby", view["missing"]))

        async def complete() -> dict[str, Any] | None:
            found: dict[str, Any] = (await told(await client.get(MATCHES)))["matches"][0]
            return None if "missing" in found else found

        line = await polling.until(complete)
    assert ordered["status"] == "lobby"
    assert listed == [("lobby", ["x", "o"], "lobby", ["x", "o"]), ("lobby", ["o"], "lobby", ["o"])]
    assert seen == [(True, ["o"]), (False, [])]
    assert line["status"] in ("queued", "running")


async def test_the_lobby_survives_kills(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/killed.sqlite"
    async with hosting(address):
        pass  # it makes the tables
    (match_id,) = await kept(address, [order({"x": "human", "o": "human"})])
    for role in ("x", "o"):
        async with hosting(address), looking(address) as stored:
            assert (await until(stored.matches, match_id, "lobby", "running")).status == "lobby"
        database = await Database.open(address, exclusive=False)
        assert await Lobby(database).note_arrival(match_id, role)
        await database.close()
    async with hosting(address), looking(address) as stored:
        await until(stored.matches, match_id, "running")


@pytest.mark.sampled(2)
async def test_who_is_missing_for_too_long_cancels_the_match(database: Database) -> None:
    manager = GameManager(database, GameManagerSettings(lobby_s=0.2))
    await manager.start()
    try:
        match_id = (await manager.order(order({"x": "human", "o": "human"}))).row.id
        await manager.note_arrival(match_id, "o")
        with manager.notifier.subscribed(match_id) as fresh:
            async with asyncio.timeout(30):
                while not (row := await known_match(manager, match_id)).has_ended:
                    await something_new(fresh, 0.5)
                    fresh.clear()
        assert (row.status, row.abort_reason) == ("aborted", "not everybody came within 0.2 s: x missing")
    finally:
        await manager.close()


async def test_who_ordered_it_cancels_it_before_anybody_came(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as (client, _):
        sent = {"game": "tictactoe", "players": {"x": "human"}}
        ordered = await told(await client.post(MATCHES, json=sent), 201)
        assert (await told(await client.post(f"{ordered['url']}/abort"), 202))["aborted"]
        line = (await told(await client.get(MATCHES)))["matches"][0]
        assert (line["status"], "missing" in line) == ("aborted", False)
        headers = {SECRET: ordered["seats"]["x"]}
        view = await told(await client.get(f"{ordered['url']}/seats/x", headers=headers))
        assert (view["status"], view["missing"]) == ("aborted", [])


async def test_a_stream_of_the_seat_tells_who_comes_and_counts_as_coming(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as (client, access):
        await access.issuing.issue("root", Role.ADMIN)
        host = str((await access.issuing.issue("hugo", Role.HOST)).text)
        sent = {"game": "tictactoe", "players": {"x": "human", "o": "human"}, "startClock": 20, "playClock": 20}
        by = {"Authorization": f"Bearer {host}"}
        ordered = await told(await client.post(MATCHES, json=sent, headers=by), 201)
        lines = []
        x, o = ({SECRET: ordered["seats"][role], "Accept": "application/x-ndjson"} for role in ("x", "o"))
        async with client.get(f"{ordered['url']}/seats/x/events", headers=x) as stream:
            lines.append(await stream.content.readline())
            await told(await client.get(f"{ordered['url']}/seats/o", headers=o))
            while b"running" not in lines[-1]:
                lines.append(await stream.content.readline())
            await told(await client.post(f"{ordered['url']}/abort", headers=by), 202)
            while line := await stream.content.readline():
                lines.append(line)
        assert b'"status": "lobby"' in lines[0]
        assert b'"closed"' in lines[-1]
        async with client.get(f"{ordered['url']}/seats/x/events", headers={SECRET: "wrong"}) as answer:
            assert answer.status == 403
