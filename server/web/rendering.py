"""Templates to pages, with the visitor who asks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from aiohttp import web
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from server.access.control import PRINCIPAL, REMOTE, csrf_token
from server.principal import Principal, Role
from server.web.static_files import static_address
from server.web.template_filters import FILTERS

_STRANGER: Final = Principal("", Role.SPECTATOR)
"""Who asks for a page that everybody may see, the one to log in above all."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks, as pages need to know it; `csrf_token` goes into every form."""

    name: str
    role: Role
    is_known: bool
    may_watch: bool
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
        may_watch=PRINCIPAL in request,
        may_host=who.may(Role.HOST),
        may_register=who.may(Role.PLAYER),
        csrf_token=csrf_token(request) if REMOTE in request else "",
    )


_TEMPLATES: Final = Path(__file__).resolve().parent / "templates"


@cache
def templates() -> Environment:
    """Return the templates of all pages."""
    found = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals["static"] = static_address
    found.filters |= FILTERS
    return found


def compile_templates() -> None:
    """Read all templates, which otherwise happens when each is first needed."""
    for name in templates().list_templates(extensions=["html"]):
        templates().get_template(name)


def render(request: web.Request, template: str, *, status: int = 200, **context: Any) -> web.Response:
    """Return the page that *template* makes of *context* for the visitor who sends *request*."""
    text = templates().get_template(template).render(visitor=visitor_of(request), path=request.path, **context)
    return web.Response(text=text, status=status, content_type="text/html", headers={"Cache-Control": "no-store"})


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What a page asks before something is done that cannot be undone.

    Its button, with `word` on it, posts `fields` to `address`; a link leads `back`.
    """

    question: str
    consequence: str
    word: str
    address: str
    back: str
    fields: Mapping[str, str] = field(default_factory=dict)


def ask(request: web.Request, asked: Confirmation) -> web.Response:
    """Return the page that asks what is to be confirmed."""
    return render(request, "confirm.html", asked=asked)
