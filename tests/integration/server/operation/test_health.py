"""What monitors get, and which callers get the metrics."""

from __future__ import annotations

import asyncio
import re
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from aiohttp.typedefs import Handler

from server.access.control import PRINCIPAL, AccessControl
from server.access.settings import AccessSettings, network
from server.app import Watch, make_app
from server.hosting.game_manager import GameManager
from server.hosting.settings import GameManagerSettings
from server.operation import health
from server.operation.health import (
    METRICS_READERS,
    N_RUNNING,
    QUEUE_LENGTH,
    READINESS,
    Readiness,
    add_routes,
)
from server.operation.metrics import METRICS, Metrics
from server.operation.shutdown import Shutdown
from server.principal import Principal, Role
from server.storage.accounts import TokenStore
from server.storage.database import Database as OurDatabase
from tests.kit.server.hosting.outages import locked_file


class Database:
    """A database that can be away."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.n_asked = 0

    async def probe(self) -> None:
        self.n_asked += 1
        if self.error is not None:
            raise self.error


def application(database: Database, ending: Shutdown) -> web.Application:
    app = web.Application()
    app[METRICS], app[READINESS] = Metrics(), Readiness(database.probe, ending)
    add_routes(app)
    return app


async def asked(app: web.Application, path: str, headers: dict[str, str] | None = None) -> tuple[int, Any]:
    async with TestClient(TestServer(app)) as client:
        response = await client.get(path, headers=headers)
        is_json = response.content_type == "application/json"
        return response.status, await response.json() if is_json else await response.text()


async def test_a_server_whose_database_is_there_is_ready() -> None:
    app = application(Database(), Shutdown())
    assert await asked(app, "/readyz") == (200, {"status": "ok", "database": "ok", "process": "ok"})


async def test_a_server_without_its_database_is_not_ready_and_says_no_more() -> None:
    database = Database()
    database.error = OSError("postgresql://ggp:hunter2@db is away")
    expected = {"status": "unavailable", "database": "unreachable", "process": "ok"}
    assert await asked(application(database, Shutdown()), "/readyz") == (503, expected)


async def test_a_server_that_shall_end_is_alive_and_not_ready() -> None:
    ending = Shutdown()
    ending.request("a test")
    app = application(Database(), ending)
    expected = {"status": "unavailable", "database": "ok", "process": "shutting down"}
    assert await asked(app, "/readyz") == (503, expected)
    assert await asked(application(Database(), ending), "/healthz") == (200, {"status": "ok"})


async def test_a_probe_that_waits_is_answered_for_within_its_limit_and_joined_by_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(health, "PROBE_LIMIT_S", 0.01)
    monkeypatch.setattr(health, "FRESH_S", 0.0)
    is_free, n_asked = asyncio.Event(), 0

    async def probe() -> None:
        nonlocal n_asked
        n_asked += 1
        await is_free.wait()

    readiness = Readiness(probe, Shutdown())
    found = [(await readiness.state())["database"] for _ in range(3)]
    is_free.set()
    assert (found, n_asked) == (["unreachable"] * 3, 1)
    assert (await readiness.state())["database"] == "ok"


@pytest.mark.parametrize("is_locked", [True, False])
async def test_a_server_whose_database_cannot_be_written_is_not_ready(tmp_path: Path, is_locked: bool) -> None:
    """Reading goes on all the while."""
    path = tmp_path / "ggp.sqlite"
    database = await OurDatabase.open(str(path), wait_s=0.05)
    manager = GameManager(database, GameManagerSettings())
    access = AccessControl(AccessSettings(), TokenStore(database))
    async with AsyncExitStack() as stack:
        if is_locked:
            await stack.enter_async_context(locked_file(path))
        status, told = await asked(make_app(manager, access, Watch()), "/readyz")
        assert await manager.matches.listed() == []
    await manager.close()
    await database.close()
    assert (status, told["database"]) == ((503, "unreachable") if is_locked else (200, "ok"))


async def test_who_asks_often_does_not_ask_the_database_often() -> None:
    database = Database()
    readiness = Readiness(database.probe, Shutdown())
    for _ in range(10):
        await readiness.state()
    assert database.n_asked == 1


async def test_callers_on_this_machine_get_the_metrics() -> None:
    status, text = await asked(application(Database(), Shutdown()), "/metrics")
    assert status == 200
    assert "ggp_steps_total 0.0" in text


async def test_the_present_numbers_of_matches_are_asked_for_at_every_reading_of_the_metrics() -> None:
    app, running = application(Database(), Shutdown()), [3, 4]

    async def queue_length() -> int:
        return 7

    app[N_RUNNING], app[QUEUE_LENGTH] = running.pop, queue_length
    async with TestClient(TestServer(app)) as client:
        texts = [await (await client.get("/metrics")).text() for _ in range(2)]
    figures = [re.findall(r"^ggp_matches_(?:running|queued) .*", text, re.MULTILINE) for text in texts]
    assert figures == [[f"ggp_matches_running {n}.0", "ggp_matches_queued 7.0"] for n in (4, 3)]


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP"])
async def test_callers_through_a_proxy_on_this_machine_do_not_get_the_metrics(header: str) -> None:
    status, _ = await asked(application(Database(), Shutdown()), "/metrics", {header: "203.0.113.7"})
    assert status == 403


async def test_a_network_that_may_read_metrics_does_and_others_do_not() -> None:
    app = application(Database(), Shutdown())
    proxied = {"X-Forwarded-For": "203.0.113.7"}
    app[METRICS_READERS] = (network("198.51.100.0/24"),)
    assert (await asked(app, "/metrics", proxied))[0] == 403
    app = application(Database(), Shutdown())
    app[METRICS_READERS] = (network("127.0.0.0/8"),)
    assert (await asked(app, "/metrics", proxied))[0] == 200


@pytest.mark.parametrize(("role", "status"), [(Role.ADMIN, 200), (Role.HOST, 403)])
async def test_an_administrator_gets_the_metrics_from_anywhere(role: Role, status: int) -> None:
    app = application(Database(), Shutdown())

    @web.middleware
    async def recognising(request: web.Request, handler: Handler) -> web.StreamResponse:
        request[PRINCIPAL] = Principal("ada", role, "t1")
        return await handler(request)

    app.middlewares.append(recognising)
    assert (await asked(app, "/metrics", {"X-Forwarded-For": "203.0.113.7"}))[0] == status
