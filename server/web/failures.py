"""Pages for what goes wrong: each says what happened and what to do."""

from __future__ import annotations

import logging
from typing import Final

from aiohttp import web

from server.api.refusals import API, Handler, kept_headers, refusal
from server.web.rendering import render

_LOG: Final = logging.getLogger(__name__)
_TITLES: Final = {
    400: "That cannot be done",
    401: "Please log in",
    403: "You may not do this",
    404: "There is nothing here",
    405: "That cannot be done",
    409: "That is over, or taken",
    413: "That is too large",
    429: "Too many requests",
    503: "Too much at once",
}
_HINTS: Final = {
    404: "The address may be misspelt, or what was here is gone. Matches, games and players are in the menu above.",
    405: "Go back, and use the buttons of the page.",
    413: "Send less than two megabytes.",
}
_UNFORESEEN: Final = "Something went wrong on this server"


@web.middleware
async def telling(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Tell whatever goes wrong outside of `/api/` in a page."""
    if request.path.startswith(API):
        return await handler(request)
    try:
        return await handler(request)
    except web.HTTPRedirection:
        raise
    except Exception as error:  # whatever it is, the answer is a page
        return failure_page(request, error)


def failure_page(request: web.Request, error: Exception) -> web.Response:
    """Return the page that tells *error*."""
    status, body = refusal(error)
    told, hint = body["error"]["message"], body["error"]["hint"]
    if isinstance(error, web.HTTPException):
        told, hint = "", _HINTS.get(status, "")
    title = _TITLES.get(status, _UNFORESEEN)
    response = render(request, "failure.html", status=status, title=title, told=told, hint=hint, code=status)
    response.headers.update(kept_headers(error))
    return response
