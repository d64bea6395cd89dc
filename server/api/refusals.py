"""Errors as the HTTP API tells them: a status, and one JSON shape."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from aiohttp import web

from gdl.errors import CallerError, ChildProcessDiedError, LimitExceeded, RuleFileError, UnknownNameError
from server.api.codes import CODES
from server.api.problem import problem
from server.errors import PlayerSpecError, RequestError, TooManyMatchesError, UnknownMatchError
from server.hosting.errors import GameNameError, GameTakenError, RulesUnfitError
from server.links.errors import IllegalChoiceError, LateReplyError, NotAskedError, OtherReplyError, UnknownLetterError
from server.registry.errors import (
    NotDialInError,
    PlayerNameError,
    PlayerTakenError,
    TooManyPlayersError,
    UnknownPlayerError,
)
from server.storage.errors import StorageError
from server.validating.report.json import file_report

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]
API: Final = "/api/"
_LOG: Final = logging.getLogger(__name__)
_KINDS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (UnknownMatchError, "unknown_match"),
    (TooManyMatchesError, "too_many_matches"),
    (GameNameError, "invalid_game_name"),
    (GameTakenError, "game_taken"),
    (PlayerSpecError, "invalid_player"),
    (PlayerNameError, "invalid_name"),
    (IllegalChoiceError, "illegal_move"),
    (UnknownPlayerError, "not_registered"),
    (UnknownLetterError, "unknown_letter"),
    (PlayerTakenError, "name_taken"),
    (NotDialInError, "not_dial_in"),
    (NotAskedError, "not_asked"),
    (LateReplyError, "late_reply"),
    (OtherReplyError, "other_reply"),
    (TooManyPlayersError, "too_many_players"),
    (ChildProcessDiedError, "rules_too_costly"),
    (CallerError, "bad_request"),
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
    return web.json_response(body, status=status, headers=kept_headers(error))


def kept_headers(error: Exception) -> dict[str, str]:
    """Return the headers of *error* that its answer keeps."""
    given = error.headers if isinstance(error, web.HTTPException | RequestError) else {}
    return {name: given[name] for name in _KEPT_HEADERS if name in given}


def refusal(error: Exception) -> tuple[int, dict[str, Any]]:
    """Return the status and the body that tell *error*; what nobody foresaw is logged and told without details."""
    if isinstance(error, RequestError):
        return error.status, _body(error.code, error.message, error.hint)
    if isinstance(error, web.HTTPException):
        code = _HTTP_CODES.get(error.status, f"http_{error.status}")
        return error.status, _body(code, error.reason, _HTTP_HINTS.get(error.status, ""))
    if isinstance(error, (UnknownNameError, RuleFileError, LimitExceeded)):
        return 400, {"error": problem(error)}
    if isinstance(error, RulesUnfitError):
        return CODES["rules_unfit"].status, {"error": _unfit(error)}
    if isinstance(error, StorageError):
        _LOG.error("a request failed: %s", error)
        return CODES["storage_failed"].status, _body("storage_failed", "the database failed", "try again later")
    for kind, code in _KINDS:
        if isinstance(error, kind):
            return CODES[code].status, _body(code, str(error), "")
    _LOG.exception("a request failed", exc_info=error)
    return 500, _body("internal", "the game manager failed to answer this", "its log says more")


def _body(code: str, message: str, hint: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "hint": hint}}


def _unfit(error: RulesUnfitError) -> dict[str, Any]:
    report = file_report(error.validation)
    worst: dict[str, Any] = next((found for found in report["diagnostics"] if found["severity"] == "error"), {})
    place = {name: worst[name] for name in ("line", "column") if name in worst}
    kind = {"kind": worst["code"]} if worst else {}
    told = {"code": "rules_unfit", "message": worst.get("message", str(error)), "hint": worst.get("hint", "")}
    return told | kind | place | {name: report[name] for name in ("verdict", "limit", "diagnostics", "simulation")}
