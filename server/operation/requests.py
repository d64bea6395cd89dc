"""One line in the log, an id and a place in the metrics for every HTTP request, and compressed answers."""

import asyncio
import gzip
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

import structlog
from aiohttp import hdrs, web
from aiohttp.http_exceptions import BadHttpMessage
from aiohttp.web_protocol import RequestPayloadError

from server.access.access import PRINCIPAL, REMOTE
from server.errors import INTERNAL
from server.operation.logs import bound
from server.operation.metrics import METRICS

_Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]
_LEVEL: Final = 4
_LEAST_BYTES: Final = 1_000
_IN_THREAD_BYTES: Final = 65_536
"""From how many bytes on a body is compressed beside the event loop."""
_TYPES: Final = frozenset(
    ("application/json", "image/svg+xml", "text/css", "text/html", "text/javascript", "text/plain")
)


def accepts_gzip(request: web.Request) -> bool:
    """Return whether the sender of *request* takes gzip."""
    for part in request.headers.get(hdrs.ACCEPT_ENCODING, "").lower().split(","):
        name, _, quality = part.partition(";")
        if name.strip() == "gzip":
            return quality.replace(" ", "").rstrip("0").rstrip(".") not in ("q=", "q=0")
    return False


@web.middleware
async def compressing(request: web.Request, handler: _Handler) -> web.StreamResponse:
    """Compress the answer where that is worth it and safe."""
    response = await handler(request)
    if not isinstance(response, web.Response) or not _is_worth_it(request, response):
        return response
    response.headers.add(hdrs.VARY, hdrs.ACCEPT_ENCODING)
    if accepts_gzip(request):
        body = response.body
        assert isinstance(body, bytes)
        is_large = len(body) >= _IN_THREAD_BYTES
        response.body = await asyncio.to_thread(packed, body) if is_large else packed(body)
        response.headers[hdrs.CONTENT_ENCODING] = "gzip"
    return response


def packed(body: bytes, level: int = _LEVEL) -> bytes:
    """Return *body* as gzip, the same whenever it is packed."""
    return gzip.compress(body, level, mtime=0)


def _is_worth_it(request: web.Request, response: web.Response) -> bool:
    body = response.body
    if not isinstance(body, bytes) or len(body) < _LEAST_BYTES or hdrs.CONTENT_ENCODING in response.headers:
        return False
    is_read = request.method in (hdrs.METH_GET, hdrs.METH_HEAD) and not response.prepared
    return is_read and response.content_type in _TYPES


REQUEST_ID: Final = web.RequestKey("request_id", str)
HEADER: Final = "X-Request-ID"
CLOSED_BY_CLIENT: Final = 499
"""The status that is counted where the client was gone before the answer; it is never sent."""

_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_QUIET: Final = frozenset({"/healthz", "/readyz", "/metrics"})
"""What machines ask every few seconds: not worth a line each."""
_SERVER: Final = logging.getLogger("aiohttp.server")
_LOG: Final = structlog.get_logger("server.requests")
Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]


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
