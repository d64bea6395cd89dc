"""The JSON API, version 1: games, matches, streams of events, and its own description.

docs/api.md describes it, and so does GET /api/v1/openapi.json, which is made of the operations.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from aiohttp import web

from server.api import documentation, field, games, info, matches, streams
from server.api.keys import CHECKER, MANAGER, OVERVIEW
from server.spectating.overview import Overview
from server.validating.checker import Checker


def add_routes(app: web.Application) -> None:
    """Add the API to *app*, which has its game manager by the time it starts."""
    app.cleanup_ctx.append(_memories)
    for part in (games, matches, streams, info):
        part.operations.add_to(app)
    documentation.add_routes(app)
    field.add_routes(app)


async def _memories(app: web.Application) -> AsyncIterator[None]:
    app.setdefault(CHECKER, Checker())
    app[OVERVIEW] = Overview(app[MANAGER])
    yield
