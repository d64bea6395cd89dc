"""What the handlers of the web application find in it, each under a typed key."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from aiohttp import web

from server.access.role import Role

if TYPE_CHECKING:
    from server.api.operation import Operation

Admit: TypeAlias = Callable[[web.Request, Role], None]

OPERATIONS: Final[web.AppKey[list[Operation]]] = web.AppKey("operations")
"""What the API can do: what its OpenAPI document is made of."""
ADMIT: Final[web.AppKey[Admit]] = web.AppKey("admit")
"""Raises a `RequestError` unless whoever sent a request has the role; without it everybody may do everything."""
