"""How a server is reached: from where, how often, and with which role for each handler."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, Final, TypeAlias, TypeVar

from aiohttp import web
from aiohttp.web_urldispatcher import StaticResource

from players.kit.addresses import url_of
from server.principal import Role
from server.refusals import ForeignRequestError, WrongHostError

_Handler = TypeVar("_Handler", bound=Callable[..., Awaitable[Any]])
_NEEDED: Final = "needed_role"
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""
_WITH_PORT: Final = re.compile(r"(?P<v4>[0-9.]+):[0-9]+|\[(?P<v6>[0-9a-fA-F:.]+)\](:[0-9]+)?")


def requires(role: Role | None) -> Callable[[_Handler], _Handler]:
    """Return a decorator that lets only clients with *role*, or more, reach a handler; None lets every client."""

    def declared(handler: _Handler) -> _Handler:
        setattr(handler, _NEEDED, role)
        return handler

    return declared


def needed_role(request: web.Request) -> Role | None:
    """Return the role that *request* needs.

    A handler that declares nothing is for spectators where it changes nothing, and otherwise for admins alone.
    """
    route = request.match_info.route
    if isinstance(route.resource, StaticResource):
        return None
    if request.match_info.http_exception is not None:
        return Role.SPECTATOR
    undeclared = Role.SPECTATOR if request.method in SAFE_METHODS else Role.ADMIN
    found = getattr(route.handler, _NEEDED, undeclared)
    assert found is None or isinstance(found, Role)
    return found


Network: TypeAlias = IPv4Network | IPv6Network


_LOOPBACK_NAME: Final = "localhost"


@dataclass(frozen=True, slots=True)
class Limits:
    """The rate limits of a party, in the notation of the library `limits`, and its open requests at most.

    Attributes:
        requests: all requests of a party but replies of its players; as many of these may be refused.
        orders: orders of matches.
        uploads: uploads of rules, and validations.
        calls: what asks a player INFO, registers one or changes it; to pause one and to let it go on changes it, too.
        logins: failed attempts to log in or to use a token, for each address.
        n_at_once: requests that are being answered at once, open streams among them.
        body_s: how long the body of a request may take to arrive.
    """

    requests: str = "3000/minute"
    orders: str = "300/minute"
    uploads: str = "60/minute"
    calls: str = "60/minute"
    logins: str = "10/minute"
    n_at_once: int = 200
    body_s: float = 30.0


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """How the server is reached.

    Attributes:
        is_loopback: it listens only where no other machine can reach it.
        is_public: everybody may watch, without a token.
        proxies: the networks of reverse proxies that are believed what they say of who asks.
        hosts: names that this server has, besides those of loopback.
        session_s: how long a session lasts.
    """

    is_loopback: bool = True
    is_public: bool = False
    proxies: tuple[Network, ...] = ()
    hosts: tuple[str, ...] = ()
    session_s: int = 7 * 86_400
    limits: Limits = field(default_factory=Limits)

    @property
    def is_private(self) -> bool:
        """Whether only programs of this machine can reach the server, not even a proxy for others."""
        return self.is_loopback and not self.proxies


def is_loopback_host(host: str) -> bool:
    """Return whether a server that listens on *host* can be reached from this machine alone.

    >>> is_loopback_host("localhost"), is_loopback_host("::1"), is_loopback_host("0.0.0.0")
    (True, True, False)
    """
    name = host.strip("[]").rstrip(".").lower()
    if name == _LOOPBACK_NAME or name.endswith(f".{_LOOPBACK_NAME}"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def network(text: str) -> Network:
    """Return the network *text* (`10.0.0.0/8`, or one address).

    Raises:
        ValueError: it is none.
    """
    return ip_network(text, strict=False)


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
