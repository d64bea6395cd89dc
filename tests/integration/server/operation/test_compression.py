"""Answers are compressed for who takes that, but no stream and no answer that may carry a new secret."""

from __future__ import annotations

import gzip
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.access.settings import AccessSettings
from server.principal import Role
from tests.kit.server.api.whole_server import MATCHES, Client, told, whole_server

GZIP = {"Accept-Encoding": "gzip, deflate, br"}
PLAIN = {"Accept-Encoding": "identity"}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with whole_server(tmp_path) as (found, _):
        found.session._auto_decompress = False  # what was sent is looked at as it came
        yield found


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "path",
    ["/", "/games", "/games/tictactoe", "/players", "/api/v1/games", "/static/style.css",
     "/static/seat.js", "/static/board.css", "/api/v1/openapi.json"],
)  # fmt: skip
async def test_what_is_read_is_compressed_for_who_takes_it(client: Client, path: str) -> None:
    async with client.get(path, headers=GZIP) as answer:
        body = await answer.read()
        found = answer.status, answer.headers["Content-Encoding"], "Accept-Encoding" in answer.headers["Vary"]
    assert found == (200, "gzip", True)
    assert len(body) < len(gzip.decompress(body)) / 2
    for refused in (PLAIN, {"Accept-Encoding": "gzip;q=0"}):
        async with client.get(path, headers=refused) as answer:
            assert "Content-Encoding" not in answer.headers
            assert "Accept-Encoding" in answer.headers["Vary"]


async def test_no_stream_is_compressed(client: Client) -> None:
    sent = {"game": "tictactoe", "players": {"x": "human"}}
    ordered = await told(await client.post(MATCHES, json=sent, headers=PLAIN), 201)
    for path in ("/api/v1/events", f"{ordered['url']}/events", f"{ordered['url']}/seats/x/events"):
        async with client.get(path, headers=GZIP) as answer:
            assert (answer.status, "Content-Encoding" in answer.headers) == (200, False)
            if path.startswith(ordered["url"]):
                await client.post(f"{ordered['url']}/abort", headers=PLAIN)
                assert b"closed" in await answer.read()
            else:
                assert await answer.content.readline()


async def test_what_tells_a_new_secret_is_never_compressed(tmp_path: Path) -> None:
    async with whole_server(tmp_path, access=AccessSettings(is_loopback=False)) as (client, access):
        admin = {"Authorization": f"Bearer {(await access.issuing.issue('root', Role.ADMIN)).text}"}
        page = await (await client.get("/start?game=tictactoe", headers=admin)).text()
        token = re.search(r'name="csrf_token" value="([^"]+)"', page)
        assert token is not None
        form = {"csrf_token": token[1], "game": "tictactoe", "player.x": "human", "player.o": "human"}
        async with client.post("/start", data=form, headers=admin | GZIP) as answer:
            assert "claim=" in await answer.text()
            assert "Content-Encoding" not in answer.headers
        new = {"csrf_token": token[1], "name": "ada", "role": "player", "days": ""}
        async with client.post("/admin/tokens", data=new, headers=admin | GZIP) as answer:
            assert answer.status == 200
            assert "Content-Encoding" not in answer.headers


async def test_the_token_of_forms_is_different_in_every_answer_and_all_are_taken(client: Client) -> None:
    pages = [(await (await client.get("/login", headers=PLAIN)).text()) for _ in range(3)]
    tokens = [re.findall(r'name="csrf_token" value="([^"]+)"', page)[0] for page in pages]
    halves = {part for token in tokens for part in (token[:64], token[64:])}
    assert len(halves) == 6
    for token in (*tokens, tokens[0][:-1] + ("0" if tokens[0][-1] != "0" else "1"), tokens[0][:64], "", "x"):
        async with client.post("/logout", data={"csrf_token": token}, allow_redirects=False) as answer:
            assert answer.status == (303 if token in tokens else 403)


async def test_a_static_file_that_is_known_is_not_sent_again(client: Client) -> None:
    for headers in (GZIP, PLAIN):
        async with client.get("/static/style.css", headers=headers) as answer:
            etag, body = answer.headers["ETag"], await answer.read()
        assert body
        async with client.get("/static/style.css", headers=headers | {"If-None-Match": etag}) as answer:
            assert (answer.status, await answer.read(), answer.headers["ETag"]) == (304, b"", etag)
    async with client.get("/static/style.css", headers=PLAIN | {"If-None-Match": '"other"'}) as answer:
        assert answer.status == 200
