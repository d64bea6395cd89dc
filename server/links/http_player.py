"""HTTP players: one connection for each message, to the end of the first term of the reply and no further."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import time
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from ipaddress import ip_address
from typing import Final

from yarl import URL

from server.errors import ForbiddenTargetError, PlayerSpecError, RemotePlayerError
from server.links.address import AllowedAddresses
from server.links.http_reply import SLICE_BYTES, HttpReply
from server.links.pacing import PacedReading, turns
from server.match.link import PlayerRequest, ReplyBuffer
from server.match.referee import in_own_thread

DEFAULT_PORT: Final = 9147
"""Where players listen by convention of the field."""
LOOKUP_LIMIT_S: Final = 5.0
MAX_ANSWERED: Final = 4_000
"""How much of an earlier answer is sent again. *Units*: characters; many servers take headers of 8 KiB."""


class HttpPlayer:
    """The player that listens at *url*; *name* is what the header `Receiver` calls it.

    Addresses outside *targets* are not called; None is for players that this machine's own user names.

    Raises:
        PlayerSpecError: *url* is none that a player could have.
    """

    def __init__(
        self, url: str, name: str = "player", *, host_name: str | None = None, targets: AllowedAddresses | None = None
    ) -> None:
        self._url, self._targets = player_url(url), targets
        self._name = _header_text(name)
        self._host_name = _header_text(_product() if host_name is None else host_name)

    @property
    def url(self) -> str:
        """Where the player listens."""
        return str(self._url)

    async def deliver(self, request: PlayerRequest, reply: ReplyBuffer) -> None:
        """Connect, send *request*, and fill *reply*; redirects and proxies are not followed.

        Raises:
            OSError: the connection failed.
            RemotePlayerError: what came is no HTTP reply, or one with an error; or its address may not be called.
        """
        transport, conversation = await self._connect(request, reply)
        try:
            await conversation.ended.wait()
        finally:
            # Closing politely would wait for a peer that does not read.
            transport.abort()
        if conversation.error is not None:
            raise conversation.error

    async def _connect(self, request: PlayerRequest, reply: ReplyBuffer) -> tuple[asyncio.Transport, _Conversation]:
        """Connect to the first address of the host that takes the connection.

        The address that is checked is the one that is called: the name is not looked up again.
        """
        host, port, is_secret = self._url.host or "", self._url.port or DEFAULT_PORT, self._url.scheme == "https"
        refusal: Exception = OSError(f"{host} has no address")
        for address in await _addresses(host, port):
            try:
                _check(address, self._targets)
                return await asyncio.get_running_loop().create_connection(
                    lambda: _Conversation(self._http_request(request), HttpReply(reply)),
                    address,
                    port,
                    ssl=is_secret or None,
                    server_hostname=host if is_secret else None,
                )
            except ForbiddenTargetError as error:
                refusal = error
            except OSError as error:
                refusal = _without_address(error)
        raise refusal

    async def close(self) -> None:
        """Do nothing: no connection outlives its message."""

    def _http_request(self, request: PlayerRequest) -> bytes:
        """Return the bytes of the HTTP request that carries *request*."""
        body = request.text.encode()
        fields = {
            "Accept": "text/delim",
            "Host": self._url.host_port_subcomponent or "",
            "Sender": "GAMESERVER",
            "Receiver": self._name,
            "Content-Type": "text/acl",
            "Content-Length": str(len(body)),
            "Connection": "close",
        }
        if request.match_id:
            fields["GGP-Match-ID"] = request.match_id
            fields["GGP-Match-Step"] = str(request.step)
            fields["GGP-Match-Host"] = self._host_name
        if request.answered is not None:
            fields["GGP-Match-Answered"] = _answered_text(request.answered)
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return f"POST {self._url.raw_path_qs} HTTP/1.0\r\n{head}\r\n".encode("latin-1", "replace") + body


class _Conversation(asyncio.BufferedProtocol):
    """One request and its reply, which may begin before the request is through; read slice by slice."""

    def __init__(self, request: bytes, reply: HttpReply) -> None:
        self._request, self._reply = request, reply
        self._slice = memoryview(bytearray(SLICE_BYTES))
        self.ended = asyncio.Event()
        self.error: Exception | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._reading = PacedReading(transport, turns())
        transport.write(self._request)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 -- the caller's signature
        return self._slice

    def buffer_updated(self, nbytes: int) -> None:
        """Feed the reply with what was read, and end the conversation when it is finished or no HTTP reply."""
        if self.ended.is_set():
            return
        started_s = time.perf_counter()
        try:
            self._reply.feed(bytes(self._slice[:nbytes]))
        except RemotePlayerError as error:
            self._end(error)
        else:
            if self._reply.is_finished:
                self._end(None)
        self._reading.note_read(nbytes, time.perf_counter() - started_s)

    def eof_received(self) -> None:
        self.connection_lost(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if self.ended.is_set():
            return
        try:
            self._reply.feed_end()
        except RemotePlayerError as early:
            self._end(exc or early)
        else:
            self._end(None)

    def _end(self, error: Exception | None) -> None:
        self.error = error
        self.ended.set()
        self._transport.pause_reading()


def player_url(text: str) -> URL:
    """Return the address that *text* names.

    Raises:
        PlayerSpecError: it names none that a player could have.
    """
    try:
        url = URL(text)
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
            addresses = await _addresses(found.host or "", found.port or DEFAULT_PORT)
        for address in addresses:
            _check(address, targets)
    except TimeoutError as error:
        raise PlayerSpecError(url, f"its name was not found within {LOOKUP_LIMIT_S:g} s") from error
    except (OSError, ForbiddenTargetError) as error:
        raise PlayerSpecError(url, getattr(error, "strerror", None) or str(error)) from error


def _check(address: str, targets: AllowedAddresses | None) -> None:
    if targets is not None:
        targets.check(address)


async def _addresses(host: str, port: int) -> tuple[str, ...]:
    """Return the numeric addresses of *host*.

    The pool that asyncio would look names up in is small: a few names without an answer would hold up all.
    """
    with suppress(ValueError):
        return (str(ip_address(host)),)
    found = await in_own_thread(partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM))
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


def _without_address(error: OSError) -> OSError:
    """Return *error* without the numeric address that asyncio names: records of matches are public."""
    if error.errno is None or isinstance(error, ssl.SSLError):
        return error
    return OSError(error.errno, os.strerror(error.errno))


def _answered_text(text: str) -> str:
    shown = "".join(c if " " <= c <= "~" else "?" for c in " ".join(text.split()))
    return shown[:MAX_ANSWERED]


def _header_text(text: str) -> str:
    return "".join(c for c in text if c.isprintable())[:200] or "player"


@cache
def _product() -> str:
    try:
        return f"ggp/{version('ggp')}"
    except PackageNotFoundError:
        return "ggp"
