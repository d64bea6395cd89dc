"""The page that tells what went wrong."""

from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler

from server.api.problem import API, kept_headers, refusal
from server.web.rendering import render

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
_DAMAGED: Final = "What is kept of this is damaged"
_UNFORESEEN: Final = "Something went wrong on this server"


@web.middleware
async def showing_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Tell whatever goes wrong outside of `/api/` in a page."""
    if request.path.startswith(API):
        return await handler(request)
    try:
        return await handler(request)
    except web.HTTPRedirection:
        raise
    except Exception as error:  # whatever it is, the answer is a page
        return show_error(request, error)


def show_error(request: web.Request, error: Exception) -> web.Response:
    """Return the page that tells *error*."""
    status, body = refusal(error)
    message, hint = body["error"]["message"], body["error"]["hint"]
    if isinstance(error, web.HTTPException):
        message, hint = "", _HINTS.get(status, "")
    title = _DAMAGED if body["error"]["code"] == "damaged" else _TITLES.get(status, _UNFORESEEN)
    response = render(request, "error.html", status=status, title=title, message=message, hint=hint, code=status)
    response.headers.update(kept_headers(error))
    return response
