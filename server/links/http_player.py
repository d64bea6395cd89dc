"""HTTP players: one connection for each message, to the end of the first term of the reply and no further.

They are asked for their name and status, too: INFO, and PING for the older ones.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import time
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from importlib.metadata import PackageNotFoundError, version
from ipaddress import ip_address
from typing import Final

from yarl import URL

from gdl.errors import MessageError
from gdl.wire.messages import Info, Ping, to_text
from gdl.wire.replies import InfoReply, Status, decode, is_complete, read_info
from server.errors import ForbiddenTargetError, PlayerSpecError, RemotePlayerError
from server.links import connection, http_reply
from server.links.connection import AllowedAddresses
from server.match.link import Clock, PlayerRequest, ReplyBuffer, SystemClock
from server.match.referee import in_own_thread
from server.sanitization import clean_line

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
        self._numeric = _numeric(self._url.host or "")
        self._allowed: set[str] = set()
        self._name, self._host_name = name, host_name

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

        It goes to the first address of the host that takes the connection. The address that is checked is the one that
        is called: the name is not looked up again.

        Raises:
            OSError: the connection failed.
            RemotePlayerError: what came is no HTTP reply, or one with an error; or its address may not be called.
        """
        host, port = self._url.host or "", self._url.port or DEFAULT_PORT
        refusal: Exception = OSError(f"{host} has no address")
        for address in self._numeric or await _addresses(host, port):
            conversation = _Conversation(self._http_request(request), http_reply.HttpReply(reply))
            try:
                self._check(address)
                transport = await self._connect(conversation, address, port)
            except ForbiddenTargetError as error:
                refusal = error
                continue
            except OSError as error:
                refusal = _without_address(error)
                continue
            try:
                failure = await conversation.ended
            finally:
                # Closing politely would wait for a peer that does not read.
                transport.abort()
            if failure is None:
                return
            refusal = failure
            if conversation.is_connected:
                break
        raise refusal

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
            _check(address, self._targets)
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
        if request.answered is not None:
            head += f"GGP-Match-Answered: {_answered_text(request.answered)}\r\n"
        return f"{head}\r\n".encode("latin-1", "replace") + body


class _Conversation(asyncio.BufferedProtocol):
    """One request and its reply, which may begin before the request is through; read slice by slice.

    Attributes:
        ended: done when it has ended; the result is why there is no whole reply, if there is none.
        is_connected: whether the connection was ever open.
    """

    def __init__(self, request: bytes, reply: http_reply.HttpReply) -> None:
        self._request, self._reply = request, reply
        self.ended: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
        self.is_connected = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport, self.is_connected = transport, True
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
        self.ended.set_result(error)
        if self.is_connected:
            self._transport.pause_reading()


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


@lru_cache(4_096)
def _numeric(host: str) -> tuple[str, ...]:
    """Return the address that *host* is, if it is one and not a name."""
    try:
        return (str(ip_address(host)),)
    except ValueError:
        return ()


async def _addresses(host: str, port: int) -> tuple[str, ...]:
    """Return the numeric addresses of *host*.

    The pool that asyncio would look names up in is small: a few names without an answer would hold up all.
    """
    if numeric := _numeric(host):
        return numeric
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


_INFO, _PING = to_text(Info()), to_text(Ping())
_MAX_FIELDS: Final = 50
MAX_INFO_BYTES: Final = 16 * 1024
MAX_LOOKS: Final = 16
"""How often the end of a JSON object is looked for before it is left to the end of the reply."""
_SYSTEM_CLOCK: Final = SystemClock()


@dataclass(frozen=True, slots=True)
class PlayerInfo:
    """What is known of the player at `url`.

    `answered` is the message that it understood, None where it understood neither; `trouble` says why, a sentence for
    each. Silence is no proof of death: some players answer nothing while they think.
    """

    url: str
    reply: InfoReply
    answered: str | None
    trouble: tuple[str, ...] = ()

    @property
    def is_available(self) -> bool:
        """Whether the player says that it would take a match now."""
        return self.reply.status is Status.AVAILABLE


async def ask_info(
    url: str, deadline_s: float = 5.0, clock: Clock = _SYSTEM_CLOCK, *, targets: AllowedAddresses | None = None
) -> PlayerInfo:
    """Return what the player at *url* says to INFO, or failing that to PING, each within half of *deadline_s*.

    Addresses outside *targets* are not called.

    Raises:
        PlayerSpecError: *url* is none that a player could have.
    """
    player = HttpPlayer(url, targets=targets)
    trouble: list[str] = []
    for question in (_INFO, _PING):
        try:
            reply = await _ask(player, question, deadline_s / 2, clock)
        except (OSError, RemotePlayerError, MessageError) as error:
            trouble.append(f"{question}: {error}")
        else:
            return PlayerInfo(player.url, _clean(reply), question.strip("()"), tuple(map(clean_line, trouble)))
    return PlayerInfo(player.url, InfoReply(), None, tuple(map(clean_line, trouble)))


def _clean(reply: InfoReply) -> InfoReply:
    """Return *reply* with names and fields that can be stored and shown; there are no more than a few."""
    others = {clean_line(key): clean_line(value) for key, value in reply.others[:_MAX_FIELDS]}
    name = None if reply.name is None else clean_line(reply.name)
    return InfoReply(name, reply.status, tuple(others.items()))


async def _ask(player: HttpPlayer, question: str, limit_s: float, clock: Clock) -> InfoReply:
    """Return the reply to *question*.

    Raises:
        TimeoutError: nothing came within *limit_s*.
        OSError, RemotePlayerError: as `HttpPlayer.deliver`.
        MessageError: the reply is no answer to INFO.
    """
    reply = _InfoBuffer()
    deadline = None
    try:
        async with clock.timeout(limit_s) as deadline:
            await player.deliver(PlayerRequest(question), reply)
    except TimeoutError as error:
        if deadline is None or not deadline.expired():
            raise
        if not reply.raw:
            raise TimeoutError(f"no answer within {limit_s:g} s") from error
    return read_info(decode(bytes(reply.raw)))


class _InfoBuffer(ReplyBuffer):
    """An answer to INFO, which may be a JSON object: all of that counts, not its first term."""

    def __init__(self) -> None:
        super().__init__(MAX_INFO_BYTES)
        self._n_looks_left = MAX_LOOKS

    def feed(self, data: bytes) -> None:
        """Take what came; a JSON object is complete when it can be read, anything else after its first term."""
        if not (bytes(self.raw) + data).lstrip().startswith(b"{"):
            super().feed(data)
            return
        room = self._limit_bytes - len(self.raw)
        self.raw += data[:room]
        self.is_cut = len(data) > room
        # Only here can an object have ended. Each look takes in all that has come.
        if data.rstrip().endswith(b"}") and self._n_looks_left:
            self._n_looks_left -= 1
            self.is_complete = is_complete(decode(bytes(self.raw)))
