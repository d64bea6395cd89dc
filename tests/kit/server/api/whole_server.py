"""The whole server in one process, on a database of its own, and a client that speaks JSON with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from server.access.control import AccessControl
from server.access.settings import AccessSettings
from server.app import Watch, make_app
from server.app_keys import MANAGER
from server.hosting.game_manager import GameManager
from server.hosting.settings import GameManagerSettings
from server.storage.accounts import TokenStore
from tests.kit import polling
from tests.kit.server.databases import new_sqlite

Client: TypeAlias = TestClient[web.Request, web.Application]
MATCHES = "/api/v1/matches"
OPEN = AccessSettings()
DEFAULT = GameManagerSettings()


@asynccontextmanager
async def whole_server(
    folder: Path, settings: GameManagerSettings = DEFAULT, access: AccessSettings = OPEN, *, plays: bool = True
) -> AsyncIterator[tuple[Client, AccessControl]]:
    """Yield a client of a server whose database is in *folder*, and who decides about access; matches are parked.

    Unless it *plays*, it starts no match, and goes on with no tournament.
    """
    database = await new_sqlite(folder, has_library=True)
    manager = GameManager(database, settings)
    if plays:
        await manager.start()
    control = AccessControl(access, TokenStore(database))
    try:
        async with TestClient(TestServer(make_app(manager, control, Watch()))) as client:
            yield client, control
    finally:
        await manager.close()
        await database.close()


def manager_of(client: Client) -> GameManager:
    """Return the game manager behind *client*."""
    app = client.app
    assert app is not None
    return app[MANAGER]


async def told(answer: aiohttp.ClientResponse, status: int = 200) -> Any:
    """Return the JSON of *answer*, which has that *status*."""
    body = await answer.json()
    assert answer.status == status, body
    return body


async def refused(answer: aiohttp.ClientResponse) -> tuple[int, dict[str, Any]]:
    """Return the status of *answer*, and the error that it tells in the one shape."""
    body = await answer.json()
    assert set(body) == {"error"}
    assert set(body["error"]) >= {"code", "message", "hint"}
    return answer.status, body["error"]


async def ordered(client: Client, **order: object) -> str:
    """Return the URL of a match that is ordered."""
    answer = await client.post(MATCHES, json={"startClock": 20, "playClock": 20} | order)
    body = await told(answer, 201)
    assert answer.headers["Location"] == body["url"]
    return str(body["url"])


async def record(
    client: Client, url: str, until: str = "over", headers: dict[str, str] | None = None
) -> dict[str, Any]:
    """Return the record of a match when its status is *until*; a match that was aborted is over.

    A record tells how a match ended a moment before its last players have answered: the match is over after that.
    """

    async def looked_at() -> dict[str, Any] | None:
        found: dict[str, Any] = await told(await client.get(url, headers=headers))
        status = found.get("x-status", "over")
        never_began = "x-status" in found and "startTime" not in found and found["isAborted"]
        return found if status == until or (until == "over" and never_began) else None

    return await polling.until(looked_at)
