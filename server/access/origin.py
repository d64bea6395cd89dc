"""Whether a request was caused by a page of ours, or by one of somebody else that a browser of ours happens to show."""

from __future__ import annotations

from aiohttp import web
from yarl import URL

from server.access.errors import ForeignRequestError, WrongHostError
from server.access.remote import Remote, is_forwarded
from server.access.settings import AccessSettings, is_loopback_host


def check_host(request: web.Request, settings: AccessSettings) -> None:
    """Check that *request* names this server, where being on this machine is what lets somebody in.

    Otherwise any page could give its own name our address, and read what we answer (DNS rebinding).

    Raises:
        WrongHostError: it names another.
    """
    named = request.headers.get("Host", "")
    if settings.is_private and named and not _is_ours(named, settings):
        raise WrongHostError(named)


def _is_ours(named: str, settings: AccessSettings) -> bool:
    try:
        host = URL(f"http://{named}").host or ""
    except ValueError:
        return False
    return is_loopback_host(host) or host in settings.hosts


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
