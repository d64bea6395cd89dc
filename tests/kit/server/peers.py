"""Players with real sockets, well-behaved and hostile, on ports that the system chooses."""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

Behaviour: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

OK = b"HTTP/1.0 200 OK\r\n"


async def request(reader: asyncio.StreamReader) -> tuple[str, str]:
    """Return head and body of the request that comes."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    length = re.search(r"Content-Length: ([0-9]+)", head)
    return head, (await reader.readexactly(int(length[1]) if length else 0)).decode()


def replying(answer: Callable[[str], str]) -> Behaviour:
    """Return the behaviour of a good player, which answers the body of a message with *answer* of it."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, body = await request(reader)
        reply = answer(body).encode()
        writer.write(OK + b"Content-Type: text/acl\r\nContent-Length: %d\r\n\r\n" % len(reply) + reply)

    return behave


def sending(raw: bytes, *, hangs: bool = False) -> Behaviour:
    """Return the behaviour of a player that answers *raw* to everything, and may leave the connection open then."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(raw)
        if hangs:
            await reader.read()

    return behave


async def hanging(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await reader.read()
    await reader.read()


async def closing(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    return


async def resetting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await request(reader)
    peer = writer.get_extra_info("socket")
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def dripping(raw: bytes, pause_s: float, head: bytes = b"") -> Behaviour:
    """Return the behaviour of a player that answers *head*, and then *raw* a byte at a time."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(head)
        for byte in raw:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(pause_s)

    return behave


def flooding(head: bytes, piece: bytes, n_bytes: int, sent: list[int]) -> Behaviour:
    """Return the behaviour of a player that sends *n_bytes*; what it got rid of is added to *sent*."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(head)
        sent.append(0)
        while sent[-1] < n_bytes:
            writer.write(piece)
            await writer.drain()
            sent[-1] += len(piece)

    return behave


@asynccontextmanager
async def listening(
    behaviour: Behaviour, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncIterator[str]:
    """Run a player of that behaviour at the numeric *host*, and give its address."""
    conversations: set[asyncio.Task[None]] = set()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await behaviour(reader, writer)
        except (OSError, EOFError, asyncio.CancelledError):
            writer.transport.abort()
        else:
            writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(converse(reader, writer))
        conversations.add(task)
        task.add_done_callback(conversations.discard)

    server = await asyncio.start_server(accept, host, 0, ssl=tls)
    try:
        shown = f"[{host}]" if ":" in host else host
        yield f"{'http' if tls is None else 'https'}://{shown}:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        left = tuple(conversations)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


@asynccontextmanager
async def deaf() -> AsyncIterator[str]:
    """Give an address where no process listens, though it is taken."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@asynccontextmanager
async def full() -> AsyncIterator[str]:
    """Give an address where so many wait to be accepted that the system answers no more of them."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(taken.getsockname())
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"
        for each in waiting:
            each.close()
