"""Errors as the HTTP API tells them: a status, and one JSON shape."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from aiohttp import web

from gdl.errors import CallerError, LimitExceeded, RuleFileError, UnknownNameError
from server.api.problem import problem
from server.errors import PlayerSpecError, RequestError, TooManyMatchesError, UnknownMatchError

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]
API: Final = "/api/"
_LOG: Final = logging.getLogger(__name__)
_KINDS: Final[tuple[tuple[type[Exception], int, str], ...]] = (
    (UnknownMatchError, 404, "unknown_match"),
    (TooManyMatchesError, 503, "too_many_matches"),
    (PlayerSpecError, 400, "invalid_player"),
    (CallerError, 400, "invalid_order"),
)
_HTTP_CODES: Final = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
    429: "too_many_requests",
}
_HTTP_HINTS: Final = {404: "GET /api/v1/docs says what can be asked"}
_KEPT_HEADERS: Final = ("Allow", "Retry-After", "WWW-Authenticate")


@web.middleware
async def refusing(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Tell whatever goes wrong under `/api/` in the one shape; the rest is for the pages."""
    if not request.path.startswith(API):
        return await handler(request)
    try:
        return await handler(request)
    except Exception as error:  # whatever it is, the answer has the one shape
        return refused(error)


def refused(error: Exception) -> web.Response:
    """Return the answer that tells *error*."""
    status, body = refusal(error)
    given = error.headers if isinstance(error, web.HTTPException | RequestError) else {}
    headers = {name: given[name] for name in _KEPT_HEADERS if name in given}
    return web.json_response(body, status=status, headers=headers)


def refusal(error: Exception) -> tuple[int, dict[str, Any]]:
    """Return the status and the body that tell *error*; what nobody foresaw is logged and told without details."""
    if isinstance(error, RequestError):
        return error.status, _body(error.code, error.message, error.hint)
    if isinstance(error, web.HTTPException):
        code = _HTTP_CODES.get(error.status, f"http_{error.status}")
        return error.status, _body(code, error.reason, _HTTP_HINTS.get(error.status, ""))
    if isinstance(error, (UnknownNameError, RuleFileError, LimitExceeded)):
        return 400, {"error": problem(error)}
    for kind, status, code in _KINDS:
        if isinstance(error, kind):
            return status, _body(code, str(error), "")
    _LOG.exception("a request failed", exc_info=error)
    return 500, _body("internal", "the game manager failed to answer this", "its log says more")


def _body(code: str, message: str, hint: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "hint": hint}}
