"""Errors as the HTTP API reports them: a code, a status, and one JSON shape."""

import logging
import re
from dataclasses import dataclass
from typing import Any, Final

from aiohttp import web
from aiohttp.http_exceptions import ContentEncodingError
from aiohttp.typedefs import Handler

import gdl.errors
from server import errors
from server.links import errors as link_errors
from server.records.errors import MatchRecordError
from server.refusals import RequestError
from server.storage.errors import DamagedRowError, StorageError
from server.validating.formats import file_report
from server.validating.validation import RulesUnfitError


def problem(error: Exception) -> dict[str, Any]:
    """Return *error* as a JSON object: a `code` for programs, a sentence as `message`, and a `hint`, perhaps empty.

    The code of a crash, which no error of ours foresees, is `internal`. An error of a rule file adds its `kind`, and
    `source`, `line` and `column` where they are known; one of stratification also the `cycle`.
    """
    if isinstance(error, gdl.errors.RuleFileError):
        return _rule_file_problem(error)
    if isinstance(error, gdl.errors.UnknownNameError):
        hint = f"did you mean {' or '.join(error.suggestions)}?" if error.suggestions else ""
        return {"code": f"unknown_{error.kind.split()[0]}", "message": str(error), "hint": hint}
    if not isinstance(error, gdl.errors.GdlError | OSError):
        return errors.INTERNAL | {"message": f"{type(error).__name__}: {error}", "hint": ""}
    code = "rules_too_costly" if isinstance(error, gdl.errors.LimitExceeded) else _kind(error)
    return {"code": code, "message": str(error), "hint": ""}


def _rule_file_problem(error: gdl.errors.RuleFileError) -> dict[str, Any]:
    found: dict[str, Any] = {"code": "rules_refused", "message": error.message, "hint": error.hint or ""}
    found["kind"] = _kind(error)
    if error.span is not None:
        found |= {"source": error.span.source.name, "line": error.span.line, "column": error.span.column}
    if isinstance(error, gdl.errors.StratificationError):
        found["cycle"] = list(error.cycle)
    return found


def _kind(error: Exception) -> str:
    name = type(error).__name__.removesuffix("Error")
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """A kind of error: its HTTP status, and what it means."""

    status: int
    meaning: str


CODES: Final[dict[str, ErrorCode]] = {
    "bad_request": ErrorCode(400, "no request that HTTP allows"),
    "invalid_json": ErrorCode(400, "the body is no JSON"),
    "invalid_toml": ErrorCode(400, "the body is no TOML; `line` and `column` say where"),
    "invalid_body": ErrorCode(400, "the body is JSON, but not what this request takes"),
    "invalid_query": ErrorCode(400, "a parameter of the query or of the path is not what it may be"),
    "invalid_order": ErrorCode(400, "the body orders no match"),
    "unknown_game": ErrorCode(400, "misspelt in an order: the hint has the nearest names"),
    "unknown_player": ErrorCode(400, "misspelt in an order: the hint has the nearest names"),
    "unknown_role": ErrorCode(400, "the game has no such role, or no player plays it"),
    "no_own_seat": ErrorCode(400, "who orders it as a player needs a player or a seat of their own in it"),
    "invalid_player": ErrorCode(
        400,
        "no address or player of ours that may be named there, or an option that it does not take; "
        "in a tournament also `human` and addresses",
    ),
    "invalid_name": ErrorCode(400, "no player may be called so"),
    "illegal_move": ErrorCode(400, "the move is not legal; the message lists those that are"),
    "rules_refused": ErrorCode(400, "the rules cannot be played; `line`, `column` and `kind` say where and why"),
    "rules_too_costly": ErrorCode(400, "the rules cost more time or memory than they may"),
    "too_many_roles": ErrorCode(400, "the game has more roles than may be played here (`--max-roles`)"),
    "too_many_seats": ErrorCode(
        400, "players of ours in it need more processes than may run at once (`--player-cores`)"
    ),
    "rules_unfit": ErrorCode(400, "the rules are not fit to play; `diagnostics` has everything that was found"),
    "about_refused": ErrorCode(400, "the TOML description says something that it may not say"),
    "invalid_game_name": ErrorCode(400, "no game can be called so"),
    "import_refused": ErrorCode(400, "no ZIP archive or rule file, or larger than it may be"),
    "invalid_token": ErrorCode(400, "no name, note or time that a token can have; or no class list"),
    "invalid_tournament": ErrorCode(400, "the tournament contradicts itself, or says something that it may not say"),
    "unauthorized": ErrorCode(401, "no token, or none that is known"),
    "forbidden": ErrorCode(
        403,
        "the token's role may not do this; or the player, entrant or seat belongs to another owner; or a practice "
        "match is ordered with an address, `rules`, `from` or `tournament`, or with a `seed` that tells of others",
    ),
    "not_challengeable": ErrorCode(403, "the owner of a player does not allow others to order matches with it"),
    "foreign_request": ErrorCode(403, "a browser sent this for a page that is not ours"),
    "not_public_yet": ErrorCode(403, "it is shown after the end of the match"),
    "not_found": ErrorCode(404, "nothing is there"),
    "not_registered": ErrorCode(404, "no player of that name is registered"),
    "no_seat": ErrorCode(404, "no person plays that role in the match"),
    "unknown_request": ErrorCode(404, "no such request waits for the player"),
    "unknown_letter": ErrorCode(404, "deprecated: `unknown_request`, for replies that name a `letter`"),
    "unknown_game_name": ErrorCode(404, "there is no such game, or not that version of it"),
    "no_description": ErrorCode(404, "the game has no TOML description"),
    "unknown_match": ErrorCode(404, "there is no such match"),
    "unknown_seat": ErrorCode(404, "the match has no such role"),
    "unknown_step": ErrorCode(404, "the match has no such step, or its state is not public yet"),
    "unknown_token": ErrorCode(404, "no token has that id, or it was revoked"),
    "unknown_import": ErrorCode(404, "no import has that id, or it was long ago"),
    "unknown_tournament": ErrorCode(404, "there is no such tournament"),
    "not_entered": ErrorCode(404, "no such entrant plays in the tournament"),
    "method_not_allowed": ErrorCode(405, "the header Allow has the methods that are"),
    "timeout": ErrorCode(408, "the body did not arrive in time"),
    "game_taken": ErrorCode(409, "there is a game of that name, which is not yours"),
    "match_is_over": ErrorCode(409, "nothing to abort"),
    "match_not_over": ErrorCode(409, "a rematch comes after the end"),
    "name_taken": ErrorCode(409, "another player has that name"),
    "not_dial_in": ErrorCode(409, "the player has an address and plays no match, so that no requests wait for it here"),
    "not_asked": ErrorCode(409, "no move is asked of that seat in that step"),
    "late_reply": ErrorCode(409, "the clock of the question, or its match, is over"),
    "other_reply": ErrorCode(409, "the question has another reply already, which counts"),
    "too_many_players": ErrorCode(409, "the owner has as many players as one owner may have"),
    "no_admin": ErrorCode(409, "it would leave tokens, but none of an administrator"),
    "tournament_taken": ErrorCode(409, "there is a tournament of that name"),
    "wrong_status": ErrorCode(409, "the tournament has not begun, or is paused or over, so that it cannot be done"),
    "entry_closed": ErrorCode(409, "the tournament admits no entrant, or only its host enters players"),
    "already_entered": ErrorCode(409, "an entrant of that name is in the tournament"),
    "already_annulled": ErrorCode(409, "the match does not count already"),
    "no_schedule": ErrorCode(409, "its format has no schedule for its games and entrants, or one of too many matches"),
    "wrong_entrants": ErrorCode(409, "its entrants are too few, or too many, for what was ordered"),
    "too_large": ErrorCode(413, "more than 2,000,000 bytes, without a token 65,536"),
    "unsupported_media_type": ErrorCode(
        415, "send `Content-Type: application/json`; an order of a tournament may be `application/toml`"
    ),
    "expectation_failed": ErrorCode(417, "the header Expect asks for what the server does not do"),
    "wrong_host": ErrorCode(421, "the request names a host that this server is not"),
    "too_many_requests": ErrorCode(429, "the header Retry-After says when to come again"),
    "too_much_practice": ErrorCode(429, "as many practice matches as one may order in a day, or at once"),
    "damaged": ErrorCode(500, "what the database holds of it is damaged; the message says what"),
    "internal": ErrorCode(500, "our fault; the log says more"),
    "busy": ErrorCode(
        503,
        "many rules are being checked, games imported, or ratings worked out, or the game is still being looked at; "
        "try again in some minutes",
    ),
    "shutting_down": ErrorCode(503, "the server takes no more orders before it starts again; try again later"),
    "storage_failed": ErrorCode(503, "the database failed; try again later"),
    "too_many_matches": ErrorCode(503, "the queue is full; try again later"),
}

ALWAYS: Final = ("bad_request", "wrong_host", "too_many_requests", "damaged", "internal", "storage_failed")
"""What every request may be answered with."""
CHANGING: Final = ("foreign_request",)
"""What every request that changes something may be answered with."""
WITH_BODY: Final = ("invalid_json", "timeout", "too_large", "unsupported_media_type")
"""What every request with a body may be answered with."""


API: Final = "/api/"
_LOG: Final = logging.getLogger(__name__)
_KINDS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (errors.UnknownMatchError, "unknown_match"),
    (errors.TooManyMatchesError, "too_many_matches"),
    (errors.ShuttingDownError, "shutting_down"),
    (errors.TooManyRolesError, "too_many_roles"),
    (errors.TooFewCoresError, "too_many_seats"),
    (link_errors.PlayerSpecError, "invalid_player"),
    (link_errors.IllegalChoiceError, "illegal_move"),
    (errors.UnknownPlayerError, "not_registered"),
    (link_errors.UnknownRequestError, "unknown_request"),
    (errors.NotDialInError, "not_dial_in"),
    (link_errors.NotAskedError, "not_asked"),
    (link_errors.LateReplyError, "late_reply"),
    (link_errors.OtherReplyError, "other_reply"),
    (errors.TooManyPlayersError, "too_many_players"),
    (errors.ImportSourceError, "import_refused"),
    (gdl.errors.ChildProcessDiedError, "rules_too_costly"),
    (gdl.errors.CallerError, "bad_request"),
)
_NAME_CODES: Final[dict[type[Exception], dict[errors.NameKind, str]]] = {
    errors.InvalidNameError: {"game": "invalid_game_name", "player": "invalid_name"},
    errors.NameTakenError: {"game": "game_taken", "player": "name_taken"},
}
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


def refused_head(status: int, error: BaseException | None) -> web.Response:
    """Return the answer to what comes to no handler, of which aiohttp raised *error*."""
    if status >= CODES["internal"].status:
        body: dict[str, Any] = {"error": {**errors.INTERNAL}}
    elif isinstance(error, web.HTTPExpectationFailed):
        message = "the header Expect asks for what this server does not do"
        body = _body("expectation_failed", message, "send Expect: 100-continue, or leave it out")
    elif isinstance(error, ContentEncodingError):
        body = _body("bad_request", "the server cannot unpack the body", "send it as it is, or packed with gzip")
    else:  # the lines after the first repeat what came
        said = str(getattr(error, "message", "")).partition("\n")[0].rstrip(":")
        body = _body("bad_request", f"this is no HTTP request: {said}", "")
    return web.json_response(body, status=status)


def kept_headers(error: Exception) -> dict[str, str]:
    """Return the headers of *error* that its answer keeps."""
    given = error.headers if isinstance(error, web.HTTPException | RequestError) else {}
    return {name: given[name] for name in _KEPT_HEADERS if name in given}


def refusal(error: Exception) -> tuple[int, dict[str, Any]]:
    """Return the status and the body for *error*; an unforeseen one is logged and answered without details."""
    if isinstance(error, RequestError):
        return error.status, {"error": _body(error.code, error.message, error.hint)["error"] | error.place}
    if isinstance(error, web.HTTPException):
        code = _HTTP_CODES.get(error.status, f"http_{error.status}")
        return error.status, _body(code, error.reason, _HTTP_HINTS.get(error.status, ""))
    if isinstance(error, (gdl.errors.UnknownNameError, gdl.errors.RuleFileError, gdl.errors.LimitExceeded)):
        return 400, {"error": problem(error)}
    if isinstance(error, RulesUnfitError):
        return CODES["rules_unfit"].status, {"error": _unfit(error)}
    if isinstance(error, DamagedRowError | MatchRecordError):
        _LOG.error("a request failed", exc_info=error)
        told = f"{error.key} is damaged: {error.what}" if isinstance(error, DamagedRowError) else str(error)
        return CODES["damaged"].status, _body("damaged", told, "restore it from a backup, or do without it")
    if isinstance(error, StorageError):
        _LOG.error("a request failed: %s", error)
        return CODES["storage_failed"].status, _body("storage_failed", "the database failed", "try again later")
    known = _code_of(error)
    if known is not None:
        return CODES[known].status, _body(known, str(error), getattr(error, "hint", ""))
    _LOG.exception("a request failed", exc_info=error)
    return CODES[errors.INTERNAL["code"]].status, {"error": {**errors.INTERNAL}}


def _code_of(error: Exception) -> str | None:
    if isinstance(error, errors.InvalidNameError | errors.NameTakenError):
        return _NAME_CODES[type(error)][error.kind]
    return next((code for kind, code in _KINDS if isinstance(error, kind)), None)


def _body(code: str, message: str, hint: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "hint": hint}}


def _unfit(error: RulesUnfitError) -> dict[str, Any]:
    report = file_report(error.validation)
    worst: dict[str, Any] = next((found for found in report["diagnostics"] if found["severity"] == "error"), {})
    place = {name: worst[name] for name in ("line", "column") if name in worst}
    kind = {"kind": worst["code"]} if worst else {}
    body = {"code": "rules_unfit", "message": worst.get("message", str(error)), "hint": worst.get("hint", "")}
    return body | kind | place | {name: report[name] for name in ("verdict", "limit", "diagnostics", "simulation")}
