"""The API described by itself: its OpenAPI document, and the same as a page to read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from importlib.resources import files
from typing import Any, Final

from aiohttp import web
from jinja2 import Environment

from server.api.keys import OPERATIONS
from server.api.openapi import document
from server.api.operation import JSON, Operation, Operations

_PAGE: Final = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
    files("server.api").joinpath("documentation.html").read_text("utf-8")
)
operations: Final = Operations("documentation")


class Documentation:
    """The description of *operations*, made when somebody first asks for it."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._operations = operations

    @cached_property
    def document(self) -> dict[str, Any]:
        """The OpenAPI document."""
        return document(list(self._operations))

    @cached_property
    def text(self) -> str:
        """The document, as JSON."""
        return json.dumps(self.document)

    @cached_property
    def page(self) -> str:
        """The document, as a page."""
        return _PAGE.render(document=self.document)


_DOCUMENTATION: Final = web.AppKey("documentation", Documentation)


def add_routes(app: web.Application) -> None:
    """Add these routes to *app*; they describe all operations that it gets, later ones too."""
    operations.add_to(app)
    described = app[OPERATIONS]
    app[_DOCUMENTATION] = Documentation(described)


@operations.get("/api/v1/openapi.json", role=None)
async def openapi_document(request: web.Request) -> web.StreamResponse:
    """Describe the API as OpenAPI 3.1."""
    return web.Response(text=request.app[_DOCUMENTATION].text, content_type=JSON)


@operations.get("/api/v1/docs", role=None, media=["text/html"])
async def documentation_page(request: web.Request) -> web.StreamResponse:
    """Describe the API on a page to read."""
    return web.Response(text=request.app[_DOCUMENTATION].page, content_type="text/html")
