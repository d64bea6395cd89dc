"""Whoever asks for a page: the name and the rights that the pages show, and the token that its forms carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from aiohttp import web

from server.access.access import PRINCIPAL, csrf_token
from server.access.role import Principal, Role

_STRANGER: Final = Principal("", Role.SPECTATOR)
"""Who asks for a page that everybody may see, the one to log in above all."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks, as pages need to know it; `csrf_token` goes into every form."""

    name: str
    role: Role
    is_known: bool
    may_host: bool
    may_register: bool
    csrf_token: str


def visitor_of(request: web.Request) -> Visitor:
    """Return who asks."""
    who = request.get(PRINCIPAL, _STRANGER)
    return Visitor(
        name=who.name,
        role=who.role,
        is_known=who.token_id is not None,
        may_host=who.may(Role.HOST),
        may_register=who.may(Role.PLAYER),
        csrf_token=csrf_token(request),
    )
