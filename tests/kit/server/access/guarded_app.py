"""A small application behind access control, on a database of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from server.access.control import EMBEDDED, AccessControl, csrf_token, principal, requires
from server.access.guard import add_guard
from server.access.settings import AccessSettings
from server.principal import Role
from server.refusals import RequestError
from server.storage.accounts import TokenStore
from server.storage.database import Database
from tests.kit.server.databases import new_sqlite

Client: TypeAlias = TestClient[web.Request, web.Application]
STREAMED_ON = web.AppKey("streamed_on", asyncio.Event)
"""Set, it lets the streams that are open go on to their end."""
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


async def _who(request: web.Request) -> web.Response:
    return web.json_response([principal(request).name, principal(request).role.word])


@requires(None)
async def _form(request: web.Request) -> web.Response:
    return web.Response(text=csrf_token(request))


@requires(None)
async def _embedded(request: web.Request) -> web.Response:
    request[EMBEDDED] = True
    return web.Response()


@requires(None)
async def _named(request: web.Request) -> web.Response:
    return web.Response(text=request.match_info["name"])


@requires(None)
async def _take(request: web.Request) -> web.Response:
    return web.Response(text=str(len(await request.read())))


@requires(Role.HOST)
async def _order(request: web.Request) -> web.Response:
    return web.Response(text=await request.text())


@requires(None)
async def _reply(request: web.Request) -> web.Response:
    if await request.text() != "known":
        raise RequestError("unknown_request", "no such request", status=404)
    return web.Response()


async def _undeclared(_request: web.Request) -> web.Response:
    return web.Response(text="changed")


async def _stream(request: web.Request) -> web.StreamResponse:
    answer = web.StreamResponse()
    await answer.prepare(request)
    await answer.write(b"begun")
    await request.app[STREAMED_ON].wait()
    await answer.write(b"ended")
    return answer


@requires(None)
async def _stream_for_anybody(request: web.Request) -> web.StreamResponse:
    return await _stream(request)


@web.middleware
async def _told(request: web.Request, handler: object) -> web.StreamResponse:
    assert callable(handler)
    try:
        answer: web.StreamResponse = await handler(request)
    except RequestError as error:
        told = [error.code, error.message, error.hint]
        return web.json_response(told, status=error.status, headers=error.headers)
    return answer


def application(access: AccessControl) -> web.Application:
    """Return an application with a handler of every kind."""
    app = web.Application(middlewares=[_told], client_max_size=100_000)
    app.router.add_get("/who", _who)
    app.router.add_get("/form", _form)
    app.router.add_get("/embedded", _embedded)
    app[STREAMED_ON] = asyncio.Event()
    app.router.add_get("/stream", _stream)
    app.router.add_get("/seat", _stream_for_anybody)
    app.router.add_get("/named/{name}", _named)
    app.router.add_post("/order", _order)
    app.router.add_post("/api/take", _take)
    app.router.add_post("/api/v1/matches", _order)
    app.router.add_post("/api/v1/players/deep/replies", _reply)
    app.router.add_post("/undeclared", _undeclared)
    app.router.add_static("/static/", Path(__file__).parent)
    add_guard(app, access)
    return app


@asynccontextmanager
async def database(folder: Path) -> AsyncIterator[Database]:
    """Open a new database while the block runs."""
    found = await new_sqlite(folder)
    try:
        yield found
    finally:
        await found.close()


@asynccontextmanager
async def guarded_app(
    folder: Path, settings: AccessSettings | None = None
) -> AsyncIterator[tuple[Client, AccessControl]]:
    """Serve the application, and give a client of it with the access that it asks for."""
    async with database(folder) as found:
        access = AccessControl(settings or AccessSettings(), TokenStore(found))
        async with TestClient(TestServer(application(access))) as client:
            yield client, access


def bearer(token: object) -> dict[str, str]:
    """Return the header that shows *token*."""
    return {"Authorization": f"Bearer {token}"}
