"""Templates to pages: everything that is put into one is escaped, and a name that is not there is an error."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

from aiohttp import web
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from server.web import words
from server.web.static_files import static_address
from server.web.visitor import visitor_of

_HERE: Final = Path(__file__).resolve().parent
_TEMPLATE_FOLDERS: Final = (_HERE / "templates", _HERE.parent / "access" / "templates")


@cache
def templates() -> Environment:
    """Return the templates of all pages."""
    found = Environment(
        loader=FileSystemLoader(_TEMPLATE_FOLDERS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals["static"] = static_address
    found.filters |= words.FILTERS
    return found


def compile_templates() -> None:
    """Read all templates, which otherwise happens when each is first needed."""
    for name in templates().list_templates(extensions=["html"]):
        templates().get_template(name)


def render(request: web.Request, template: str, *, status: int = 200, **context: Any) -> web.Response:
    """Return the page that *template* makes of *context* for whoever asks."""
    text = templates().get_template(template).render(visitor=visitor_of(request), path=request.path, **context)
    return web.Response(text=text, status=status, content_type="text/html", headers={"Cache-Control": "no-store"})
