"""Which role a handler needs: each declares its own."""

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from aiohttp import web
from aiohttp.web_urldispatcher import StaticResource

from server.principal import Role

_Handler = TypeVar("_Handler", bound=Callable[..., Awaitable[Any]])
_NEEDED: Final = "needed_role"
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""


def requires(role: Role | None) -> Callable[[_Handler], _Handler]:
    """Return a decorator that lets only clients with *role*, or more, reach a handler; None lets every client."""

    def declared(handler: _Handler) -> _Handler:
        setattr(handler, _NEEDED, role)
        return handler

    return declared


def needed_role(request: web.Request) -> Role | None:
    """Return the role that *request* needs.

    A handler that declares nothing is for spectators where it changes nothing, and otherwise for admins alone.
    """
    route = request.match_info.route
    if isinstance(route.resource, StaticResource):
        return None
    if request.match_info.http_exception is not None:
        return Role.SPECTATOR
    undeclared = Role.SPECTATOR if request.method in SAFE_METHODS else Role.ADMIN
    found = getattr(route.handler, _NEEDED, undeclared)
    assert found is None or isinstance(found, Role)
    return found
