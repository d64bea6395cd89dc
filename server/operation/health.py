"""What monitors ask: is the process alive, may it be sent work, and how is it doing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from ipaddress import ip_address
from typing import Final

import structlog
from aiohttp import web

from server.access.access import PRINCIPAL, REMOTE
from server.access.remote import is_forwarded
from server.access.rights import requires
from server.access.role import Role
from server.access.settings import Network
from server.operation.ending import Ending
from server.operation.metrics import CONTENT_TYPE, METRICS
from server.storage.errors import StorageError

PROBE_LIMIT_S: Final = 2.0
FRESH_S: Final = 1.0
"""How long a probe's answer stands, so that whoever asks often does not ask the database often."""
_LOG: Final = structlog.get_logger("server.health")


class Readiness:
    """Whether this process may be sent work: it is not about to end, and *probe*, which asks the database, succeeds."""

    def __init__(self, probe: Callable[[], Awaitable[object]], ending: Ending) -> None:
        self._probe, self._ending = probe, ending
        self._lock = asyncio.Lock()
        self._checked_s, self._is_reachable = -FRESH_S, False

    async def state(self) -> dict[str, str]:
        """Return each part with its state, `ok` where all is well."""
        is_reachable = await self._reachable()
        return {
            "database": "ok" if is_reachable else "unreachable",
            "process": "shutting down" if self._ending.has_begun else "ok",
        }

    async def _reachable(self) -> bool:
        async with self._lock:
            if time.monotonic() - self._checked_s >= FRESH_S:
                self._is_reachable = await self._try()
                self._checked_s = time.monotonic()
        return self._is_reachable

    async def _try(self) -> bool:
        try:
            async with asyncio.timeout(PROBE_LIMIT_S):
                await self._probe()
        except Exception as error:  # whatever a database can do wrong
            _LOG.warning("the database cannot be reached", error=str(error) or type(error).__name__)
            return False
        return True


READINESS: Final = web.AppKey("readiness", Readiness)
METRICS_READERS: Final = web.AppKey[tuple[Network, ...]]("metrics_readers")
"""The networks from which /metrics may be read without a token; this machine always may."""

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
    if QUEUE_LENGTH in request.app:
        with suppress(StorageError):  # the other figures are wanted most when the database is away
            metrics.set_queued(await request.app[QUEUE_LENGTH]())
    return web.Response(body=metrics.text(), headers={"Content-Type": CONTENT_TYPE})


def _may_see_metrics(request: web.Request) -> bool:
    if PRINCIPAL in request and request[PRINCIPAL].may(Role.ADMIN):
        return True
    remote = request[REMOTE].address if REMOTE in request else request.remote or ""
    with suppress(ValueError):
        address = ip_address(remote)
        # A proxy on this machine may ask for anybody.
        is_from_here = address.is_loopback and not is_forwarded(request)
        return is_from_here or any(address in readers for readers in request.app.get(METRICS_READERS, ()))
    return False
