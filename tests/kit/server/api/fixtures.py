"""A client of the whole server, and players for its matches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from server.hosting.settings import GameManagerSettings
from tests.kit.server.api.whole_server import Client, whole_server


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with whole_server(tmp_path, GameManagerSettings(max_running=2)) as (found, _):
        yield found


@asynccontextmanager
async def answering(answer: Callable[[web.Request], Awaitable[web.Response]]) -> AsyncIterator[str]:
    """Have *answer* reply to messages at any path of the address that is yielded; what it is at is given up then."""
    app = web.Application()
    app.router.add_post("/{tail:.*}", answer)
    server = TestServer(app)
    await server.start_server(shutdown_timeout=0.1)
    yield str(server.make_url("/"))
    await server.close()


@pytest.fixture
async def thinker() -> AsyncIterator[str]:
    """Yield the address of a player that thinks for as long as it may."""

    async def think(request: web.Request) -> web.Response:
        if (await request.text()).startswith("(PLAY"):
            await asyncio.sleep(60)
        return web.Response(text="ready")

    async with answering(think) as address:
        yield address


@pytest.fixture
async def noop() -> AsyncIterator[str]:
    """Yield the address of a player that answers `noop` to everything, so that its moves are substituted or not."""

    async def answer(_request: web.Request) -> web.Response:
        return web.Response(text="noop")

    async with answering(answer) as address:
        yield address
