"""The board of a match at one step for the pages of others: a page that stands in a frame, and an image."""

from typing import Final

from aiohttp import web

from gdl.boards import Board
from gdl.boards.svg import add, root, written
from gdl.errors import GdlError
from server.access.control import ANONYMOUS, EMBEDDED
from server.records.record import understood
from server.web import boards, rendering
from server.web.match_page import ShownMatch, board_at, shown_match

_NO_BOARD: Final = "There is no picture of this state."


async def show_embedded(request: web.Request) -> web.Response:
    """Show the board of a match at one step as a page that may stand in a frame of another one."""
    # Who looks at it may have a token here; the page around it has none.
    shown = await shown_match(request, ANONYMOUS, ignores_role=True)
    with understood(shown.row.id):
        drawn, last = await _drawn(request, shown)
        picture = await boards.picture_of(drawn, shown.picture_title, last)
        request[EMBEDDED] = True
        return rendering.render(request, "embed.html", shown=shown, picture=picture, words=_words(shown))


async def send_image(request: web.Request) -> web.Response:
    """Send the board of a match at one step as an SVG file, for images on other pages."""
    shown = await shown_match(request, ANONYMOUS, ignores_role=True)
    with understood(shown.row.id):
        drawn, last = await _drawn(request, shown)
        title = shown.picture_title
        svg = _said(_words(shown), title) if drawn is None else await boards.image_of(drawn, title, last)
    request[EMBEDDED] = True
    headers = {"Cache-Control": "no-cache"}
    return web.Response(text=svg, content_type="image/svg+xml", charset="utf-8", headers=headers)


async def _drawn(request: web.Request, shown: ShownMatch) -> tuple[Board | None, boards.LastMove | None]:
    if shown.rules is None or shown.is_hidden:
        return None, None
    try:
        drawn, last = await board_at(request, shown)
    except GdlError:
        return None, None
    is_empty = drawn is None or not (drawn.has_picture or drawn.turn or drawn.lines)
    return (None, None) if is_empty else (drawn, last)


def _words(shown: ShownMatch) -> str:
    return f"This board is shown {shown.opening}." if shown.is_hidden else _NO_BOARD


def _said(words: str, title: str) -> str:
    """Return a picture of *words* alone."""
    picture = root(400, 60, role="img")
    add(picture, "title", title)
    add(picture, "rect", width=400, height=60, fill="#ffffff")
    add(picture, "text", words, x=200, y=35, fill="#2b2f36", font_size=15, text_anchor="middle")
    return written(picture)
