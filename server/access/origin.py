"""Whether a request was caused by a page of ours, or by one of somebody else that a browser of ours happens to show."""

from __future__ import annotations

from aiohttp import web

from server.access.errors import ForeignRequestError, WrongHostError
from server.access.remote import Remote, is_forwarded
from server.access.settings import AccessSettings


def check_host(remote: Remote, settings: AccessSettings) -> None:
    """Check that the client meant this server, where being on this machine is what lets somebody in.

    Otherwise any page could give its own name our address, and read what we answer (DNS rebinding).

    Raises:
        WrongHostError: it names another.
    """
    is_ours = remote.is_local or remote.name in settings.hosts
    if settings.is_private and remote.host and not is_ours:
        raise WrongHostError(remote.host)


def check_not_forwarded(request: web.Request) -> None:
    """Check that *request*, which being on this machine would let in, was not passed on for somebody else.

    Raises:
        ForeignRequestError: a proxy says that it was.
    """
    if is_forwarded(request):
        hint = "start it with --trusted-proxy and the proxy's network, and issue tokens with `ggp token issue`"
        raise ForeignRequestError("a proxy stands before this server, which does not know of any", hint)


def check_origin(request: web.Request, remote: Remote) -> None:
    """Check that no page of another site caused *request*; programs that are no browser say nothing about it.

    Raises:
        ForeignRequestError: one did.
    """
    site = request.headers.get("Sec-Fetch-Site", "same-origin")
    origin = request.headers.get("Origin", remote.origin).lower()
    if site not in ("same-origin", "none") or origin != remote.origin:
        raise ForeignRequestError("a page of another site asks for this", "use the pages of this server")
