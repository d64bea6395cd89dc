"""HTTP players: one connection for each message, to the end of the first term of the reply and no further."""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from server.links import connection, http_reply
from server.links.addresses import DEFAULT_PORT, AllowedAddresses, check_address, look_up, player_url
from server.links.errors import ForbiddenTargetError, RemotePlayerError
from server.match.link import PlayerRequest, ReplyBuffer

CONNECT_S: Final = 2.0
"""How long a connection is waited for where the host has more addresses: a quarter of short clocks."""
MAX_ANSWERED: Final = 4_000
"""How much of an earlier answer is sent again. *Units*: characters; many servers take headers of 8 KiB."""


class HttpPlayer:
    """The player that listens at *url*; *name* is what the header `Receiver` calls it.

    Addresses outside *targets* are not called; None is for players that this machine's own user names.

    Attributes:
        seat: at which of its seats in a match: the first, until `seating.number_seats` says which it is.

    Raises:
        PlayerSpecError: *url* is none that a player could have.
    """

    def __init__(
        self, url: str, name: str = "player", *, host_name: str | None = None, targets: AllowedAddresses | None = None
    ) -> None:
        self._url, self._targets = player_url(url), targets
        self._allowed: set[str] = set()
        self._name, self._host_name = name, host_name
        self.seat = 1
        self._reached: str | None = None

    @cached_property
    def _head(self) -> str:
        """The part of the head that is the same in each request."""
        return (
            f"POST {self._url.raw_path_qs} HTTP/1.0\r\nAccept: text/delim\r\n"
            f"Host: {self._url.host_port_subcomponent or ''}\r\nSender: GAMESERVER\r\n"
            f"Receiver: {_header_text(self._name)}\r\nContent-Type: text/acl\r\n"
        )

    @cached_property
    def _host_line(self) -> str:
        return f"GGP-Match-Host: {_header_text(_product() if self._host_name is None else self._host_name)}\r\n"

    @property
    def url(self) -> str:
        """Where the player listens."""
        return str(self._url)

    async def deliver(self, request: PlayerRequest, reply: ReplyBuffer) -> None:
        """Connect, send *request*, and fill *reply*; redirects and proxies are not followed.

        It goes to the first address of the host that takes the connection, and to that one first from then on. The
        address that is checked is the one that is called: the name is not looked up again.

        Raises:
            OSError: the connection failed.
            RemotePlayerError: what came is no HTTP reply, or one with an error; or its address may not be called.
        """
        host, port = self._url.host or "", self._url.port or DEFAULT_PORT
        refusal: Exception = OSError(f"{host} has no address")
        addresses = sorted(await look_up(host, port), key=lambda each: each != self._reached)
        connect_s = CONNECT_S if request.limit_s is None else min(CONNECT_S, request.limit_s / 4)
        for address in addresses:
            conversation = _Conversation(self._http_request(request), http_reply.HttpReply(reply))
            failure = await self._try(conversation, address, port, None if address == addresses[-1] else connect_s)
            if conversation.is_connected:
                self._reached = address
            if failure is None:
                return
            refusal = failure
            if conversation.is_connected:
                break
        raise refusal

    async def _try(
        self, conversation: _Conversation, address: str, port: int, connect_s: float | None
    ) -> Exception | None:
        """Have *conversation* with *address*; return why there is no whole reply, if there is none.

        The connection is waited for *connect_s* at most, None without a limit.
        """
        transport = None
        try:
            self._check(address)
            async with asyncio.timeout(connect_s):
                transport = await self._connect(conversation, address, port)
                if connect_s is not None:
                    await conversation.begun.wait()
            return await conversation.ended
        except ForbiddenTargetError as error:
            return error
        except OSError as error:
            return _without_address(error)
        finally:
            if transport is not None:
                transport.abort()  # closing politely would wait for a peer that does not read

    async def _connect(self, conversation: _Conversation, address: str, port: int) -> asyncio.Transport:
        """Begin *conversation* over a connection, which perhaps cannot be opened, as the conversation then says."""
        if self._url.scheme != "https":
            return connection.PlainConnection(conversation, address, port)
        loop, host = asyncio.get_running_loop(), self._url.host
        transport, _ = await loop.create_connection(lambda: conversation, address, port, ssl=True, server_hostname=host)
        return transport

    def _check(self, address: str) -> None:
        """Check that *address* may be called; what was found of it holds for as long as this player is there."""
        if address not in self._allowed:
            check_address(address, self._targets)
            self._allowed.add(address)

    async def close(self) -> None:
        """Do nothing: no connection outlives its message."""

    def _http_request(self, request: PlayerRequest) -> bytes:
        """Return the bytes of the HTTP request that carries *request*."""
        body = request.text.encode()
        head = f"{self._head}Content-Length: {len(body)}\r\nConnection: close\r\n"
        if request.match_id:
            head += f"GGP-Match-ID: {request.match_id}\r\nGGP-Match-Step: {request.step}\r\n"
            head += self._host_line
            if self.seat > 1:
                head += f"GGP-Match-Seat: {self.seat}\r\n"
        if request.answered is not None:
            head += f"GGP-Match-Answered: {_answered_text(request.answered)}\r\n"
        return f"{head}\r\n".encode("latin-1", "replace") + body


class _Conversation(asyncio.BufferedProtocol):
    """One request and its reply, which may begin before the request is through; read slice by slice.

    Attributes:
        begun: is set when the connection is open, or cannot be opened.
        ended: done when it has ended; the result is why there is no whole reply, if there is none.
        is_connected: whether the connection was ever open.
    """

    def __init__(self, request: bytes, reply: http_reply.HttpReply) -> None:
        self._request, self._reply = request, reply
        self.begun = asyncio.Event()
        self.ended: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
        self.is_connected = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport, self.is_connected = transport, True
        self.begun.set()
        turns = connection.turns()
        self._slice, self._reading = turns.slice, connection.PacedReading(transport, turns)
        transport.write(self._request)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 -- the caller's signature
        return self._slice

    def buffer_updated(self, nbytes: int) -> None:
        """Feed the reply with what was read, and end the conversation when it is finished or no HTTP reply."""
        if self.ended.done():
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
        if self.ended.done():
            return
        try:
            self._reply.feed_end()
        except RemotePlayerError as early:
            self._end(exc or early)
        else:
            self._end(None)

    def _end(self, error: Exception | None) -> None:
        self.begun.set()
        self.ended.set_result(error)
        if self.is_connected:
            self._transport.pause_reading()


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
