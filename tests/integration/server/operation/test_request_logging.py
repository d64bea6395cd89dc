"""Requests as the log and the metrics see them; each test builds the application that it needs."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestClient, TestServer
from structlog.testing import capture_logs
from yarl import URL

from server.app import listening
from server.operation.metrics import METRICS, Metrics
from server.operation.request_logging import HEADER, lower_bad_requests, observing
from tests.kit.server.metrics import told


def application() -> web.Application:
    app = web.Application(middlewares=[observing])
    app[METRICS] = Metrics()

    async def fine(request: web.Request) -> web.Response:
        return web.Response(text=request.match_info["name"])

    async def wrong(_request: web.Request) -> web.Response:
        raise ZeroDivisionError("one over nothing")

    async def stream(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"a line\n")
        return response

    app.router.add_get("/fine/{name}", fine)
    app.router.add_get("/wrong", wrong)
    app.router.add_get("/stream", stream)
    return app


async def test_requests_are_counted_by_route_and_status() -> None:
    app = application()
    async with TestClient(TestServer(app)) as client:
        for path in ("/fine/a", "/fine/b", "/wrong", "/stream", "/nowhere"):
            await (await client.get(path)).read()
    assert told(app[METRICS], "ggp_http_requests_total", "ggp_http_open") == {
        "ggp_http_open_requests": 0,
        'ggp_http_requests_total{method="GET",route="/fine/{name}",status="200"}': 2,
        'ggp_http_requests_total{method="GET",route="/wrong",status="500"}': 1,
        'ggp_http_requests_total{method="GET",route="/stream",status="200"}': 1,
        'ggp_http_requests_total{method="GET",route="unknown",status="404"}': 1,
    }


async def test_an_answer_names_its_request_and_keeps_the_name_that_a_proxy_gave() -> None:
    async with TestClient(TestServer(application())) as client:
        own = await client.get("/fine/a")
        given = await client.get("/nowhere", headers={HEADER: "proxy-17"})
        strange = await client.get("/fine/a", headers={HEADER: "<b>"})
    assert len(own.headers[HEADER]) == 16
    assert given.headers[HEADER] == "proxy-17"
    assert strange.headers[HEADER] != "<b>"


async def test_a_failure_says_nothing_of_itself() -> None:
    async with TestClient(TestServer(application())) as client:
        response = await client.get("/wrong")
        assert response.status == 500
        assert await response.json() == {
            "error": {"code": "internal", "message": "the server failed", "hint": "its log says why"}
        }


async def test_the_log_has_the_path_and_not_the_query() -> None:
    with capture_logs() as logged:
        async with TestClient(TestServer(application())) as client:
            headers = {HEADER: "proxy-17", "Authorization": "Bearer hunter2"}
            await client.get("/fine/a?token=hunter2", headers=headers)
    for line in logged:
        assert line.pop("ms") >= 0
    assert logged == [
        {"event": "request", "log_level": "info", "request": "proxy-17", "method": "GET", "path": "/fine/a",
         "status": 200, "remote": "127.0.0.1", "by": None},
    ]  # fmt: skip


@pytest.mark.parametrize(("level", "lines"), [(logging.INFO, [("INFO", None)]), (logging.WARNING, [])])
async def test_what_is_no_http_request_is_a_line_for_information(
    level: int, lines: list[tuple[str, None]], caplog: pytest.LogCaptureFixture
) -> None:
    lower_bad_requests()
    caplog.set_level(level, "aiohttp.server")
    async with TestServer(application()) as server:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(b"GET / HTTP/1.1\r\nno header\r\n\r\n")
        assert (await reader.readline()).split()[1] == b"400"
        writer.close()
    said = [record for record in caplog.records if record.name == "aiohttp.server"]
    assert [(record.levelname, record.exc_info) for record in said] == lines
    assert all(record.getMessage().startswith("Error handling request from 127.0.0.1: ") for record in said)


async def test_a_body_that_is_not_encoded_as_its_head_says_is_a_line_for_information(
    caplog: pytest.LogCaptureFixture,
) -> None:
    lower_bad_requests()
    caplog.set_level(logging.INFO, "aiohttp.server")
    async with TestClient(TestServer(application())) as client:
        await client.post("/nowhere", data=b"no gzip", headers={"Content-Encoding": "gzip"})
    said = [(one.levelname, one.exc_info) for one in caplog.records if one.name == "aiohttp.server"]
    assert said == [("INFO", None)]


@pytest.mark.parametrize("target", [b"http://[::1]@/", b"http://[::1"])
async def test_a_request_for_what_is_no_address_is_refused_and_the_next_connection_served(
    target: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with listening(application()) as address:
        url = URL(address)
        statuses = []
        for path in (target, b"/fine/a"):
            reader, writer = await asyncio.open_connection(url.host, url.port)
            writer.write(b"GET %b HTTP/1.1\r\nHost: localhost\r\n\r\n" % path)
            statuses.append((await reader.readline()).split()[1])
            writer.close()
    assert statuses == [b"400", b"200"]
    assert [record for record in caplog.records if record.levelno > logging.INFO] == []


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (b"FOO / HTTP/1.1\r\nHost: localhost\r\n\r\n", "this is no HTTP request: Invalid method encountered"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nA: \x01\r\n\r\n", "this is no HTTP request: Invalid header value char"),
        (
            b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\n{}",
            "the server cannot unpack the body",
        ),
    ],
)
async def test_what_is_no_http_request_is_refused_in_the_one_shape(head: bytes, message: str) -> None:
    async with listening(application()) as address:
        url = URL(address)
        reader, writer = await asyncio.open_connection(url.host, url.port)
        writer.write(head)
        answer = await reader.read()
        writer.close()
    told_head, _, body = answer.partition(b"\r\n\r\n")
    lines = told_head.decode().split("\r\n")
    assert lines[0].endswith(" 400 Bad Request")
    assert {"Server: ggp", "X-Content-Type-Options: nosniff", "Cache-Control: no-store"} <= set(lines)
    error = json.loads(body)["error"]
    assert (error["code"], error["message"]) == ("bad_request", message)


async def test_an_expectation_that_is_unknown_is_refused_in_the_one_shape() -> None:
    async with (
        listening(application()) as address,
        ClientSession() as session,
        session.get(address, headers={"Expect": "tea"}) as answer,
    ):
        found = answer.status, answer.headers["Server"], await answer.json()
    message = "the header Expect asks for what this server does not do"
    hint = "send Expect: 100-continue, or leave it out"
    assert found == (417, "ggp", {"error": {"code": "expectation_failed", "message": message, "hint": hint}})
