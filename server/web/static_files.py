"""Stylesheets, modules and pictures: each under an address that changes with its content, so that browsers keep it."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

from aiohttp import web

from gdl.games.palette import board_css
from server.access.rights import requires

_FOLDER: Final = Path(__file__).resolve().parent / "static"
_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FOR_LONG: Final = "public, max-age=31536000, immutable"
_BOARDS: Final = "board.css"


@cache
def static_files() -> dict[str, bytes]:
    """Return the static files by name."""
    found = {path.name: path.read_bytes() for path in _FOLDER.iterdir() if path.suffix in _TYPES}
    return found | {_BOARDS: board_css().encode()}


@cache
def static_address(name: str) -> str:
    """Return the address of a static file.

    Raises:
        KeyError: there is no such file.
    """
    return f"/static/{name}?v={_version(name)}"


def _version(name: str) -> str:
    return hashlib.sha256(static_files()[name]).hexdigest()[:12]


@requires(None)
async def send_static_file(request: web.Request) -> web.Response:
    """Send a static file; only under the address of this very content is it to be kept."""
    name = request.match_info["name"]
    body = static_files().get(name)
    if body is None:
        raise web.HTTPNotFound
    is_this = request.query.get("v") == _version(name)
    headers = {"Cache-Control": _FOR_LONG if is_this else "no-cache"}
    return web.Response(body=body, content_type=_TYPES[Path(name).suffix], charset="utf-8", headers=headers)
