"""The page of an import: what became of each rule file of an archive that was uploaded."""

from __future__ import annotations

from aiohttp import web
from aiohttp.web_request import FileField

from server.access.settings import requires
from server.api.imports import known_import
from server.api.operation import IMPORTS
from server.errors import RequestError
from server.visibility import Role
from server.web.rendering import render, visitor_of


@requires(Role.HOST)
async def begin(request: web.Request) -> web.StreamResponse:
    """Begin to import the archive of the form."""
    file = (await request.post()).get("archive")
    if not isinstance(file, FileField) or not file.filename:
        raise RequestError("import_refused", "no file was chosen", "choose a ZIP archive of rule files")
    work = await request.app[IMPORTS].begin(file.file.read(), file.filename[:200], visitor_of(request).name)
    raise web.HTTPSeeOther(f"/games/imports/{work.id}")


@requires(Role.HOST)
async def show(request: web.Request) -> web.Response:
    """Show what became of the rule files so far."""
    work = known_import(request, request.match_info["id"])
    return render(request, "import.html", work=work)
