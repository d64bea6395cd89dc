"""How a server is reached: from where, how often, and what it believes of who asks."""

from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias

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
