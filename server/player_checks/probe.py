"""Exchanges with the player under test, each observed: over HTTP to the last byte, or with a program by its streams."""

import asyncio
import contextlib
import errno
import os
import ssl
import time
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from gdl.wire.insights import INSIGHT_HEADER
from gdl.wire.replies import decode
from server.links.addresses import DEFAULT_PORT, player_url
from server.links.child_player import ChildPlayer
from server.links.errors import RemotePlayerError
from server.links.http_reply import HttpReply
from server.match.link import MAX_REPLY_BYTES, PlayerRequest, ReplyBuffer

MAX_RAW_BYTES: Final = 256 * 1024
_MAX_QUOTED: Final = 40
_LINGER_S: Final = 1.0
"""How long a player may keep a connection open after its reply, to be said to close it."""
_PROGRAM_LINGER_S: Final = 0.2
"""How long after its answer a program has to write what it was not asked for."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent: the text of a message, or any bytes, and the match and step that it belongs to.

    `legal_line` says the legal moves, to programs that get them. With `lingers` it is seen what comes after the reply.
    """

    body: bytes
    method: str = "POST"
    match_id: str = ""
    step: int = 0
    legal_line: str = ""
    lingers: bool = False


@dataclass(frozen=True, slots=True)
class Observed:
    """What came back. A `trouble` says why it is no reply, and `has_answered` whether anything came. *Units*: seconds.

    `insight` is what the player tells of its thoughts, `extra` what it wrote unasked. `is_refused` says that nothing
    listens there. Over HTTP alone there are a `status`, `headers`, and whether the connection `is_closed`.
    """

    text: str
    took_s: float
    has_answered: bool
    trouble: str = ""
    insight: str = ""
    extra: str = ""
    is_refused: bool = False
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    is_closed: bool = False


class Probe(Protocol):
    """A way to the player under test on which everything is observed."""

    async def exchange(self, request: Request, timeout_s: float) -> Observed:
        """Return what the player answers to *request* within *timeout_s*."""

    async def end_match(self, match_id: str) -> None:
        """Let go of what is held for the match *match_id*."""


class HttpProbe:
    """Sends requests to the player at *url*, each over a connection of its own.

    Raises:
        PlayerSpecError: *url* is none that a player could have.
    """

    def __init__(self, url: str) -> None:
        self.url = player_url(url)

    async def end_match(self, match_id: str) -> None:
        """Do nothing: no connection outlives its message."""

    async def exchange(self, request: Request, timeout_s: float) -> Observed:
        """Return what the player answers to *request* within *timeout_s*."""
        began_s = time.monotonic()
        exchange = _Exchange(_LINGER_S if request.lingers else 0.0)
        trouble, is_refused = "", False
        try:
            async with asyncio.timeout(timeout_s):
                await exchange.run(self, request, began_s)
        except TimeoutError:
            trouble = exchange.lack_of_an_end(timeout_s)
        except OSError as error:
            is_refused = isinstance(error, ConnectionRefusedError)
            trouble = f"connection failed: {_reason(error)}"
        return replace(exchange.observed(began_s, trouble), is_refused=is_refused)

    def head(self, request: Request) -> bytes:
        """Return the head of *request*, as old servers write it."""
        fields = {
            "Accept": "text/delim",
            "Host": self.url.host_port_subcomponent or "",
            "Sender": "GAMESERVER",
            "Receiver": "player",
            "Content-Type": "text/acl",
            "Content-Length": str(len(request.body)),
        }
        if request.match_id:
            fields |= {"GGP-Match-ID": request.match_id, "GGP-Match-Step": str(request.step)}
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return f"{request.method} {self.url.raw_path_qs} HTTP/1.0\r\n{lines}\r\n".encode()


class _Exchange:
    def __init__(self, linger_s: float) -> None:
        self._linger_s = linger_s
        self._raw = bytearray()
        self._buffer = ReplyBuffer(MAX_REPLY_BYTES)
        self._reply = HttpReply(self._buffer)
        self._is_closed = False
        self._trouble = ""
        self._answered_s: float | None = None

    async def run(self, probe: HttpProbe, request: Request, began_s: float) -> None:
        """Send *request* and read the reply; *began_s* is when the exchange began, in monotonic time."""
        port = probe.url.port or DEFAULT_PORT
        reader, writer = await asyncio.open_connection(probe.url.host, port, ssl=probe.url.scheme == "https" or None)
        try:
            writer.write(probe.head(request) + request.body)
            while not (self._reply.is_finished or self._trouble or self._is_closed):
                await self._read(reader)
            self._answered_s = time.monotonic() - began_s
            if self._linger_s:
                await self._see_the_end(reader)
        finally:
            writer.transport.abort()

    def lack_of_an_end(self, timeout_s: float) -> str:
        """Return what is wrong with a reply that was not whole within *timeout_s*."""
        if not self._raw:
            return f"no answer within {timeout_s:g} s"
        came = decode(bytes(self._buffer.raw))[:_MAX_QUOTED]
        hint = "give a Content-Length that fits, or close the connection after it"
        return f"the reply has no end within {timeout_s:g} s: {came!r} came; {hint}"

    async def _read(self, reader: asyncio.StreamReader) -> None:
        """Read once, and feed the reply with what came."""
        data = await reader.read(65536)
        self._raw += data[: MAX_RAW_BYTES - len(self._raw)]
        self._is_closed = not data
        try:
            if data:
                self._reply.feed(data)
            else:
                self._reply.feed_end()
        except RemotePlayerError as error:
            self._trouble = str(error)

    async def _see_the_end(self, reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(self._linger_s):
                while await reader.read(65536):
                    pass
                self._is_closed = True

    def observed(self, began_s: float, trouble: str) -> Observed:
        took_s = time.monotonic() - began_s if self._answered_s is None else self._answered_s
        status, headers = _head_of(bytes(self._raw))
        return Observed(
            decode(bytes(self._buffer.raw)),
            took_s,
            has_answered=status > 0,
            trouble=self._trouble or trouble,
            insight=headers.get(INSIGHT_HEADER.lower(), ""),
            status=status,
            headers=headers,
            is_closed=self._is_closed,
        )


def _reason(error: OSError) -> str:
    """Return why there is no connection, in the words of the system; asyncio has others, with the address."""
    is_of_system = error.errno in errno.errorcode and not isinstance(error, ssl.SSLError)
    return os.strerror(error.errno) if is_of_system and error.errno else error.strerror or str(error)


def _head_of(raw: bytes) -> tuple[int, dict[str, str]]:
    lines = decode(raw.partition(b"\r\n\r\n")[0]).split("\n")
    words = lines[0].split()
    status = int(words[1]) if len(words) > 1 and words[1].isdecimal() and len(words[1]) == 3 else 0
    fields = (line.partition(":") for line in lines[1:])
    return status, {name.strip().lower(): value.strip() for name, _, value in fields}


class ProgramProbe:
    """Talks with the program *command* as a match does, which also starts it for each match.

    Before each PLAY the program gets a line with its legal moves if it *gets_legal_moves*. A message outside a match
    has a process of its own.
    """

    def __init__(self, command: str, *, gets_legal_moves: bool) -> None:
        self._gets_legal_moves = gets_legal_moves
        self._children: defaultdict[str, ChildPlayer] = defaultdict(lambda: ChildPlayer(command))

    async def exchange(self, request: Request, timeout_s: float) -> Observed:
        """Return the line that answers *request* within *timeout_s*."""
        child, reply = self._children[request.match_id], ReplyBuffer()
        began_s = time.monotonic()
        trouble = await self._trouble(child, request, reply, timeout_s)
        observed = Observed(
            decode(bytes(reply.raw)), time.monotonic() - began_s, bool(reply.raw), trouble, reply.insight
        )
        if request.lingers:
            await asyncio.sleep(_PROGRAM_LINGER_S)
            observed = replace(observed, extra=decode(child.unasked))
        if not request.match_id:
            await self.end_match("")
        return observed

    async def _trouble(self, child: ChildPlayer, request: Request, reply: ReplyBuffer, timeout_s: float) -> str:
        """Have *reply* filled by *child*; return why there is none, if there is none."""
        text = request.body.decode()
        if self._gets_legal_moves and request.legal_line:
            text = f"{request.legal_line}\n{text}"
        try:
            async with asyncio.timeout(timeout_s):
                await child.deliver(PlayerRequest(text, request.match_id, request.step), reply)
        except TimeoutError:
            return f"no answer within {timeout_s:g} s" + (f"; {reply.hint}" if reply.hint else "")
        except RemotePlayerError as error:
            return str(error)
        except OSError as error:
            return f"the program cannot be started: {error.strerror or error}"
        return ""

    async def end_match(self, match_id: str) -> None:
        """End the process of the match *match_id*, if there is one."""
        child = self._children.pop(match_id, None)
        if child is not None:
            await child.close()

    async def aclose(self) -> None:
        """End the processes of all matches."""
        for match_id in [*self._children]:
            await self.end_match(match_id)
