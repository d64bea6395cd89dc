"""The API described by itself: its OpenAPI document, and the same as a page to read."""

from __future__ import annotations

from importlib.resources import files
from typing import Any, Final

from aiohttp import web
from jinja2 import Environment

from server.api.keys import OPERATIONS
from server.api.openapi import document
from server.api.operation import Operations

_PAGE: Final = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
    files("server.api").joinpath("documentation.html").read_text("utf-8")
)

operations: Final = Operations("documentation")


@operations.get("/api/v1/openapi.json", role=None)
async def openapi_document(request: web.Request) -> web.StreamResponse:
    """Describe the API as OpenAPI 3.1."""
    return web.json_response(_described(request.app))


@operations.get("/api/v1/docs", role=None, media=["text/html"])
async def documentation_page(request: web.Request) -> web.StreamResponse:
    """Describe the API on a page to read."""
    text = _PAGE.render(document=_described(request.app))
    return web.Response(text=text, content_type="text/html")


def _described(app: web.Application) -> dict[str, Any]:
    return document(app[OPERATIONS])
