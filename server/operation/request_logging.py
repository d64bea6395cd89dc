"""One line in the log, an id and a place in the metrics for every HTTP request."""

import logging
import re
import secrets
import time
from typing import Final

import structlog
from aiohttp import web
from aiohttp.http_exceptions import BadHttpMessage
from aiohttp.typedefs import Handler
from aiohttp.web_protocol import RequestPayloadError

from server.access.control import PRINCIPAL, REMOTE
from server.errors import INTERNAL
from server.operation.logs import bound
from server.operation.metrics import METRICS

REQUEST_ID: Final = web.RequestKey("request_id", str)
HEADER: Final = "X-Request-ID"
CLOSED_BY_CLIENT: Final = 499
"""The status that is counted where the client was gone before the answer; it is never sent."""

_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_QUIET: Final = frozenset({"/healthz", "/readyz", "/metrics"})
"""What machines ask every few seconds: not worth a line each."""
_SERVER: Final = logging.getLogger("aiohttp.server")
_LOG: Final = structlog.get_logger("server.requests")


@web.middleware
async def observing(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer *request*, and count, time and log that; the outermost middleware of all."""
    request[REQUEST_ID] = request_id = _request_id(request)
    metrics = request.app[METRICS]
    started_s = time.perf_counter()
    metrics.open_request(1)
    status, is_stream = CLOSED_BY_CLIENT, False
    try:
        with bound(request=request_id):
            response = await _answered(request, handler)
            status, is_stream = response.status, not isinstance(response, web.Response | web.FileResponse)
            return response
    except web.HTTPException as error:
        status = error.status
        raise
    finally:
        elapsed_s = time.perf_counter() - started_s
        metrics.open_request(-1)
        metrics.take_request(request.method, route_of(request), status, None if is_stream else elapsed_s)
        _log(request, status, elapsed_s)


def _request_id(request: web.Request) -> str:
    """Return the id that a proxy gave the request, or a new one."""
    given = request.headers.get(HEADER, "")
    return given if _ID.fullmatch(given) else secrets.token_hex(8)


async def _answered(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Return the response of *handler* with the request's id; an unforeseen error is logged and becomes status 500."""
    try:
        response = await handler(request)
    except web.HTTPException as error:
        error.headers[HEADER] = request[REQUEST_ID]
        raise
    except Exception:
        _LOG.exception("request failed", path=request.path)
        response = web.json_response({"error": INTERNAL}, status=500)
    if not response.prepared:
        response.headers[HEADER] = request[REQUEST_ID]
    return response


def route_of(request: web.Request) -> str:
    """Return the route that answers *request*, without what is variable in it: there are only so many."""
    resource = request.match_info.route.resource
    return "unknown" if resource is None else resource.canonical


def _log(request: web.Request, status: int, elapsed_s: float) -> None:
    """Log the request; those of monitors only where they failed."""
    if request.path in _QUIET and status < 500:
        return
    _LOG.info(
        "request",
        request=request[REQUEST_ID],
        method=request.method[:20],
        path=request.path,
        status=status,
        ms=round(1000 * elapsed_s, 1),
        remote=request[REMOTE].address if REMOTE in request else request.remote,
        by=request[PRINCIPAL].name if PRINCIPAL in request else None,
    )


def lower_bad_requests() -> None:
    """Have aiohttp log heads and bodies that are not HTTP, the fault of clients, in a line of the level `info`."""
    _SERVER.addFilter(_lowered)


def _lowered(record: logging.LogRecord) -> bool:
    """Return whether *record* is logged, after it was lowered if it is about a head or body that is not HTTP."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, RequestPayloadError):
        record.msg, record.args = f"Error reading the body of a request: {error}", ()
    elif isinstance(error, BadHttpMessage):
        record.msg, record.args = f"{record.getMessage()}: {error.message}", ()
    else:
        return True
    record.levelno, record.levelname, record.exc_info = logging.INFO, logging.getLevelName(logging.INFO), None
    return _SERVER.isEnabledFor(logging.INFO)
