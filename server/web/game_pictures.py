"""The first positions of games as pictures: on the page of a game, and by an address of their own for lists."""

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Final
from xml.etree.ElementTree import Element

from aiohttp import web
from cachetools import LRUCache

from gdl.boards import Board, svg_of
from gdl.boards.svg import add, root, written
from gdl.errors import GdlError
from server.storage.games import title_of
from server.storage.rows import GameVersion
from server.threads import in_own_thread
from server.web.boards import Picture, board, picture_of
from server.web.game_versions import FIRST_POSITIONS, known_game, shown_rules

PICTURES: Final = web.AppKey("game_pictures", LRUCache[str, bytes])
N_PICTURES: Final = 1_024
_FOR_LONG: Final = "private, max-age=31536000, immutable"
_AGAIN: Final = "no-cache"
_N_LINES: Final = 6
_MOST_LINE: Final = 34
_STYLE: Final = "text{font:12px system-ui,sans-serif;fill:#6b7582}"
_LARGE: Final = "font-size:60px;font-weight:700"
FIRST_PICTURES: Final = web.AppKey("first_pictures", LRUCache[str, Picture | None])
N_FIRST_PICTURES: Final = 256


async def first_picture(request: web.Request, version: GameVersion) -> Picture | None:
    """Return the first position; None where it is not known, or not yet."""
    kept, title = request.app[FIRST_PICTURES], f"{title_of(version)}, first position"
    key = version.fingerprint
    if key in kept:
        return kept[key]
    facts = await request.app[FIRST_POSITIONS].facts(version)
    if facts is None:
        return None
    try:
        found = await picture_of(await board(await shown_rules(version), facts), title)
    except GdlError:
        found = None
    kept[key] = found
    return found


def picture_key(version: GameVersion) -> str:
    """Return what the address of the picture of *version* ends with: another picture has another address."""
    return version.fingerprint[:12]


async def send_picture(request: web.Request) -> web.Response:
    """Send the first position of the game, in the version that the query names, else in the current one."""
    name, wanted = request.match_info["name"], request.query.get("v", "")
    current = await known_game(request, name)
    drawn = await _drawn(request, current)
    body = drawn or initial_picture(title_of(current))
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
            drawn = await board(await shown_rules(version), facts)
        except GdlError:
            return None
        if drawn is None:
            return None
        kept[key] = await in_own_thread(partial(_picture, drawn, title_of(version)))
    return kept[key]


def _picture(drawn: Board, title: str) -> bytes:
    if not drawn.has_picture:
        return lines_picture(drawn.lines) if drawn.lines else initial_picture(title)
    title = f"{title}, first position"
    return svg_of(drawn, title=title, captions=False, standalone=True, transparent=True).encode()


def lines_picture(lines: Sequence[str]) -> bytes:
    """Return the picture of a state without a board: its first lines."""
    picture = _sheet()
    for number, line in enumerate(lines[:_N_LINES]):
        add(picture, "text", _cut(line), x=12, y=24 + 22 * number)
    return written(picture).encode()


def _cut(line: str) -> str:
    """Return *line*, or as many of its words as there is room for."""
    if len(line) <= _MOST_LINE:
        return line
    cut = line[: _MOST_LINE - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"


def initial_picture(title: str) -> bytes:
    """Return the picture of a game of which nothing else is known: the first letter of its *title*."""
    picture = _sheet()
    add(picture, "text", title[:1], x=120, y=95, text_anchor="middle", style=_LARGE)
    return written(picture).encode()


def _sheet() -> Element:
    picture = root(240, 150)
    add(picture, "style", _STYLE)
    return picture
