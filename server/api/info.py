"""Asking a player at an address who it is, over HTTP."""

from __future__ import annotations

from typing import Annotated, Final

from aiohttp import web
from pydantic import Field

from server.access.role import Role
from server.api.keys import MANAGER
from server.api.operation import Operations
from server.api.shapes import Asked, Told
from server.errors import RequestError
from server.links.info import ask_info

operations: Final = Operations("players")


class InfoQuery(Asked):
    """Which player is asked."""

    player: Annotated[str, Field(max_length=500, description="its address: http://host:port")]


class InfoAnswer(Told):
    """What a player said; `answered` is the message that it understood, `trouble` why nobody knows more."""

    player: str
    name: str | None
    status: str | None
    answered: str | None
    trouble: list[str]


@operations.get("/api/v1/info", role=Role.PLAYER, errors=["invalid_player"])
async def ask_player(request: web.Request, query: InfoQuery) -> InfoAnswer:
    """Ask the player at an address INFO, or failing that PING, within 5 s; who is silent may be thinking."""
    if not query.player.startswith(("http://", "https://")):
        raise RequestError("invalid_player", "only an address can be asked", "say ?player=http://host:port")
    info = await ask_info(query.player, targets=request.app[MANAGER].settings.targets)
    status = None if info.reply.status is None else info.reply.status.value
    return InfoAnswer(
        player=info.url, name=info.reply.name, status=status, answered=info.answered, trouble=list(info.trouble)
    )
