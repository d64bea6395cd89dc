"""What is fetched by URL: archives and rule files, from public addresses alone.

It is read with what any program may answer in mind: within limits of size and time.
"""

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any, Final

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import DefaultResolver
from yarl import URL

from players.kit.addresses import url_of
from server.errors import ImportSourceError
from server.links.addresses import AllowedAddresses
from server.links.errors import ForbiddenTargetError

SCHEMES: Final = ("http", "https")
_MOST_REDIRECTS: Final = 5
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_PIECE_BYTES: Final = 65_536
_FORBIDDEN: Final = "the address is in a network that nothing is fetched from (--allow-network)"
MAX_SECONDS: Final = 120.0
"""How long what is fetched may take to arrive."""


def is_url(source: str) -> bool:
    """Return whether *source* is an address, of whatever scheme, and no path.

    >>> is_url("https://example.org/games.zip"), is_url("file:///etc"), is_url("games/a:b")
    (True, True, False)
    """
    scheme, separator, _ = source.partition("://")
    return bool(separator) and scheme.isalnum()


async def fetched(url: str, targets: AllowedAddresses, max_bytes: int) -> bytes:
    """Return what is at *url*: at most *max_bytes*, within MAX_SECONDS, from addresses that *targets* allow.

    Redirects are followed, each as carefully; proxies of the environment are not used.

    Raises:
        ImportSourceError: there is nothing of the kind.
    """
    try:
        async with asyncio.timeout(MAX_SECONDS):
            return await _fetched(url_of(url), targets, max_bytes)
    except ImportSourceError as error:
        raise ImportSourceError(url, error.reason) from None
    except ForbiddenTargetError:
        raise ImportSourceError(url, _FORBIDDEN) from None
    except TimeoutError:
        raise ImportSourceError(url, f"it did not arrive within {MAX_SECONDS:g} seconds") from None
    except (ClientError, OSError, ValueError) as error:
        cause = error.__cause__
        if isinstance(cause, ForbiddenTargetError):
            raise ImportSourceError(url, _FORBIDDEN) from None
        raise ImportSourceError(url, str(error) or type(error).__name__) from error


async def _fetched(url: URL, targets: AllowedAddresses, max_bytes: int) -> bytes:
    connector = TCPConnector(resolver=_CheckedResolver(targets))
    async with ClientSession(connector=connector, timeout=ClientTimeout(total=None), trust_env=False) as session:
        for _ in range(_MOST_REDIRECTS + 1):
            _check_address(url, targets)
            async with session.get(url, allow_redirects=False) as response:
                if response.status not in _REDIRECTS:
                    return await _body(response, max_bytes)
                url = url.join(url_of(response.headers.get("Location", "")))
    raise ImportSourceError(str(url), f"more than {_MOST_REDIRECTS} redirects")


def _check_address(url: URL, targets: AllowedAddresses) -> None:
    """Check the scheme of *url*, and its host where that is a number, for which no resolver is asked.

    Raises:
        ImportSourceError: it may have no such scheme.
        ForbiddenTargetError: the address may not be called.
    """
    if url.scheme not in SCHEMES or not url.host:
        raise ImportSourceError(str(url), "an address begins with http:// or https://")
    try:
        ip_address(url.host)
    except ValueError:
        return
    targets.check(url.host)


async def _body(response: ClientResponse, max_bytes: int) -> bytes:
    if response.status != 200:
        raise ImportSourceError(str(response.url), f"the answer is {response.status} {response.reason}")
    body = bytearray()
    async for piece in response.content.iter_chunked(_PIECE_BYTES):
        body += piece
        if len(body) > max_bytes:
            raise ImportSourceError(str(response.url), f"it has more than {max_bytes:,} bytes")
    return bytes(body)


class _CheckedResolver(AbstractResolver):
    """Finds addresses by name, and lets through those that may be called: the one that is checked is called."""

    def __init__(self, targets: AllowedAddresses) -> None:
        self._targets, self._resolver = targets, DefaultResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found: Sequence[Any] = await self._resolver.resolve(host, port, family)
        for one in found:
            self._targets.check(one["host"])
        return list(found)

    async def close(self) -> None:
        await self._resolver.close()
