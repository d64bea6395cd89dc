"""The whole application: no caller makes the server call an address inside our network."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from server.principal import Role
from tests.kit.polling import until
from tests.kit.server.access.guarded_app import bearer
from tests.kit.server.access.sites import Site

REFUSED = "the address is in a network that this server calls no players in"


@pytest.fixture
async def inside() -> AsyncIterator[tuple[str, list[str]]]:
    """Return the address of a program that only this machine should reach, and who called it."""
    callers: list[str] = []

    async def take(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        callers.append(str(writer.get_extra_info("peername")))
        writer.close()

    async with await asyncio.start_server(take, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", callers


async def said(site: Site, role: Role, method: str, path: str, **how: Any) -> tuple[int, Any]:
    async with site.client.request(method, path, headers=bearer(site.tokens[role]), **how) as answer:
        return answer.status, await answer.json()


async def test_addresses_inside_are_not_asked_for_their_info(site: Site, inside: tuple[str, list[str]]) -> None:
    url, callers = inside
    _, told = await said(site, Role.PLAYER, "GET", "/api/v1/info", params={"player": url})
    assert (told["trouble"], callers) == ([f"(INFO): {REFUSED}", f"(PING): {REFUSED}"], [])


async def test_addresses_inside_are_not_registered(site: Site, inside: tuple[str, list[str]]) -> None:
    url, callers = inside
    status, told = await said(site, Role.PLAYER, "POST", "/api/v1/players", json={"name": "spy", "url": url})
    assert (status, told["error"]["code"], callers) == (400, "invalid_player", [])


async def test_addresses_inside_are_not_called_in_matches(site: Site, inside: tuple[str, list[str]]) -> None:
    url, callers = inside
    order = {"game": "tictactoe", "players": {"x": url, "o": url}, "startClock": 5, "playClock": 1}
    status, ordered = await said(site, Role.HOST, "POST", "/api/v1/matches", json=order)
    if status == 201:

        async def completed() -> dict[str, Any] | None:
            _, found = await said(site, Role.SPECTATOR, "GET", ordered["url"])
            return found if found.get("isCompleted") else None

        record = await until(completed)
        assert {error for errors in record["errors"] for error in errors} <= {"", "CE"}
    else:
        assert (status, ordered["error"]["code"]) == (400, "invalid_player")
    assert callers == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize("player", ["cmd:id", "cmd+legal:id", "my_player.py:Player", "os:system", "file:///etc/passwd"])
async def test_no_program_of_this_machine_is_started(site: Site, player: str) -> None:
    order = {"game": "tictactoe", "players": {"x": player}, "startClock": 5, "playClock": 1}
    status, told = await said(site, Role.ADMIN, "POST", "/api/v1/matches", json=order)
    assert (status, told["error"]["code"]) == (400, "invalid_player")
