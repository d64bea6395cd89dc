"""Health, readiness and metrics of the process over HTTP, and who may read the metrics."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from ipaddress import ip_address
from typing import Final

import structlog
from aiohttp import web

from server.access.control import PRINCIPAL, REMOTE, requires
from server.access.remote import is_forwarded
from server.access.settings import Network
from server.operation.metrics import CONTENT_TYPE, METRICS
from server.operation.shutdown import Shutdown
from server.principal import Role
from server.storage.errors import StorageError

PROBE_LIMIT_S: Final = 2.0
FRESH_S: Final = 1.0
"""How long the result of a probe is cached, so that frequent requests do not reach the database."""
_LOG: Final = structlog.get_logger("server.health")


class Readiness:
    """Whether this process may be sent work: it is not about to end, and *probe*, which writes, succeeds in time."""

    def __init__(self, probe: Callable[[], Awaitable[object]], shutdown: Shutdown) -> None:
        self._probe, self._shutdown = probe, shutdown
        self._lock = asyncio.Lock()
        self._checked_s, self._is_reachable = -FRESH_S, False
        self._probing: asyncio.Task[bool] | None = None

    async def state(self) -> dict[str, str]:
        """Return each part with its state, `ok` where all is well."""
        is_reachable = await self._reachable()
        return {
            "database": "ok" if is_reachable else "unreachable",
            "process": "shutting down" if self._shutdown.has_begun else "ok",
        }

    async def _reachable(self) -> bool:
        async with self._lock:
            if time.monotonic() - self._checked_s >= FRESH_S:
                self._is_reachable = await self._answered()
                self._checked_s = time.monotonic()
        return self._is_reachable

    async def _answered(self) -> bool:
        """Return what the probe says within its limit; one that still waits is not joined by another."""
        if self._probing is None or self._probing.done():
            self._probing = asyncio.create_task(self._try(), name="readiness")
        done, _ = await asyncio.wait((self._probing,), timeout=PROBE_LIMIT_S)
        if not done:
            _LOG.warning("the database cannot be written", error=f"nothing was, within {PROBE_LIMIT_S:g} s")
        return bool(done) and self._probing.result()

    async def _try(self) -> bool:
        try:
            await self._probe()
        except Exception as error:  # whatever a database can do wrong
            _LOG.warning("the database cannot be written", error=str(error) or type(error).__name__)
            return False
        return True


READINESS: Final = web.AppKey("readiness", Readiness)
METRICS_READERS: Final = web.AppKey[tuple[Network, ...]]("metrics_readers")
"""The networks from which /metrics may be read without a token; this machine always may."""
N_RUNNING: Final = web.AppKey[Callable[[], int]]("n_running")
"""Counts the matches that this process plays, for the metrics."""
QUEUE_LENGTH: Final = web.AppKey[Callable[[], Awaitable[int]]]("queue_length")
"""Counts the matches that wait, for the metrics."""


def add_routes(app: web.Application) -> None:
    """Add /healthz, /readyz and /metrics."""
    app.router.add_get("/healthz", _healthz)
    app.router.add_get("/readyz", _readyz)
    app.router.add_get("/metrics", _metrics)


@requires(None)
async def _healthz(_request: web.Request) -> web.Response:
    return web.json_response({"status": "ok"})


@requires(None)
async def _readyz(request: web.Request) -> web.Response:
    parts = await request.app[READINESS].state()
    is_ready = set(parts.values()) == {"ok"}
    body = {"status": "ok" if is_ready else "unavailable"} | parts
    return web.json_response(body, status=200 if is_ready else 503)


@requires(None)
async def _metrics(request: web.Request) -> web.Response:
    if not _may_see_metrics(request):
        raise web.HTTPForbidden(text="metrics are for this machine and for administrators\n")
    metrics = request.app[METRICS]
    if N_RUNNING in request.app:
        metrics.set_running(request.app[N_RUNNING]())
    if QUEUE_LENGTH in request.app:
        with suppress(StorageError):  # the other figures are wanted most when the database is away
            metrics.set_queued(await request.app[QUEUE_LENGTH]())
    return web.Response(body=metrics.text(), headers={"Content-Type": CONTENT_TYPE})


def _may_see_metrics(request: web.Request) -> bool:
    """Return whether the client is an admin, on this machine, or in a network that may read metrics."""
    if PRINCIPAL in request and request[PRINCIPAL].may(Role.ADMIN):
        return True
    remote = request[REMOTE].address if REMOTE in request else request.remote or ""
    with suppress(ValueError):
        address = ip_address(remote)
        # A proxy on this machine may forward any client's request.
        is_from_here = address.is_loopback and not is_forwarded(request)
        return is_from_here or any(address in readers for readers in request.app.get(METRICS_READERS, ()))
    return False
