"""Players that do everything to hold up a game manager: one process, an address for each way to do it.

`python -m benchmarks.load.hostile_players` prints `listening on URL`; `URL/KIND/...` a player of that kind.
"""

from __future__ import annotations

import asyncio
import gzip
import re
import signal
import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cache, partial
from typing import Final, TypeAlias

import click

_OK: Final = b"HTTP/1.0 200 OK\r\n"
_BODY: Final = _OK + b"\r\n"
_CHUNKED: Final = _OK + b"Transfer-Encoding: chunked\r\n\r\n"
_KIND: Final = re.compile(rb"POST /([0-9]{1,9})/")
_BLOCK_BYTES: Final = 64 * 1024
_N_HELD_BYTES: Final = 24 * 1024

Way: TypeAlias = Callable[[asyncio.StreamWriter], Awaitable[None]]


async def _flood(head: bytes, piece: bytes, writer: asyncio.StreamWriter) -> None:
    """Send *piece* again and again for as long as it is read."""
    block = piece * (_BLOCK_BYTES // len(piece))
    writer.write(head)
    while True:
        writer.write(block)
        await writer.drain()


async def _hold(head: bytes, piece: bytes, writer: asyncio.StreamWriter) -> None:
    """Send as much as is read at once, without an end, so that all deadlines pass at the same time."""
    writer.write(head + piece * (_N_HELD_BYTES // len(piece)))
    await asyncio.sleep(3600)


async def _drip(raw: bytes, pause_s: float, writer: asyncio.StreamWriter) -> None:
    """Send *raw* again and again, each byte in a segment of its own."""
    wire = writer.get_extra_info("socket")
    wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    writer.write(_BODY)
    while True:
        for i in range(len(raw)):
            writer.write(raw[i : i + 1])
            await writer.drain()
            await asyncio.sleep(pause_s)


async def _say(raw: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(raw)
    await writer.drain()


@cache
def _zipped() -> bytes:
    return _OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"(" * 50_000_000, 9)


async def _inflate(writer: asyncio.StreamWriter) -> None:
    """Send little that becomes much; it is made when it is first asked for."""
    await _say(_zipped(), writer)


async def _reset(writer: asyncio.StreamWriter) -> None:
    wire = writer.get_extra_info("socket")
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


WAYS: Final[tuple[Way, ...]] = (
    partial(_flood, _CHUNKED, b"\n"),
    partial(_flood, _CHUNKED, b";\n"),
    partial(_flood, _CHUNKED, b"1\n(\n"),
    partial(_flood, _CHUNKED, b"1;aaaa\n(\n"),
    partial(_flood, b"", b"HTTP/1.1 103 Early\n\n"),
    partial(_flood, _OK, b":\n"),
    partial(_flood, _BODY + b"(", b"a "),
    partial(_flood, _BODY + b"(", b"()"),
    partial(_flood, _BODY + b"(", b";)\n"),
    partial(_flood, _BODY, b";\n"),
    partial(_flood, _BODY, b"("),
    partial(_flood, _BODY, b"a"),
    partial(_flood, _BODY, b"\r"),
    partial(_flood, _BODY + b"(mark 1 1)", b"(mark 1 1)"),
    partial(_hold, _BODY, b";\n"),
    partial(_hold, _BODY + b"(", b"(a) "),
    partial(_drip, b"(a b)", 0.0),
    partial(_drip, b"; \n", 0.1),
    _inflate,
    _reset,
)
"""The behaviours of the players, by their number."""


async def _converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, EOFError, asyncio.LimitOverrunError):
        head = await reader.readuntil(b"\r\n\r\n")
        found = _KIND.match(head)
        await WAYS[int(found[1]) % len(WAYS) if found else 0](writer)
    writer.transport.abort()


async def _serve(port: int) -> None:
    ended = asyncio.Event()
    server = await asyncio.start_server(_converse, "127.0.0.1", port, backlog=1_024)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    click.echo(f"listening on http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    await ended.wait()
    server.close()


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default=True, help="0: any free one.")
def command(port: int) -> None:
    """Answer every message in the worst of ways, until SIGTERM."""
    asyncio.run(_serve(port))


if __name__ == "__main__":
    command()
