"""Which addresses the server calls when a player is named by one: public ones, and those that are allowed."""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias

from server.errors import ForbiddenTargetError

Network: TypeAlias = IPv4Network | IPv6Network
Address: TypeAlias = IPv4Address | IPv6Address

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
