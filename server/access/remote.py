"""From where a request comes, behind proxies too; whether it means this server, and no page of another site sent it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

from aiohttp import web

from players.kit.addresses import url_of
from server.access.settings import AccessSettings, Network, is_loopback_host
from server.refusals import ForeignRequestError, WrongHostError

_WITH_PORT: Final = re.compile(r"(?P<v4>[0-9.]+):[0-9]+|\[(?P<v6>[0-9a-fA-F:.]+)\](:[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Remote:
    """Who is at the other end: the client's *address*, and scheme and host as the client wrote them."""

    address: str
    scheme: str
    host: str

    @property
    def origin(self) -> str:
        """The origin of our own pages, as a browser names it."""
        return f"{self.scheme}://{self.host}".lower()

    @property
    def is_secret(self) -> bool:
        """Whether the connection is encrypted (HTTPS)."""
        return self.scheme == "https"

    @property
    def name(self) -> str:
        """The host without its port; empty where it is none."""
        try:
            return url_of(f"http://{self.host}").host or ""
        except ValueError:
            return ""

    @property
    def is_local(self) -> bool:
        """Whether the client called us by a name of this machine."""
        return is_loopback_host(self.name)

    @property
    def party(self) -> str:
        """Whom the address counts for: one who has an IPv6 address has 2^64 of them."""
        found = _address(self.address)
        if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
            return str(ip_network((found, 64), strict=False))
        return self.address


def remote_of(request: web.Request, proxies: Sequence[Network]) -> Remote:
    """Return who sends *request*; only a peer in one of the networks *proxies* is believed to speak for another."""
    peer, scheme, host = request.remote or "", request.scheme, request.headers.get("Host", "")
    if not _is_in(peer, proxies):
        return Remote(peer, scheme, host)
    claimed = _last(request, "X-Forwarded-Proto")
    return Remote(
        _client([_without_port(each) for each in _list(request, "X-Forwarded-For")], peer, proxies),
        claimed if claimed in ("http", "https") else scheme,
        _last(request, "X-Forwarded-Host") or host,
    )


def is_forwarded(request: web.Request) -> bool:
    """Return whether some proxy says that it forwards *request*."""
    return any(name in request.headers for name in ("Forwarded", "Via", "X-Forwarded-For", "X-Real-IP"))


def _client(chain: Sequence[str], peer: str, proxies: Sequence[Network]) -> str:
    """Return the last address of *chain* that is no trusted proxy; what stands before it may be forged."""
    client = peer
    for address in reversed(chain):
        if _address(address) is None:
            return client
        client = address
        if not _is_in(address, proxies):
            return client
    return client


def _without_port(text: str) -> str:
    found = _WITH_PORT.fullmatch(text)
    return text if found is None else found["v4"] or found["v6"]


def _list(request: web.Request, name: str) -> list[str]:
    lines = request.headers.getall(name, [])
    return [part.strip() for line in lines for part in line.split(",") if part.strip()]


def _last(request: web.Request, name: str) -> str:
    return next(reversed(_list(request, name)), "")


def _is_in(text: str, networks: Sequence[Network]) -> bool:
    address = _address(text)
    return address is not None and any(address in network for network in networks)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found


def check_host(remote: Remote, settings: AccessSettings) -> None:
    """Check that the client meant this server, where a request from this machine needs no token.

    Otherwise any page could give its own name our address, and read what we answer (DNS rebinding).

    Raises:
        WrongHostError: it names another.
    """
    is_ours = remote.is_local or remote.name in settings.hosts
    if settings.is_private and remote.host and not is_ours:
        raise WrongHostError(remote.host)


def check_not_forwarded(request: web.Request) -> None:
    """Check that *request*, which needs no token since it comes from this machine, was not forwarded by a proxy.

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
