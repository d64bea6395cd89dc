"""The addresses of the pages."""

from __future__ import annotations

from aiohttp import web

from server.web import validation_page
from server.web.checking import Checker
from server.web.static_files import send_static_file


def add_routes(app: web.Application) -> None:
    """Add the pages to *app*."""
    app[validation_page.CHECKER] = Checker()
    router = app.router
    router.add_get("/static/{name}", send_static_file)
    router.add_get("/validate", validation_page.show_form)
    router.add_post("/validate", validation_page.check)
