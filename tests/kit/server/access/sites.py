"""The whole application behind access control, with a token of every role."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from aiohttp.test_utils import TestClient, TestServer

from server.access.control import SAFE_METHODS, AccessControl
from server.access.settings import AccessSettings, Limits
from server.app import Watch, make_app
from server.hosting.game_manager import GameManager
from server.hosting.settings import GameManagerSettings
from server.links.addresses import AllowedAddresses
from server.principal import Role
from server.storage.accounts import TokenStore
from tests.kit.server.access.guarded_app import Client, database

Route: TypeAlias = tuple[str, str]
OFTEN = "100000/minute"


def filled(path: str) -> str:
    """Return an address at the route *path*."""
    return re.sub(r"\{\w+\}", "x", path)


@dataclass(frozen=True)
class Site:
    client: Client
    access: AccessControl
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
        async with self.client.request(
            method, filled(path), headers=headers, data=data, allow_redirects=False
        ) as answer:
            return answer.status

    async def not_refused(self, routes: list[Route], headers: dict[str, str], *codes: int) -> set[Route]:
        """Return those of *routes* that are answered with something else than *codes*."""
        return {route for route in routes if await self.status(route, headers) not in codes}


@asynccontextmanager
async def whole_site(folder: Path, *, is_public: bool = False) -> AsyncIterator[Site]:
    """Serve everything as to others: only public addresses are called, and tokens demanded, perhaps not to watch."""
    limits = Limits(requests=OFTEN, orders=OFTEN, uploads=OFTEN, calls=OFTEN, logins=OFTEN)
    async with database(folder) as found:
        manager = GameManager(found, GameManagerSettings(targets=AllowedAddresses()))
        access = AccessControl(AccessSettings(is_loopback=False, is_public=is_public, limits=limits), TokenStore(found))
        issued = [await access.issuing.issue(role.word, role) for role in reversed(Role)]
        await manager.start()
        async with TestClient(TestServer(make_app(manager, access, Watch()))) as client:
            yield Site(client, access, {Role[each.row.role.upper()]: str(each.text) for each in issued})
        await manager.close()
