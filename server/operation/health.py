"""Health, readiness and the end of the process: on SIGTERM matches are finished, parked or aborted, within a limit."""

import asyncio
import os
import resource
import signal
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from ipaddress import ip_address
from typing import Final, Protocol

import structlog
from aiohttp import web

from server.access.access import PRINCIPAL, REMOTE
from server.access.remote import is_forwarded
from server.access.roles import requires
from server.access.settings import Network
from server.operation.metrics import CONTENT_TYPE, METRICS
from server.principal import Role
from server.storage.errors import StorageError

ENOUGH: Final = 65_536
"""A connection for each seat of tens of thousands of matches."""


def allow_many_files() -> int:
    """Raise the limit of open files to ENOUGH, or as far as this user may; return what it is then.

    Systems begin with 1,024, which a thousand seats use up.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted


POLL_S: Final = 0.2
_LOG: Final = structlog.get_logger("server.ending")


class Manner(StrEnum):
    """What becomes of the matches that are being played when the process shall end."""

    FINISH = "finish"
    PARK = "park"
    ABORT = "abort"


class Closable(Protocol):
    """What plays matches, and can be stopped."""

    def stop_starting(self) -> None:
        """Begin no further match, and take no further order."""

    def n_running(self) -> int:
        """Return how many matches are being played."""

    async def close(self, *, parking: bool) -> None:
        """Leave the matches where they are in the database (*parking*), or abort them; then let go of everything."""


class Shutdown:
    """The shutdown of the process: whether it was requested; `requested` waits for that."""

    def __init__(self, leave: Callable[[int], object] = os._exit) -> None:
        self._requested = asyncio.Event()
        self._leave = leave
        self.reason = ""

    @property
    def has_begun(self) -> bool:
        """Whether no more work should be sent here."""
        return self._requested.is_set()

    def request(self, reason: str) -> None:
        """Ask for the end of the process; *reason* is for the log."""
        if not self.has_begun:
            self.reason = reason
            self._requested.set()

    async def requested(self) -> None:
        """Wait until the end is requested."""
        await self._requested.wait()

    def take_signal(self, number: signal.Signals) -> None:
        """Begin the end; a second Ctrl-C is the end."""
        if number is signal.SIGINT and self.has_begun:
            _LOG.warning("ended at once")
            self._leave(128 + number)  # as shells have it
        self.request(number.name)

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """Take SIGTERM and SIGINT while the block runs."""
        loop = asyncio.get_running_loop()
        numbers = (signal.SIGINT, signal.SIGTERM)
        for number in numbers:
            loop.add_signal_handler(number, self.take_signal, number)
        try:
            yield
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)


ENDING: Final = web.AppKey("ending", Shutdown)


async def end(
    playing: Closable, manner: Manner, limit_s: float, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
) -> None:
    """End what *playing* plays in the *manner* that was chosen; what is not finished within *limit_s* is parked."""
    playing.stop_starting()
    _LOG.info("shutting down", manner=manner.value, running=playing.n_running())
    if manner is Manner.FINISH:
        await _finished(playing, limit_s, sleep)
    is_aborting = manner is Manner.ABORT
    if playing.n_running() and not is_aborting:
        _LOG.info("parked", running=playing.n_running())
    await playing.close(parking=not is_aborting)
    _LOG.info("shut down")


async def _finished(playing: Closable, limit_s: float, sleep: Callable[[float], Awaitable[object]]) -> None:
    loop = asyncio.get_running_loop()
    until_s = loop.time() + limit_s
    while playing.n_running() and loop.time() < until_s:
        await sleep(POLL_S)


PROBE_LIMIT_S: Final = 2.0
FRESH_S: Final = 1.0
"""How long the result of a probe is cached, so that frequent requests do not reach the database."""
_HEALTH_LOG: Final = structlog.get_logger("server.health")


class Readiness:
    """Whether this process may be sent work: it is not about to end, and *probe*, which writes, succeeds in time."""

    def __init__(self, probe: Callable[[], Awaitable[object]], ending: Shutdown) -> None:
        self._probe, self._ending = probe, ending
        self._lock = asyncio.Lock()
        self._checked_s, self._is_reachable = -FRESH_S, False
        self._probing: asyncio.Task[bool] | None = None

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
                self._is_reachable = await self._answered()
                self._checked_s = time.monotonic()
        return self._is_reachable

    async def _answered(self) -> bool:
        """Return what the probe says within its limit; one that still waits is not joined by another."""
        if self._probing is None or self._probing.done():
            self._probing = asyncio.create_task(self._try(), name="readiness")
        done, _ = await asyncio.wait((self._probing,), timeout=PROBE_LIMIT_S)
        if not done:
            _HEALTH_LOG.warning("the database cannot be written", error=f"nothing was, within {PROBE_LIMIT_S:g} s")
        return bool(done) and self._probing.result()

    async def _try(self) -> bool:
        try:
            await self._probe()
        except Exception as error:  # whatever a database can do wrong
            _HEALTH_LOG.warning("the database cannot be written", error=str(error) or type(error).__name__)
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
