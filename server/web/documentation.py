"""The API described by itself: its OpenAPI document, and the same as a page to read."""

import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

from aiohttp import web
from markupsafe import Markup

from server.api.openapi import document
from server.api.operation import OPERATIONS, Operation, Operations
from server.api.parameters import JSON
from server.web.rendering import render, templates

operations: Final = Operations("documentation")


class Documentation:
    """The description of *operations*, made at the first request for it."""

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
    def markup(self) -> Markup:
        """The document, as a part of a page: the same for all who ask."""
        text = templates().get_template("api_document.html").render(document=self.document)
        return Markup(text)  # noqa: S704 -- the template escapes what it is given


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
    return render(request, "api.html", text=request.app[_DOCUMENTATION].markup)
