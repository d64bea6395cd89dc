"""Operations: what a declaration makes of requests, and of the OpenAPI document."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Annotated, Any, TypeAlias

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from pydantic import BaseModel, ConfigDict, Field

from server.api.openapi import document
from server.api.operation import OPERATIONS, Operations
from server.api.problem import refusing
from server.principal import Role
from server.refusals import RequestError
from server.web import documentation

Client: TypeAlias = TestClient[web.Request, web.Application]
boxes = Operations("boxes")
MANY = {str(number): 1 for number in range(101)}


class Page(BaseModel):
    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1, le=10, description="how many at most")] = 5
    shape: str | None = None


class Box(BaseModel):
    model_config = ConfigDict(extra="forbid")

    width: int
    note: str | None = None


class Made(BaseModel):
    url: str
    box: Box


class Boxes(BaseModel):
    boxes: list[Box]
    more: str | None = None


@boxes.get("/api/v1/boxes")
async def list_boxes(query: Page) -> Boxes:
    """List all boxes."""
    return Boxes(boxes=[Box(width=query.limit)])


@boxes.post("/api/v1/boxes", status=201, role=Role.HOST, invalid="invalid_order", errors=["match_is_over"])
async def make_box(body: Box) -> Made:
    """Make a box.

    It is empty.
    """
    if body.width > 100:
        raise RequestError("match_is_over", "too wide", "cut it", 409)
    return Made(url=f"/api/v1/boxes/{body.width}", box=body)


class Note(BaseModel):
    note: str = ""


NO_NOTE = Note()


@boxes.post("/api/v1/boxes/{width}/close")
async def close_box(width: int, body: Note = NO_NOTE) -> Note:
    """Close a box."""
    return Note(note=f"{width} {body.note or 'for no reason'}")


@boxes.get("/api/v1/boxes/{width}", role=None, media=["text/plain"])
async def read_box(request: web.Request, width: Annotated[int, Field(ge=0)]) -> web.StreamResponse:
    """Show a box as text."""
    return web.Response(text=f"{request.method} {width}")


def make_app() -> web.Application:
    app = web.Application(middlewares=[refusing])
    boxes.add_to(app)
    documentation.add_routes(app)
    return app


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with TestClient(TestServer(make_app())) as found:
        yield found


async def error(client: Client, method: str, path: str, **how: Any) -> tuple[int, dict[str, str]]:
    answer = await client.request(method, path, **how)
    body = await answer.json()
    assert set(body) == {"error"}
    return answer.status, body["error"]


async def test_a_query_is_read_and_the_answer_sent_without_what_was_not_set(client: Client) -> None:
    answer = await client.get("/api/v1/boxes", params={"limit": "7"})
    assert (answer.status, await answer.json()) == (200, {"boxes": [{"width": 7}]})


def test_what_checks_requests_is_made_once_for_all_servers_of_a_process() -> None:
    servers = web.Application(), web.Application()
    for server in servers:
        boxes.add_to(server)
    first, second = ([route.handler for route in server.router.routes()] for server in servers)
    assert first == second


async def test_a_body_is_read_and_what_was_made_has_a_location(client: Client) -> None:
    answer = await client.post("/api/v1/boxes", json={"width": 7, "note": None})
    made = {"url": "/api/v1/boxes/7", "box": {"width": 7, "note": None}}
    assert (answer.status, answer.headers["Location"], await answer.json()) == (201, "/api/v1/boxes/7", made)


async def test_a_parameter_of_the_path_is_read(client: Client) -> None:
    assert await (await client.get("/api/v1/boxes/12")).text() == "GET 12"


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code", "message"),
    [
        ("GET", "/api/v1/boxes?limit=0", None, 400, "invalid_query", "limit: must be 1 or more"),
        ("GET", "/api/v1/boxes?limt=1", None, 400, "invalid_query", "limt: unknown key"),
        ("GET", "/api/v1/boxes?limit=1&limit=2", None, 400, "invalid_query", "limit: given twice"),
        ("GET", "/api/v1/boxes/wide", None, 400, "invalid_query", "width: must be a whole number"),
        ("POST", "/api/v1/boxes", {"width": "x"}, 400, "invalid_order", "width: must be a whole number"),
        ("POST", "/api/v1/boxes", {"width": 1, "note": "\ud800"}, 400, "invalid_json", "the body is no JSON"),
        ("POST", "/api/v1/boxes", [], 400, "invalid_order", "must have keys and values"),
        ("POST", "/api/v1/boxes", MANY, 400, "invalid_order", "more than 100 things are wrong in it"),
        ("POST", "/api/v1/boxes", {"width": 101}, 409, "match_is_over", "too wide"),
        ("PUT", "/api/v1/boxes", None, 405, "method_not_allowed", "Method Not Allowed"),
        ("GET", "/api/v1/nothing", None, 404, "not_found", "Not Found"),
    ],
)
async def test_errors_have_one_shape(
    client: Client, method: str, path: str, body: object, status: int, code: str, message: str
) -> None:
    how = {} if body is None else {"json": body}
    found = await error(client, method, path, **how)
    assert (found[0], found[1]["code"], found[1]["message"][: len(message)]) == (status, code, message)


async def test_a_misspelt_key_has_a_hint(client: Client) -> None:
    _, told = await error(client, "POST", "/api/v1/boxes", json={"width": 1, "widht": 2})
    assert told["hint"] == "did you mean width?"


@pytest.mark.parametrize("how", [{}, {"data": b""}, {"headers": {"Content-Type": "application/json"}}])
async def test_a_body_of_which_nothing_is_needed_may_be_left_out(client: Client, how: dict[str, Any]) -> None:
    async with client.post("/api/v1/boxes/3/close", **how) as answer:
        assert (answer.status, await answer.json()) == (200, {"note": "3 for no reason"})


async def test_a_body_that_may_be_left_out_is_read_where_it_is_there(client: Client) -> None:
    path, found = "/api/v1/boxes/3/close", []
    for how in ({"json": {"note": "full"}}, {"data": b"full", "headers": {"Content-Type": "text/plain"}}):
        async with client.post(path, **how) as answer:
            told = await answer.json()
            found.append((answer.status, told.get("error", told).get("code", told.get("note"))))
    assert found == [(200, "3 full"), (415, "unsupported_media_type")]


def test_every_route_says_which_role_it_needs() -> None:
    handlers = [route.handler for route in make_app().router.routes() if route.method != "HEAD"]
    needed = {handler.__doc__: getattr(handler, "needed_role", "nothing") for handler in handlers}
    assert {
        "List all boxes.": Role.SPECTATOR, "Make a box.": Role.HOST, "Show a box as text.": None
    }.items() <= {(doc or "").partition("\n")[0]: role for doc, role in needed.items()}.items()  # fmt: skip


def test_the_document_describes_a_query() -> None:
    described = document(make_app()[OPERATIONS])["paths"]["/api/v1/boxes"]["get"]
    assert described["parameters"] == [
        {
            "name": "limit",
            "in": "query",
            "required": False,
            "description": "how many at most",
            "schema": {"default": 5, "maximum": 10, "minimum": 1, "title": "Limit", "type": "integer"},
        },
        {"name": "shape", "in": "query", "required": False, "schema": {"title": "Shape", "type": "string"}},
    ]


def test_the_document_describes_a_body_and_what_may_go_wrong() -> None:
    described = document(make_app()[OPERATIONS])["paths"]["/api/v1/boxes"]["post"]
    assert {name: described[name] for name in ("operationId", "summary", "description", "x-role")} == {
        "operationId": "make_box",
        "summary": "Make a box.",
        "description": "It is empty.",
        "x-role": "host",
    }
    assert list(described["responses"]) == [
        "201",
        "400",
        "401",
        "403",
        "408",
        "409",
        "413",
        "415",
        "421",
        "429",
        "500",
        "503",
    ]
    assert described["requestBody"] == {
        "required": True, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Box"}}},
    }  # fmt: skip
    close = document(make_app()[OPERATIONS])["paths"]["/api/v1/boxes/{width}/close"]["post"]
    assert not close["requestBody"]["required"]


async def test_the_document_and_its_page_are_served(client: Client) -> None:
    found = await (await client.get("/api/v1/openapi.json")).json()
    page = await (await client.get("/api/v1/docs")).text()
    assert (found["openapi"], [f'id="{name}"' in page for name in ("make_box", "schema-Box")]) == ("3.1.0", [True] * 2)
    assert "`" not in re.sub(r"(?s)<pre.*?</pre>", "", page)  # what stands between backticks is code


def test_without_docstrings_an_operation_is_described_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_boxes, "__doc__", None)  # as Python leaves it with -OO
    described = document(make_app()[OPERATIONS])["paths"]["/api/v1/boxes"]["get"]
    assert (described["summary"], described.get("description", "")) == ("list_boxes", "")
