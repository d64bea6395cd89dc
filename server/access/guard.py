"""The middleware that every request passes before its handler, and the headers that every answer gets."""

import asyncio
from collections.abc import Iterable
from typing import Final

from aiohttp import BodyPartReader, MultipartReader, hdrs, web
from aiohttp.typedefs import Handler
from yarl import URL

from server.access.authentication import COOKIES, FORM_TYPES
from server.access.control import ACCESS, ANONYMOUS, EMBEDDED, PRINCIPAL, REMOTE, AccessControl
from server.errors import NoAdminError
from server.refusals import RequestError, SlowRequestError, UnauthorizedError
from server.sanitization import clean_text, is_storable


async def check_opening(access: AccessControl, host: str, database: str) -> None:
    """Check that a server that others reach at *host*, with its tokens in *database*, has an administrator.

    Raises:
        NoAdminError: no token has the role of an administrator; the error names the command that issues one.
    """
    if not access.settings.is_private and not await access.issuing.has_admin():
        raise NoAdminError(host, f"ggp token issue NAME --role admin --database {database}")


_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # Not `no-referrer`: browsers then hide the origin of our own forms, too.
    "Referrer-Policy": "same-origin",
    "Server": "ggp",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""What every answer has; no script or style inside a page is run."""
_EMBEDDED_HEADERS: Final = {
    # No script and no form: there is nothing in it that a page around it could have a person click on.
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'none'",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    ),
    "Cross-Origin-Resource-Policy": "cross-origin",
}
SECRET_HEADERS: Final = {"Strict-Transport-Security": "max-age=31536000"}
"""What every answer under TLS has besides."""


_MAX_SHOWN: Final = 300
LOGIN: Final = "/login"
MAX_STRANGE_BYTES: Final = 65_536
"""How large the body of an unauthenticated request may be: a form to log in, the move of a person."""
_MAX_CONTENT_TYPE: Final = 256
"""The longest `Content-Type`: aiohttp parses it in time that grows with the square of its length."""
_CHARSETS: Final = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})


class _TextPart(BodyPartReader):
    """A part of a form in several parts, of which text is decoded as UTF-8."""

    def get_charset(self, default: str) -> str:
        """Return the charset of the part; raises as `_check_charset`."""
        charset = super().get_charset(default)
        _check_charset(charset)
        return charset


# `web.Request.post` takes the parts from this class, and has no argument for another.
MultipartReader.part_reader_cls = _TextPart


def add_guard(app: web.Application, access: AccessControl) -> None:
    """Guard every request to *app*; `server.api` and `server.web` answer what it refuses."""
    app[ACCESS] = access
    app.middlewares.append(_guarded)
    app.cleanup_ctx.append(access.authentication.run)
    app.cleanup_ctx.append(access.open_requests.run)
    app.on_response_prepare.append(_finish)


@web.middleware
async def _guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Authenticate the client, count the request for its party, then check and handle it."""
    access = request.app[ACCESS]
    _check_content_type(request)
    party = await access.admit(request)
    with access.open_requests.held(request):
        if not party:
            return await _checked(request, handler)
        async with access.rate_limiter.counted(party, request.method, request.path):
            with access.rate_limiter.at_once(party):
                return await _checked(request, handler)


async def _checked(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Authorize *request*, read its body, check that a form is ours, and call *handler*; pages lead to the login."""
    access = request.app[ACCESS]
    _clean_address(request)
    try:
        access.check_rights(request)
    except UnauthorizedError:
        if _is_page(request):
            raise web.HTTPSeeOther(URL(LOGIN).with_query(next=request.path_qs)) from None
        raise
    await _read_body(request, access.settings.limits.body_s)
    await access.check_form(request)
    return await handler(request)


def _check_content_type(request: web.Request) -> None:
    """Refuse a `Content-Type` that is too long to be parsed; nothing may ask for its parts before."""
    if len(request.headers.get("Content-Type", "")) > _MAX_CONTENT_TYPE:
        raise RequestError("bad_request", f"the header Content-Type has more than {_MAX_CONTENT_TYPE} characters")


def _check_charset(charset: str) -> None:
    """Refuse a form in a *charset* that no browser sends here: its name chooses the codec, and some are slow.

    Raises:
        RequestError: the charset is not UTF-8 or a part of it.
    """
    if charset.lower() not in _CHARSETS:
        raise RequestError("unsupported_media_type", "a form must be in UTF-8", "send it without a charset", 415)


def _clean_address(request: web.Request) -> None:
    """Clean what the path says, and refuse a query that no database takes."""
    for name, text in request.match_info.items():
        request.match_info[name] = text if is_storable(text) else clean_text(text, len(text))
    _check_fields(request.query.items())


def _check_fields(fields: Iterable[tuple[str, object]]) -> None:
    for name, value in fields:
        if not is_storable(name) or (isinstance(value, str) and not is_storable(value)):
            raise RequestError("bad_request", "there are characters in it that are in no text")


def _is_page(request: web.Request) -> bool:
    is_wanted = "text/html" in request.headers.get("Accept", "")
    return request.method in (hdrs.METH_GET, hdrs.METH_HEAD) and is_wanted and not request.path.startswith("/api/")


async def _read_body(request: web.Request, limit_s: float) -> None:
    """Take the body in, which handlers then find read, so that it cannot come drop by drop."""
    is_form = request.content_type in FORM_TYPES
    if not (request.can_read_body or is_form):
        return
    if request.get(PRINCIPAL, ANONYMOUS) is ANONYMOUS and _length(request) > MAX_STRANGE_BYTES:
        raise RequestError("too_large", "this is too large for a request without a token", status=413)
    try:
        async with asyncio.timeout(limit_s):
            if is_form:
                _check_charset(request.charset or "utf-8")
                _check_fields((await request.post()).items())
            else:
                await request.read()
    except TimeoutError:
        raise SlowRequestError(limit_s) from None
    except (web.HTTPException, RequestError):
        raise
    except Exception as error:  # a form, a charset or a compression that is none: whatever it is, the sender made it
        shown = str(error).encode("ascii", "backslashreplace").decode()[:_MAX_SHOWN]
        raise RequestError("bad_request", f"the body is not what its head says: {shown}") from None


def _length(request: web.Request) -> int:
    """Return the length of the body of *request*; an undeclared one counts as too long."""
    if not request.can_read_body:
        return 0
    return MAX_STRANGE_BYTES + 1 if request.content_length is None else request.content_length


async def _finish(request: web.Request, response: web.StreamResponse) -> None:
    """Add the security headers to *response*, and the cookies that were set on the way."""
    # Before the headers go out, also those of streams and errors.
    response.headers.update(HEADERS)
    if request.get(EMBEDDED, False) and PRINCIPAL in request and not request[PRINCIPAL].is_known:
        response.headers.update(_EMBEDDED_HEADERS)
        response.headers.popall("X-Frame-Options", None)
    # Not for localhost: browsers would then refuse what other programs serve there.
    if REMOTE in request and request[REMOTE].is_secret and not request[REMOTE].is_local:
        response.headers.update(SECRET_HEADERS)
    # Also to who shows no token: the secret of a seat is in a header of its own, which no cache knows of.
    response.headers.setdefault("Cache-Control", "no-store")
    for cookie in request.get(COOKIES, ()):
        response.headers.add("Set-Cookie", cookie)
