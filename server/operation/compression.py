"""Answers compressed with gzip, where that is worth it and safe."""

import asyncio
import gzip
from typing import Final

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler

_LEVEL: Final = 4
_LEAST_BYTES: Final = 1_000
_IN_THREAD_BYTES: Final = 65_536
"""From how many bytes on a body is compressed beside the event loop."""
_TYPES: Final = frozenset(
    ("application/json", "image/svg+xml", "text/css", "text/html", "text/javascript", "text/plain")
)


def accepts_gzip(request: web.Request) -> bool:
    """Return whether the sender of *request* takes gzip."""
    for part in request.headers.get(hdrs.ACCEPT_ENCODING, "").lower().split(","):
        name, _, quality = part.partition(";")
        if name.strip() == "gzip":
            return quality.replace(" ", "").rstrip("0").rstrip(".") not in ("q=", "q=0")
    return False


@web.middleware
async def compressing(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Compress the answer where that is worth it and safe."""
    response = await handler(request)
    if not isinstance(response, web.Response) or not _is_worth_it(request, response):
        return response
    response.headers.add(hdrs.VARY, hdrs.ACCEPT_ENCODING)
    if accepts_gzip(request):
        body = response.body
        assert isinstance(body, bytes)
        is_large = len(body) >= _IN_THREAD_BYTES
        response.body = await asyncio.to_thread(packed, body) if is_large else packed(body)
        response.headers[hdrs.CONTENT_ENCODING] = "gzip"
    return response


def packed(body: bytes, level: int = _LEVEL) -> bytes:
    """Return *body* as gzip, the same whenever it is packed."""
    return gzip.compress(body, level, mtime=0)


def _is_worth_it(request: web.Request, response: web.Response) -> bool:
    body = response.body
    if not isinstance(body, bytes) or len(body) < _LEAST_BYTES or hdrs.CONTENT_ENCODING in response.headers:
        return False
    is_read = request.method in (hdrs.METH_GET, hdrs.METH_HEAD) and not response.prepared
    return is_read and response.content_type in _TYPES
