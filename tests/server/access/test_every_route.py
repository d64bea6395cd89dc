"""The whole application: no route of it, whoever adds it, lets somebody in who may not."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pytest
from aiohttp.test_utils import TestClient, TestServer

from server.access.access import Access
from server.access.rights import SAFE_METHODS
from server.access.role import Role
from server.access.settings import AccessSettings, Limits
from server.hosting.manager import GameManager
from server.hosting.settings import HostSettings
from server.site import Watch, make_app
from server.storage.database import Database
from server.storage.tokens import TokenStore
from tests.server.access.doors import FORM, Client, bearer

Route: TypeAlias = tuple[str, str]
FOR_ANYBODY: set[Route] = {
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),  # which looks itself who asks
    ("GET", "/static/{name}"),
    ("GET", "/api/v1/docs"),
    ("GET", "/api/v1/openapi.json"),
    ("GET", "/login"),
    ("POST", "/login"),
    ("POST", "/logout"),
}
BY_SECRET: set[Route] = {
    ("GET", "/api/v1/matches/{match_id}/seats/{role}"),
    ("POST", "/api/v1/matches/{match_id}/seats/{role}/move"),
    ("GET", "/matches/{id}/play/{role}"),
    ("GET", "/matches/{id}/play/{role}/parts"),
    ("POST", "/matches/{id}/play/{role}"),
}
"""The seat of a person: whoever has its secret takes it, with or without a token."""
CHANGES_NOTHING: set[Route] = {("POST", "/validate")}
"""What takes a form, and yet is for spectators."""


@dataclass(frozen=True)
class Site:
    client: Client
    access: Access
    tokens: dict[Role, str]

    @property
    def routes(self) -> list[Route]:
        app = self.client.server.app  # type: ignore[attr-defined]  # a test server has one
        routes = ((route.method, route.resource.canonical) for route in app.router.routes())
        return sorted({route for route in routes if route[0] not in ("HEAD", "*")})

    @property
    def changing(self) -> list[Route]:
        return [route for route in self.routes if route[0] not in SAFE_METHODS]

    async def status(self, route: Route, headers: dict[str, str], body: str = "{}") -> int:
        method, path = route
        data = None if method in SAFE_METHODS else body
        filled = re.sub(r"\{\w+\}", "x", path)
        async with self.client.request(method, filled, headers=headers, data=data, allow_redirects=False) as answer:
            return answer.status

    async def not_refused(self, routes: list[Route], headers: dict[str, str], *codes: int) -> set[Route]:
        """Return those of *routes* that are answered with something else than *codes*."""
        return {route for route in routes if await self.status(route, headers) not in codes}


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    database = await Database.open(str(tmp_path / "ggp.sqlite"))
    manager = GameManager(database, HostSettings())
    limits = Limits("100000/minute", "100000/minute", "100000/minute", "100000/minute")
    access = Access(AccessSettings(is_loopback=False, limits=limits), TokenStore(database))
    issued = [await access.issuing.issue(role.word, role) for role in reversed(Role)]
    await manager.start()
    async with TestClient(TestServer(make_app(manager, access, Watch()))) as client:
        yield Site(client, access, {Role[each.row.role.upper()]: str(each.text) for each in issued})
    await manager.close()
    await database.close()


async def cookie(site: Site, role: Role) -> dict[str, str]:
    """Return the header of a browser in which somebody of that role is logged in."""
    secret = await site.access.recognition.begin_session(site.tokens[role].split("_")[1], 100)
    return {"Cookie": f"ggp_session={secret}"}


async def test_nothing_is_there_for_those_without_a_token_but_what_is_for_anybody(site: Site) -> None:
    assert await site.not_refused(site.routes, {}, 401) - FOR_ANYBODY - BY_SECRET == set()


async def test_people_without_a_token_are_led_to_the_login_from_every_page(site: Site) -> None:
    pages = [route for route in site.routes if route[0] == "GET" and not route[1].startswith("/api/")]
    assert await site.not_refused(pages, {"Accept": "text/html"}, 303) - FOR_ANYBODY - BY_SECRET == set()


async def test_spectators_change_nothing(site: Site) -> None:
    headers = bearer(site.tokens[Role.SPECTATOR])
    assert await site.not_refused(site.changing, headers, 403) - FOR_ANYBODY - BY_SECRET - CHANGES_NOTHING == set()


async def test_a_seat_is_taken_with_its_secret_alone(site: Site) -> None:
    assert await site.not_refused(sorted(BY_SECRET), {"Content-Type": "application/json"}, 400, 401, 403, 404) == set()


async def test_only_admins_come_near_tokens(site: Site) -> None:
    routes = [route for route in site.routes if "/tokens" in route[1] or "/admin" in route[1]]
    assert len(routes) >= 9
    assert await site.not_refused(routes, bearer(site.tokens[Role.HOST]), 403) == set()


@pytest.mark.parametrize("headers", [{}, FORM, {"Content-Type": "application/json"}, {"X-CSRF-Token": "0" * 64}])
async def test_a_cookie_changes_nothing_without_the_token_of_a_form(site: Site, headers: dict[str, str]) -> None:
    assert await site.not_refused(site.changing, headers | await cookie(site, Role.ADMIN), 403) == set()


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}]
)
async def test_pages_of_other_sites_change_nothing_whatever_they_have_got_hold_of(
    site: Site, headers: dict[str, str]
) -> None:
    assert await site.not_refused(site.changing, headers | bearer(site.tokens[Role.ADMIN]), 403) == set()
