"""Whatever another server answers, there is a list, a text, or an error of ours."""

from __future__ import annotations

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from server.client import BAD_REDIRECT, MAX_ANSWER_BYTES, order_tournament, texts_of_versions
from server.errors import OrderRefusedError

SHA256 = "5a" * 32
VERSIONS = f'{{"versions": [{{"sha256": "{SHA256}"}}]}}'.encode()
NO_SERVER = "its answer is no JSON object: is this a server of `ggp serve`?"
NO_LIST = "its answer lists no versions: is this a server of `ggp serve`?"
NO_ANSWERS = [
    (200, b"[]", NO_SERVER),
    (200, b"<html>", NO_SERVER),
    (200, b"[" * 100_000, NO_SERVER),
    (200, b"\xff", "its answer is no text in UTF-8"),
    (429, b'{"error": {"message": "too many requests"}}', "too many requests"),
    (500, b'{"error": "all wrong"}', "it answers with the status 500"),
    (502, b"<html>", "it answers with the status 502"),
    (500, b'{"error": {"message": [1]}}', "it answers with the status 500"),
    (200, b" " * (MAX_ANSWER_BYTES + 1), f"its answer has more than {MAX_ANSWER_BYTES:,} bytes"),
]


async def served(versions: tuple[int, bytes], rules: tuple[int, bytes] = (200, b"(role a)")) -> TestServer:
    async def answer(request: web.Request) -> web.Response:
        status, body = rules if request.path.endswith("/rules") else versions
        return web.Response(status=status, body=body)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    server = TestServer(app)
    await server.start_server()
    return server


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        *NO_ANSWERS,
        (200, b"{}", NO_LIST),
        (200, b'{"versions": [{"name": "x"}]}', NO_LIST),
        (200, b'{"versions": [1]}', NO_LIST),
    ],
)
async def test_what_lists_no_versions_is_refused(status: int, body: bytes, said: str) -> None:
    server = await served((status, body))
    with pytest.raises(OrderRefusedError) as refused:
        await texts_of_versions(str(server.make_url("")), "nim", ["5a"], None)
    assert refused.value.reason == said
    await server.close()


async def test_only_rules_are_taken_for_rules() -> None:
    server = await served((200, VERSIONS), (429, b"wait a little"))
    with pytest.raises(OrderRefusedError, match="it answers with the status 429"):
        await texts_of_versions(str(server.make_url("")), "nim", ["5a"], None)
    await server.close()


async def test_rules_come_as_they_are() -> None:
    server = await served((200, VERSIONS))
    assert await texts_of_versions(str(server.make_url("")), "nim", ["5a"], None) == ["(role a)"]
    await server.close()


@pytest.mark.parametrize(("status", "body", "said"), [case for case in NO_ANSWERS if case[0] != 200])
async def test_an_order_that_is_not_taken_is_refused(status: int, body: bytes, said: str) -> None:
    server = await served((status, body))
    with pytest.raises(OrderRefusedError) as refused:
        await order_tournament("", str(server.make_url("")), None)
    assert refused.value.reason == said
    await server.close()


async def test_an_order_that_is_taken_without_an_address_is_refused() -> None:
    server = await served((201, b"{}"))
    with pytest.raises(OrderRefusedError, match="its answer names no tournament"):
        await order_tournament("", str(server.make_url("")), None)
    await server.close()


async def redirecting() -> TestServer:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": "http://[::1]@/x"})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    server = TestServer(app)
    await server.start_server()
    return server


async def test_a_redirect_to_no_address_is_an_error_of_the_server_asked() -> None:
    server = await redirecting()
    url = str(server.make_url(""))
    for asking in (order_tournament("", url, None), texts_of_versions(url, "nim", ["5a"], None)):
        with pytest.raises(OrderRefusedError) as refused:
            await asking
        assert refused.value.reason == BAD_REDIRECT
    await server.close()
