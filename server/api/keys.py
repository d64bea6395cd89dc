"""What the handlers of the web application find in it, each under a typed key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aiohttp import web

if TYPE_CHECKING:
    from server.api.operation import Operation
    from server.hosting.game_manager import GameManager
    from server.spectating.overview import Overview
    from server.validating.checker import Checker

OPERATIONS: Final[web.AppKey[list[Operation]]] = web.AppKey("operations")
"""What the API can do: what its OpenAPI document is made of."""
MANAGER: Final[web.AppKey[GameManager]] = web.AppKey("manager")
"""Who plays the matches."""
CHECKER: Final[web.AppKey[Checker]] = web.AppKey("checker")
"""Who validates rules that somebody sends."""
OVERVIEW: Final[web.AppKey[Overview]] = web.AppKey("overview")
"""What all matches are at."""
