"""First positions as pictures of their own, which browsers load when they are seen, and keep."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Final
from xml.sax.saxutils import escape

from aiohttp import web
from cachetools import LRUCache

from gdl.boards import Board, svg_of
from gdl.errors import GdlError
from server.api.operation import MANAGER
from server.errors import RequestError
from server.match.referee import in_own_thread
from server.storage.games import title_of
from server.storage.rows import GameVersion
from server.web.boards import FIRST_POSITIONS, board, rule_book
from server.web.game_list import picture_key

PICTURES: Final = web.AppKey("game_pictures", LRUCache[str, bytes])
N_KEPT: Final = 1_024
_FOR_LONG: Final = "private, max-age=31536000, immutable"
_AGAIN: Final = "no-cache"
_N_LINES: Final = 6
_MOST_LINE: Final = 34
_TEXTS: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 240 150">'
    "<style>text{{font:12px system-ui,sans-serif;fill:#6b7582}}</style>{}</svg>"
)
_INITIAL: Final = '<text x="120" y="95" text-anchor="middle" style="font-size:60px;font-weight:700">{}</text>'


async def send_picture(request: web.Request) -> web.Response:
    """Send the first position of the game, in the version that the query names, else in the current one."""
    name, wanted = request.match_info["name"], request.query.get("v", "")
    current = await request.app[MANAGER].games.find(name)
    if current is None:
        raise RequestError("unknown_game", f"there is no game called {name[:100]!r}", "the games are in the menu", 404)
    drawn = await _drawn(request, current)
    body = drawn or _initial(title_of(current))
    etag = hashlib.sha256(body).hexdigest()[:16]
    is_lasting = drawn is not None and wanted == picture_key(current)
    headers = {"Cache-Control": _FOR_LONG if is_lasting else _AGAIN, "ETag": f'"{etag}"'}
    if any(known.value in (etag, "*") for known in request.if_none_match or ()):
        return web.Response(status=304, headers=headers)
    return web.Response(body=body, content_type="image/svg+xml", headers=headers)


async def _drawn(request: web.Request, version: GameVersion) -> bytes | None:
    """Return the picture of the first position; None where it is not known, or not yet."""
    kept, key = request.app[PICTURES], version.fingerprint
    if key not in kept:
        facts = await request.app[FIRST_POSITIONS].facts(version)
        if facts is None:
            return None
        try:
            drawn = await board(await rule_book(version), facts)
        except GdlError:
            return None
        if drawn is None:
            return None
        kept[key] = await in_own_thread(partial(_picture, drawn, title_of(version)))
    return kept[key]


def _picture(drawn: Board, title: str) -> bytes:
    if drawn.layout.kind == "facts":
        return _lines(drawn.lines) if drawn.lines else _initial(title)
    title = f"{title}, first position"
    return svg_of(drawn, title=title, captions=False, standalone=True, transparent=True).encode()


def _lines(lines: Sequence[str]) -> bytes:
    """Return the picture of a state without a board: its first lines."""
    shown = (
        f'<text x="12" y="{24 + 22 * number}">{escape(line[:_MOST_LINE])}</text>'
        for number, line in enumerate(lines[:_N_LINES])
    )
    return _TEXTS.format("".join(shown)).encode()


def _initial(title: str) -> bytes:
    return _TEXTS.format(_INITIAL.format(escape(title[:1]))).encode()
