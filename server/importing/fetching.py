"""What is fetched by URL: archives, rule files, and the answers of another server's API.

It is read with what any program may answer in mind: within limits of size and time. Archives and rule files come from
public addresses alone.
"""

import asyncio
import json
import socket
from collections.abc import Sequence
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any, Final

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import DefaultResolver
from yarl import URL

from players.kit.addresses import url_of
from players.kit.host import json_object, refusal_words
from server.errors import ForbiddenTargetError, ImportSourceError, OrderRefusedError
from server.links.addresses import AllowedAddresses

SCHEMES: Final = ("http", "https")
_MOST_REDIRECTS: Final = 5
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_PIECE_BYTES: Final = 65_536
_FORBIDDEN: Final = "the address is in a network that nothing is fetched from (--allow-network)"
MAX_SECONDS: Final = 120.0
"""How long what is fetched may take to arrive."""
MAX_ANSWER_BYTES: Final = 10_000_000
"""The longest answer that is read."""
_MAX_SHOWN: Final = 500
BAD_REDIRECT: Final = "it redirects to what is no address"
"""What an IndexError of aiohttp means: it follows redirects by itself, and yarl raises one for `http://[::1]@`."""
_VERSIONS_S: Final = 30.0
"""How long a server may take to say what versions of a game it has, and to send their rules."""


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


async def text_of(answer: ClientResponse, server: str, status: HTTPStatus = HTTPStatus.OK) -> str:
    """Return the text of *answer*, which has to have that *status*; *server* is what errors call who sent it.

    Raises:
        OrderRefusedError: it has another status, is too long, or no text.
        ClientError, TimeoutError: it ends too early.
    """
    body = bytearray()
    async for part in answer.content.iter_any():
        body += part
        if len(body) > MAX_ANSWER_BYTES:
            raise OrderRefusedError(server, f"its answer has more than {MAX_ANSWER_BYTES:,} bytes")
    if answer.status != status:
        raise OrderRefusedError(server, _message(answer.status, body) or f"it answers with the status {answer.status}")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise OrderRefusedError(server, "its answer is no text in UTF-8") from error


async def object_of(answer: ClientResponse, server: str, status: HTTPStatus = HTTPStatus.OK) -> dict[str, Any]:
    """Return the JSON object that *answer* is; raises as `text_of`, and OrderRefusedError where it is none."""
    told = _json(await text_of(answer, server, status))
    if not isinstance(told, dict):
        raise OrderRefusedError(server, "its answer is no JSON object: is this a server of `ggp serve`?")
    return told


def _message(status: int, body: bytearray) -> str:
    """Return what the error of the API in *body* says, with its hint; empty where it is none."""
    told = json_object(bytes(body))
    error = told.get("error")
    has_message = isinstance(error, dict) and isinstance(error.get("message"), str)
    return refusal_words(status, told)[:_MAX_SHOWN] if has_message else ""


def _json(text: str | bytearray) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


async def texts_of_versions(server: str, game: str, versions: Sequence[str], token: str | None) -> list[str]:
    """Return the rules of *game* at *server* in each of *versions*, which are the beginnings of hashes.

    Raises:
        OrderRefusedError: it cannot be reached, or has no such version, or several.
    """
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    timeout = ClientTimeout(total=_VERSIONS_S)
    try:
        async with ClientSession(headers=headers, timeout=timeout) as session:
            known = await _known(session, server, game)
            return [await _rules(session, server, game, _meant(server, known, version)) for version in versions]
    except OrderRefusedError:
        raise
    except IndexError as error:
        raise OrderRefusedError(server, BAD_REDIRECT) from error
    except (ClientError, ValueError, TimeoutError) as error:
        raise OrderRefusedError(server, f"it cannot be reached: {error}") from error


async def _known(session: ClientSession, server: str, game: str) -> list[str]:
    """Return the hashes of the versions of *game*."""
    async with session.get(f"{server}/api/v1/games/{game}/versions") as answer:
        told = (await object_of(answer, server)).get("versions")
    lines = told if isinstance(told, list) else [None]
    hashes = [line.get("sha256") if isinstance(line, dict) else None for line in lines]
    found = [sha256 for sha256 in hashes if isinstance(sha256, str)]
    if len(found) < len(lines):
        raise OrderRefusedError(server, "its answer lists no versions: is this a server of `ggp serve`?")
    return found


def _meant(server: str, known: Sequence[str], version: str) -> str:
    found = [sha256 for sha256 in known if version and sha256.startswith(version.lower())]
    if len(found) != 1:
        shown = ", ".join(sha256[:16] for sha256 in known[:10])
        which = "no version" if not found else "more than one version"
        raise OrderRefusedError(server, f"{which} begins with {version[:64]!r}; there are {shown}")
    return found[0]


async def _rules(session: ClientSession, server: str, game: str, sha256: str) -> str:
    async with session.get(f"{server}/api/v1/games/{game}/rules", params={"version": sha256}) as answer:
        return await text_of(answer, server)
