"""The whole server: a game manager on its database, with API, pages, access and operation, listening until its end."""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from aiohttp import web

from players.kit.addresses import listen
from players.kit.request_heads import StrictRunner
from server.access.control import AccessControl
from server.access.guard import HEADERS, add_guard, check_opening
from server.access.settings import Network
from server.api import games, matches, older_tools, players, ratings, seats, streams, tokens, tournaments
from server.api.problem import refused_head, refusing
from server.app_keys import CHECKER, FEEDS, IMPORTS, LEADERBOARDS, MANAGER, OVERVIEW
from server.hosting import game_manager, imports, supervisor
from server.hosting.settings import GameManagerSettings
from server.leaderboards.cache import Leaderboards
from server.operation import health
from server.operation.compression import compressing
from server.operation.garbage_collection import collecting
from server.operation.metrics import METRICS, Metrics, lag_measured
from server.operation.options import ServeOptions
from server.operation.request_logging import lower_bad_requests, observing
from server.operation.shutdown import SHUTDOWN, Shutdown, end
from server.operation.warm_up import warming
from server.records.entries import Entry, OnEntry
from server.spectating.overview import Overview
from server.spectating.publishing import PublishSettings, published
from server.spectating.stream import MatchFeeds
from server.storage.accounts import TokenStore
from server.storage.database import Database
from server.storage.results import ResultStore
from server.validating.checker import Checker
from server.web import account_pages, documentation, routes
from server.web.error_page import showing_errors

MAX_BODY_BYTES: Final = 2_000_000
KEEP_ALIVE_S: Final = 75.0
STREAMS_END_S: Final = 2.0
"""How long open streams have to end when the server does."""


@dataclass(frozen=True, slots=True)
class Watch:
    """How the server is watched from outside, and shut down."""

    metrics: Metrics = field(default_factory=Metrics)
    shutdown: Shutdown = field(default_factory=Shutdown)
    metrics_readers: tuple[Network, ...] = ()


def make_app(manager: game_manager.GameManager, access: AccessControl, watch: Watch) -> web.Application:
    """Return the web application of *manager*, guarded by *access*."""
    middlewares = [compressing, observing, refusing, showing_errors]
    app = web.Application(middlewares=middlewares, client_max_size=MAX_BODY_BYTES)
    app[MANAGER], app[METRICS], app[SHUTDOWN] = manager, watch.metrics, watch.shutdown
    app[health.READINESS] = health.Readiness(manager.writer.check, watch.shutdown)
    app[health.METRICS_READERS] = watch.metrics_readers
    app[health.N_RUNNING], app[health.QUEUE_LENGTH] = manager.n_running, manager.queue.length
    add_api(app)
    account_pages.add_routes(app)
    routes.add_routes(app)
    health.add_routes(app)
    add_guard(app, access)
    return app


def add_api(app: web.Application) -> None:
    """Add the JSON API and its description to *app*, which has its game manager by the time it starts."""
    app.cleanup_ctx.append(_running_api)
    for part in (games, matches, streams, players, seats, ratings, tournaments, tokens):
        part.operations.add_to(app)
    for part in (older_tools, documentation):
        part.add_routes(app)


async def _running_api(app: web.Application) -> AsyncIterator[None]:
    app.setdefault(CHECKER, Checker())
    manager = app[MANAGER]
    app[OVERVIEW], app[FEEDS] = Overview(manager), MatchFeeds(manager)
    app[LEADERBOARDS] = Leaderboards(ResultStore(manager.database))
    app[IMPORTS] = imports.GameImports(manager.games, app[CHECKER], manager.settings.max_roles, manager.finder.coming)
    if manager.settings.games_folder is not None:
        keeping = app[IMPORTS].keep_folder(manager.settings.games_folder, needed=manager.settings.ladder.games)
        await app[SHUTDOWN].unless_requested(keeping)
    yield
    await app[IMPORTS].close()
    await app[LEADERBOARDS].close()
    await app[CHECKER].close()


@asynccontextmanager
async def listening(
    app: web.Application,
    host: str = "127.0.0.1",
    port: int = 0,
    tls: ssl.SSLContext | None = None,
    begin: Callable[[], Awaitable[None]] | None = None,
) -> AsyncIterator[str]:
    """Serve *app* while the block runs, and yield its address; port 0 is one that the system chooses.

    *begin* is called when *app* is ready, right before it listens; what it raises is raised.

    Raises:
        ListenError: the server cannot listen there.
    """
    lower_bad_requests()
    runner = StrictRunner(
        app,
        refuse=_refuse,
        access_log=None,
        handler_cancellation=True,
        shutdown_timeout=STREAMS_END_S,
        keepalive_timeout=KEEP_ALIVE_S,
    )
    await runner.setup()
    try:
        if begin is not None:
            await begin()
        yield await listen(runner, host, port, tls)
    finally:
        await runner.cleanup()


def _refuse(status: int, error: BaseException | None) -> web.Response:
    """Return the answer to what no middleware sees."""
    response = refused_head(status, error)
    response.headers.update(HEADERS | {"Cache-Control": "no-store"})
    return response


async def serve(options: ServeOptions, announce: Callable[[str], None]) -> None:
    """Serve as *options* say until SIGTERM or Ctrl-C; *announce* gets the address once it listens.

    Raises:
        ListenError: the server cannot listen there.
        CallerError: the options contradict each other or the database.
        StorageError: the database failed.
    """
    settings, tls = options.hosting(), options.tls()
    database = await Database.open(options.database)
    try:
        access = AccessControl(options.access(), TokenStore(database))
        await check_opening(access, options.host, database.name)
        watch = Watch(metrics_readers=options.metrics_from)
        async with (
            managing(database, settings, watch, options.publishing()) as manager,
            warming(is_wanted=options.warm_up),
            # Players that dial in, and people, have so long to come back: not before they can.
            listening(
                make_app(manager, access, watch),
                options.host,
                options.port,
                tls,
                partial(_play, manager, watch.shutdown),
            ) as url,
        ):
            if not watch.shutdown.has_begun:
                announce(url)
            await watch.shutdown.requested()
            await end(manager, options.shutdown_mode, options.shutdown_limit)
    finally:
        await database.close()


async def _play(manager: game_manager.GameManager, shutdown: Shutdown) -> None:
    """Begin to play, unless *shutdown* was requested while games of a folder, perhaps the ladder's, were looked at."""
    if not shutdown.has_begun:
        await manager.play()


@asynccontextmanager
async def managing(
    database: Database, settings: GameManagerSettings, watch: Watch, publishing: PublishSettings | None = None
) -> AsyncIterator[game_manager.GameManager]:
    """Prepare a game manager on *database*, which the block lets play; what it still plays in the end is parked."""
    metrics = watch.metrics
    async with published(database, publishing) as publishers:
        takers = _each(metrics.take, publishers.on_entry)
        observers = supervisor.GameManagerObservers(takers, metrics.take_share, metrics.take_batch, publishers.on_end)
        manager = game_manager.GameManager(database, settings, observers)
        with watch.shutdown.on_signals():
            try:
                await manager.prepare()
                async with lag_measured(metrics), collecting():
                    yield manager
            finally:
                await manager.close()


def _each(*takers: OnEntry) -> OnEntry:
    def take(match_id: str, number: int, entry: Entry) -> None:
        for taker in takers:
            taker(match_id, number, entry)

    return take
