"""The whole server: a game manager on its database, with API, pages, access and operation, listening until its end."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from aiohttp import web
from sqlalchemy import text

from server.access import pages as access_pages
from server.access import token_routes
from server.access.access import Access
from server.access.guard import add_guard
from server.access.opening import check_opening
from server.access.settings import Network
from server.api import routes as api
from server.api.keys import MANAGER
from server.api.refusals import refusing
from server.hosting.game_manager import GameManager
from server.hosting.settings import HostSettings
from server.operation import health
from server.operation.ending import ENDING, Ending, end
from server.operation.metrics import METRICS, Metrics, lag_measured
from server.operation.options import ServeOptions
from server.operation.requests import observing
from server.operation.warming import warming
from server.records.entries import Entry, OnEntry
from server.registry import routes as registry
from server.spectating.publishing import PublishSettings, published
from server.storage.database import Database
from server.storage.tokens import TokenStore
from server.web import pages
from server.web.failures import telling

MAX_BODY_BYTES: Final = 2_000_000
KEEP_ALIVE_S: Final = 75.0
STREAMS_END_S: Final = 2.0
"""How long open streams have to end when the server does."""


@dataclass(frozen=True, slots=True)
class Watch:
    """How the server is watched from outside, and told to end."""

    metrics: Metrics = field(default_factory=Metrics)
    ending: Ending = field(default_factory=Ending)
    metrics_readers: tuple[Network, ...] = ()


def make_app(manager: GameManager, access: Access, watch: Watch) -> web.Application:
    """Return the web application of *manager*, whose door *access* keeps."""
    app = web.Application(middlewares=[observing, refusing, telling], client_max_size=MAX_BODY_BYTES)
    app[MANAGER], app[METRICS], app[ENDING] = manager, watch.metrics, watch.ending
    app[health.READINESS] = health.Readiness(lambda: _ask(manager.database), watch.ending)
    app[health.METRICS_READERS], app[health.QUEUE_LENGTH] = watch.metrics_readers, manager.queue.length
    api.add_routes(app)
    registry.add_routes(app)
    token_routes.add_routes(app)
    access_pages.add_routes(app)
    pages.add_routes(app)
    health.add_routes(app)
    add_guard(app, access)
    return app


async def _ask(database: Database) -> None:
    async with database.reading() as connection:
        await connection.execute(text("SELECT 1"))


@asynccontextmanager
async def listening(
    app: web.Application, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[str]:
    """Serve *app* while the block runs, and yield its address; port 0 is one that the system chooses.

    Raises:
        OSError: nobody can listen there.
    """
    runner = web.AppRunner(
        app, access_log=None, handler_cancellation=True, shutdown_timeout=STREAMS_END_S, keepalive_timeout=KEEP_ALIVE_S
    )
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port, ssl_context=tls, backlog=1024).start()
        name = f"[{host}]" if ":" in host else host
        yield f"{'http' if tls is None else 'https'}://{name}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def serve(options: ServeOptions, announce: Callable[[str], None]) -> None:
    """Serve as *options* say until SIGTERM or Ctrl-C; *announce* is told the address once it listens.

    Raises:
        OSError: nobody can listen there.
        CallerError: the options contradict each other or the database.
        StorageError: the database failed.
    """
    settings, tls = options.hosting(), options.tls()
    database = await Database.open(options.database)
    try:
        access = Access(options.access(), TokenStore(database))
        await check_opening(access, options.host, database.name)
        watch = Watch(metrics_readers=options.metrics_from)
        async with (
            managing(database, settings, watch, options.publishing()) as manager,
            warming(is_wanted=options.warm_up),
            listening(make_app(manager, access, watch), options.host, options.port, tls) as url,
        ):
            announce(url)
            await watch.ending.requested()
            await end(manager, options.manner, options.shutdown_limit)
    finally:
        await database.close()


@asynccontextmanager
async def managing(
    database: Database, settings: HostSettings, watch: Watch, publishing: PublishSettings | None = None
) -> AsyncIterator[GameManager]:
    """Run a game manager on *database* while the block runs; what it still plays in the end is parked."""
    manager = GameManager(database, settings)
    watch.metrics.watch(manager.n_running)
    async with published(manager, publishing) as publish:
        manager.playing.on_share = watch.metrics.take_share
        manager.playing.on_entry = _each(watch.metrics.take, publish)
        with watch.ending.on_signals():
            try:
                await manager.start()
                manager.writer.on_batch = watch.metrics.take_batch
                async with lag_measured(watch.metrics):
                    yield manager
            finally:
                await manager.close()


def _each(*takers: OnEntry) -> OnEntry:
    def take(match_id: str, number: int, entry: Entry) -> None:
        for taker in takers:
            taker(match_id, number, entry)

    return take
