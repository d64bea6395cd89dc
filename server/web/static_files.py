"""Static files, each at an address that changes with its content, so that browsers keep it."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

from aiohttp import web

from gdl.boards import board_css
from server.access.control import requires
from server.operation.compression import accepts_gzip, packed

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


@cache
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
    is_packed = accepts_gzip(request)
    etag = f"{_version(name)}-gzip" if is_packed else _version(name)
    headers = {
        "Cache-Control": _FOR_LONG if is_this else "no-cache",
        "ETag": f'"{etag}"',
        "Vary": "Accept-Encoding",
    }
    if any(known.value in (etag, "*") for known in request.if_none_match or ()):
        return web.Response(status=304, headers=headers)
    if is_packed:
        body, headers["Content-Encoding"] = _packed(name), "gzip"
    return web.Response(body=body, content_type=_TYPES[Path(name).suffix], charset="utf-8", headers=headers)


@cache
def _packed(name: str) -> bytes:
    return packed(static_files()[name], 9)
