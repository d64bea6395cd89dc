"""Tournaments that a test orders over the API, and waits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.kit.polling import until
from tests.kit.server.api.whole_server import Client, told

TOURNAMENTS = "/api/v1/tournaments"
CUP: dict[str, Any] = {
    "name": "cup", "format": "round-robin", "games": ["tictactoe"], "rounds": 1, "startClock": 10, "playClock": 10,
    "seed": 5, "players": ["legal", "random"],
}  # fmt: skip


async def order_cup(client: Client, **changes: Any) -> Any:
    """Order a tournament, by default of two players who meet once."""
    return await told(await client.post(TOURNAMENTS, json=CUP | changes), 201)


async def command_cup(client: Client, what: str, **body: Any) -> Any:
    """Do something with the tournament, such as to start it."""
    path = f"{TOURNAMENTS}/cup/{what}"
    return await told(await (client.post(path, json=body) if body else client.post(path)))


async def until_cup(client: Client, is_so: Callable[[Any], bool]) -> Any:
    """Return the tournament once *is_so*."""

    async def looked_at() -> Any:
        found = await told(await client.get(f"{TOURNAMENTS}/cup"))
        return found if is_so(found) else None

    return await until(looked_at, 120, pause_s=0.1)


async def played_cup(client: Client, **changes: Any) -> Any:
    """Return a tournament that was played to its end."""
    await order_cup(client, **changes)
    await command_cup(client, "start")
    return await until_cup(client, lambda found: bool(found["status"] == "over"))
