"""The pages to log in and out, and the one on which an admin issues and revokes tokens."""

import re
from collections.abc import Sequence
from typing import Any, Final

from aiohttp import web

from gdl.errors import UnknownNameError
from server.access.authentication import is_valid
from server.access.control import ACCESS, PRINCIPAL, AccessControl, requires
from server.access.issuing import Issued, read_class_list
from server.clock import now_ms
from server.principal import Role, role_named
from server.refusals import RequestError, TokenFieldError, TokenRuleError, UnknownTokenError
from server.web.rendering import Confirmation, ask, render

_LOCAL: Final = re.compile(r"/(?![/\\])[^\\\s\x00-\x1f]*")
"""An address on this server; browsers take a backslash for a slash, and two slashes for another server."""


def add_routes(app: web.Application) -> None:
    """Add /login, /logout and /admin."""
    app.router.add_get("/login", show_login)
    app.router.add_post("/login", log_in)
    app.router.add_post("/logout", log_out)
    app.router.add_get("/admin", show_tokens)
    app.router.add_post("/admin/tokens", issue)
    app.router.add_post("/admin/class", issue_class)
    app.router.add_post("/admin/tokens/{id}/rotate", rotate)
    app.router.add_get("/admin/tokens/{id}/rotate", confirm_rotation)
    app.router.add_get("/admin/tokens/{id}/revoke", confirm_revocation)
    app.router.add_post("/admin/tokens/{id}/revoke", revoke)


@requires(None)
async def show_login(request: web.Request) -> web.Response:
    """Show the form for a token."""
    return _login_page(request, request.query.get("next", ""))


@requires(None)
async def log_in(request: web.Request) -> web.Response:
    """Begin a session, and lead to the page that was asked for."""
    form = await request.post()
    wanted = str(form.get("next", ""))
    if not await request.app[ACCESS].log_in(request, str(form.get("token", ""))):
        return _login_page(request, wanted, "This is no valid token.")
    raise web.HTTPSeeOther(wanted if _LOCAL.fullmatch(wanted) else "/")


@requires(None)
async def log_out(request: web.Request) -> web.Response:
    """End the session."""
    await request.app[ACCESS].log_out(request)
    raise web.HTTPSeeOther("/login")


@requires(Role.ADMIN)
async def show_tokens(request: web.Request) -> web.Response:
    """Show the tokens, and the forms to issue some."""
    return await _tokens_page(request)


@requires(Role.ADMIN)
async def issue(request: web.Request) -> web.Response:
    """Issue a token, and show it this once."""
    form = await request.post()
    access = request.app[ACCESS]
    was_open = await access.is_open()
    try:
        issued = await access.issuing.issue(_text(form, "name"), _role(form), _days(form), _text(form, "note"))
    except (RequestError, UnknownNameError) as error:
        return await _tokens_page(request, problem=str(error), form=form)
    if was_open:
        # From this token on the server needs one, also from the sender of this request.
        await access.log_in(request, str(issued.text))
    return await _tokens_page(request, [issued])


@requires(Role.ADMIN)
async def issue_class(request: web.Request) -> web.Response:
    """Issue a token to everybody on a class list who has none, and show them this once."""
    form = await request.post()
    access = request.app[ACCESS]
    try:
        if await access.is_open():
            raise TokenRuleError("Issue a token to yourself first, with the role admin.")
        issued = await access.issuing.issue_all(read_class_list(_text(form, "names")), _role(form), _days(form))
    except (RequestError, UnknownNameError) as error:
        return await _tokens_page(request, problem=str(error), form=form)
    return await _tokens_page(request, issued, problem="" if issued else "Everybody on the list has a token already.")


@requires(Role.ADMIN)
async def rotate(request: web.Request) -> web.Response:
    """Issue a new secret for a token, and show it this once."""
    access = request.app[ACCESS]
    issued = await access.issuing.rotate(request.match_info["id"])
    if issued.row.id == request[PRINCIPAL].token_id:
        await access.log_in(request, str(issued.text))
    return await _tokens_page(request, [issued])


@requires(Role.ADMIN)
async def confirm_rotation(request: web.Request) -> web.Response:
    """Ask whether a token is to be replaced."""
    return await _confirm(request, "Replace", "its sessions end, and a new one is shown, once")


@requires(Role.ADMIN)
async def confirm_revocation(request: web.Request) -> web.Response:
    """Ask whether a token is to be revoked."""
    return await _confirm(request, "Revoke", "and its sessions end")


async def _confirm(request: web.Request, word: str, besides: str) -> web.Response:
    """Ask whether a token is to open nothing any more, and say what happens *besides*."""
    listed = {row.id: row for row in await request.app[ACCESS].issuing.listed() if row.revoked_ms is None}
    row = listed.get(request.match_info["id"])
    if row is None:
        raise UnknownTokenError(request.match_info["id"])
    asked = Confirmation(
        f"{word} the token of {row.name}?",
        f"The token {row.id} ({row.role}) opens nothing any more, {besides}.",
        word=word,
        address=request.path,
        back="/admin",
    )
    return ask(request, asked)


@requires(Role.ADMIN)
async def revoke(request: web.Request) -> web.Response:
    """Revoke a token."""
    await request.app[ACCESS].issuing.revoke(request.match_info["id"])
    raise web.HTTPSeeOther("/admin")


def _login_page(request: web.Request, wanted: str, problem: str = "") -> web.Response:
    return render(request, "login.html", status=401 if problem else 200, wanted=wanted, problem=problem)


async def _tokens_page(
    request: web.Request, issued: Sequence[Issued] = (), problem: str = "", form: Any = None
) -> web.Response:
    """Return the page of tokens, with those just *issued*, or the *problem* of the *form*."""
    access: AccessControl = request.app[ACCESS]
    return render(
        request,
        "admin.html",
        status=400 if problem and not issued and form is not None else 200,
        rows=await access.issuing.listed(),
        is_open=await access.is_open(),
        issued=issued,
        problem=problem,
        typed={name: str(value) for name, value in (form or {}).items()},
        roles=list(Role),
        is_valid=lambda row: is_valid(row, now_ms()),
    )


def _text(form: Any, name: str) -> str:
    return str(form.get(name, ""))


def _role(form: Any) -> Role:
    return role_named(_text(form, "role"))


def _days(form: Any) -> int | None:
    text = _text(form, "days").strip()
    if not text:
        return None
    if not re.fullmatch(r"[0-9]{1,6}", text):
        raise TokenFieldError(f"a token is valid for a whole number of days, not {text[:20]!r}")
    return int(text)
