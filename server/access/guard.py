"""The middleware at the door: every request passes it before its handler, and every answer gets its headers here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from aiohttp import web
from yarl import URL

from server.access.access import ACCESS, PRINCIPAL, REMOTE, Access
from server.access.errors import SlowRequestError, UnauthorizedError
from server.access.headers import HEADERS, SECRET_HEADERS
from server.access.sessions import COOKIES, FORM_TYPES
from server.errors import RequestError

_Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]
_MAX_SHOWN: Final = 300
LOGIN: Final = "/login"
MAX_STRANGE_BYTES: Final = 65_536
"""How large a body may be that comes from nobody knows whom: a form to log in, the move of a person."""


def add_guard(app: web.Application, access: Access) -> None:
    """Let everything that is asked of *app* pass the door; `server.api` and `server.web` tell its refusals."""
    app[ACCESS] = access
    app.middlewares.append(_guarded)
    app.cleanup_ctx.append(access.lasting.run)
    app.on_response_prepare.append(_finish)


@web.middleware
async def _guarded(request: web.Request, handler: _Handler) -> web.StreamResponse:
    access = request.app[ACCESS]
    party = await access.admit(request)
    with access.lasting.held(request):
        if not party:
            return await _checked(request, handler)
        await access.pace.count(party, request.method, request.path)
        with access.pace.at_once(party):
            return await _checked(request, handler)


async def _checked(request: web.Request, handler: _Handler) -> web.StreamResponse:
    access = request.app[ACCESS]
    try:
        access.check_rights(request)
    except UnauthorizedError:
        if _is_page(request):
            raise web.HTTPSeeOther(URL(LOGIN).with_query(next=request.path_qs)) from None
        raise
    await _read_body(request, access.settings.limits.body_s)
    await access.check_form(request)
    return await handler(request)


def _is_page(request: web.Request) -> bool:
    is_wanted = "text/html" in request.headers.get("Accept", "")
    return request.method == "GET" and is_wanted and not request.path.startswith("/api/")


async def _read_body(request: web.Request, limit_s: float) -> None:
    """Take the body in, which handlers then find read, so that it cannot come drop by drop."""
    is_form = request.content_type in FORM_TYPES
    if not (request.can_read_body or is_form):
        return
    if PRINCIPAL not in request and _length(request) > MAX_STRANGE_BYTES:
        raise RequestError("too_large", "this is too large from somebody without a token", status=413)
    try:
        async with asyncio.timeout(limit_s):
            await (request.post() if is_form else request.read())
    except TimeoutError:
        raise SlowRequestError(limit_s) from None
    except web.HTTPException:
        raise
    except Exception as error:  # a form, a charset or a compression that is none: whatever it is, the sender made it
        told = str(error).encode("ascii", "backslashreplace").decode()[:_MAX_SHOWN]
        raise RequestError("bad_request", f"the body is not what its head says: {told}") from None


def _length(request: web.Request) -> int:
    """Return how long the body of *request* is; one of which nobody knows is taken for too long."""
    if not request.can_read_body:
        return 0
    return MAX_STRANGE_BYTES + 1 if request.content_length is None else request.content_length


async def _finish(request: web.Request, response: web.StreamResponse) -> None:
    # Before the headers go out, whoever made the response: streams and errors have them, too.
    response.headers.update(HEADERS)
    # Not for localhost: browsers would then refuse what other programs serve there.
    if REMOTE in request and request[REMOTE].is_secret and not request[REMOTE].is_local:
        response.headers.update(SECRET_HEADERS)
    if PRINCIPAL in request:
        response.headers.setdefault("Cache-Control", "no-store")
    for cookie in request.get(COOKIES, ()):
        response.headers.add("Set-Cookie", cookie)
