"""Addresses of players: what is one, where it leads, and whether a server may call what is there."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass
from functools import lru_cache, partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias

from yarl import URL

from players.kit.addresses import url_of
from server.links.errors import ForbiddenTargetError, PlayerSpecError
from server.threads import in_own_thread

Network: TypeAlias = IPv4Network | IPv6Network
Address: TypeAlias = IPv4Address | IPv6Address
DEFAULT_PORT: Final = 9147
"""Where players listen by convention of the field."""
LOOKUP_LIMIT_S: Final = 5.0
_SPECIAL: Final = tuple(
    ip_network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by a provider's customers
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # what a cloud tells its machines, at an address that looks like any other
        "169.254.0.0/16",  # link-local, and what most clouds tell their machines
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation
    )
)
_GLOBAL: Final = ip_network("2000::/3")
_NAT64: Final = ip_network("64:ff9b::/96")
_OTHER_WAYS: Final = "it can dial in, or the host allows the network by --allow-network"


@dataclass(frozen=True, slots=True)
class AllowedAddresses:
    """What a server calls: public addresses, those in the networks *allowed*, and perhaps its own machine's."""

    has_loopback: bool = False
    allowed: tuple[Network, ...] = ()

    def check(self, text: str) -> None:
        """Check that the numeric address *text* may be called.

        Raises:
            ForbiddenTargetError: it may not.
        """
        address = _meant(ip_address(text))
        is_allowed = any(address in network for network in self.allowed)
        if not (is_allowed or (self.has_loopback and address.is_loopback) or is_public(address)):
            raise ForbiddenTargetError


def is_public(address: Address) -> bool:
    """Return whether *address* is one of the public Internet.

    >>> is_public(ip_address("9.9.9.9")), is_public(ip_address("::ffff:10.0.0.1"))
    (True, False)
    """
    meant = _meant(address)
    if isinstance(meant, IPv6Address) and meant not in _GLOBAL:
        return False
    return not any(meant in network for network in _SPECIAL)


def _meant(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address leads to in the end, where it is such a one."""
    if isinstance(address, IPv4Address):
        return address
    return address.ipv4_mapped or address.sixtofour or _behind_nat64(address) or address


def _behind_nat64(address: IPv6Address) -> IPv4Address | None:
    return IPv4Address(address.packed[-4:]) if address in _NAT64 else None


@lru_cache(4_096)
def is_address(text: str) -> bool:
    """Return whether *text* names a player by its address."""
    return text.startswith(("http://", "https://"))


def host_and_port(address: str) -> str:
    """Return what the player at *address* is called.

    Raises: as `player_url`.
    """
    url = player_url(address)
    return f"{url.host}:{url.port}"


def player_url(text: str) -> URL:
    """Return the address that *text* names.

    Raises:
        PlayerSpecError: it names none that a player could have.
    """
    try:
        url = url_of(text)
        is_fine = url.scheme in ("http", "https") and url.port != 0 and bool((url.host or "").encode("idna"))
    except (ValueError, UnicodeError) as error:
        raise PlayerSpecError(text, str(error)) from error
    if not is_fine:
        raise PlayerSpecError(text, "expected http://host:port")
    return url if url.explicit_port or url.scheme == "https" else url.with_port(DEFAULT_PORT)


async def check_target(url: str, targets: AllowedAddresses | None) -> None:
    """Check that the player at *url*, as its name leads there now, would be called; each call checks it again.

    Raises:
        PlayerSpecError: it would not, its name is unknown, or it is no address of a player.
    """
    found = player_url(url)
    try:
        async with asyncio.timeout(LOOKUP_LIMIT_S):
            numeric = await look_up(found.host or "", found.port or DEFAULT_PORT)
        for address in numeric:
            check_address(address, targets)
    except TimeoutError as error:
        raise PlayerSpecError(url, f"its name was not found within {LOOKUP_LIMIT_S:g} s") from error
    except ForbiddenTargetError as error:
        raise PlayerSpecError(url, f"{error}; {_OTHER_WAYS}") from error
    except OSError as error:
        raise PlayerSpecError(url, error.strerror or str(error)) from error


def check_address(address: str, targets: AllowedAddresses | None) -> None:
    """Check that the numeric *address* may be called, where *targets* says so.

    Raises:
        ForbiddenTargetError: it may not.
    """
    if targets is not None:
        targets.check(address)


@lru_cache(4_096)
def as_numeric(host: str) -> tuple[str, ...]:
    """Return the address that *host* is, if it is one and not a name."""
    try:
        return (str(ip_address(host)),)
    except ValueError:
        return ()


async def look_up(host: str, port: int) -> tuple[str, ...]:
    """Return the numeric addresses of *host*; OSError where its name is unknown.

    The pool that asyncio would look names up in is small: a few names without an answer would hold up all.
    """
    if numeric := as_numeric(host):
        return numeric
    found = await in_own_thread(partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM))
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))
