"""Tokens through the API."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from server.access.control import AccessControl
from server.access.guard import add_guard
from server.access.settings import AccessSettings, Limits
from server.api import tokens
from server.api.problem import refusing
from server.principal import Role
from server.storage.accounts import TokenStore
from tests.kit.server.access.guarded_app import Client, bearer, database

TOKENS = "/api/v1/tokens"


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with database(tmp_path) as found:
        access = AccessControl(AccessSettings(), TokenStore(found))
        app = web.Application(middlewares=[refusing])
        tokens.operations.add_to(app)
        add_guard(app, access)
        issued = await access.issuing.issue("Ada", Role.ADMIN)
        async with TestClient(TestServer(app), headers=bearer(issued.text)) as client:
            yield client


async def said(client: Client, method: str, path: str, **how: Any) -> tuple[int, Any]:
    async with client.request(method, path, **how) as answer:
        body = await answer.json() if answer.content_length else None
        return answer.status, body["error"]["code"] if isinstance(body, dict) and "error" in body else body


async def test_callers_learn_who_they_are(client: Client) -> None:
    status, me = await said(client, "GET", "/api/v1/me")
    assert (status, me["name"], me["role"]) == (200, "Ada", "admin")


async def test_a_token_is_issued_listed_rotated_and_revoked(client: Client) -> None:
    status, issued = await said(client, "POST", TOKENS, json={"name": "Bob", "role": "host", "days": 3})
    assert (status, set(issued)) == (201, {"id", "name", "role", "note", "createdMs", "expiresMs", "token"})
    _, listed = await said(client, "GET", TOKENS)
    assert listed["tokens"][1] == {name: value for name, value in issued.items() if name != "token"}
    _, rotated = await said(client, "POST", f"{TOKENS}/{issued['id']}/rotate")
    old = await said(client, "GET", "/api/v1/me", headers=bearer(issued["token"]))
    new = await said(client, "GET", "/api/v1/me", headers=bearer(rotated["token"]))
    assert (old, new[0]) == ((401, "unauthorized"), 200)
    assert await said(client, "DELETE", f"{TOKENS}/{issued['id']}") == (204, None)
    assert await said(client, "DELETE", f"{TOKENS}/{issued['id']}") == (404, "unknown_token")


async def test_a_class_gets_its_tokens(client: Client) -> None:
    status, issued = await said(client, "POST", f"{TOKENS}/class", json={"names": "name,role\nAda,\nBob,host\nEve,\n"})
    assert (status, [(each["name"], each["role"]) for each in issued["tokens"]]) == (
        201,
        [("Bob", "host"), ("Eve", "player")],
    )


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        (TOKENS, {"name": ""}, "invalid_body"),
        (TOKENS, {"name": "\n"}, "invalid_token"),
        (TOKENS, {"name": "Bob", "role": "king"}, "invalid_body"),
        (TOKENS, {"name": "Bob", "days": 0}, "invalid_body"),
        (TOKENS, {"name": "Bob", "secret": "x"}, "invalid_body"),
        (f"{TOKENS}/class", {"names": "name,role\nBob,king"}, "unknown_role"),
        (f"{TOKENS}/class", {"names": "name\n\x07"}, "invalid_token"),
        (f"{TOKENS}/nobody/rotate", None, "unknown_token"),
    ],
)
async def test_what_cannot_be_is_refused(client: Client, path: str, body: object, code: str) -> None:
    assert (await said(client, "POST", path, json=body))[1] == code


async def test_the_last_admin_stays(client: Client) -> None:
    _, me = await said(client, "GET", "/api/v1/me")
    assert await said(client, "DELETE", f"{TOKENS}/{me['tokenId']}") == (409, "no_admin")


async def test_tokens_are_for_admins(client: Client) -> None:
    _, issued = await said(client, "POST", TOKENS, json={"name": "Bob", "role": "host"})
    assert await said(client, "GET", TOKENS, headers=bearer(issued["token"])) == (403, "forbidden")


async def test_too_many_requests_are_refused_in_the_one_shape(tmp_path: Path) -> None:
    async with database(tmp_path) as found:
        settings = AccessSettings(is_loopback=False, is_public=True, limits=Limits(requests="1/minute"))
        app = web.Application(middlewares=[refusing])
        tokens.operations.add_to(app)
        add_guard(app, AccessControl(settings, TokenStore(found)))
        async with TestClient(TestServer(app)) as client:
            await client.get("/api/v1/me")
            answer = await client.get("/api/v1/me")
            wait_s = int(answer.headers["Retry-After"])
            error = {"code": "too_many_requests", "message": "too many requests", "hint": f"wait for {wait_s} s"}
            assert (answer.status, await answer.json(), 1 <= wait_s <= 60) == (429, {"error": error}, True)
