"""Connections for one message, over real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket

import pytest

from server.links.connection import PlainConnection
from tests.kit.server.peers import deaf, listening, resetting


class Heard(asyncio.BufferedProtocol):
    """Writes *said* when the connection is open, and keeps what comes and how it ended."""

    def __init__(self, said: bytes = b"") -> None:
        self._said, self._buffer = said, memoryview(bytearray(16))
        self.opened, self.heard = asyncio.Event(), b""
        self.error: Exception | None = None
        self.ended = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.opened.set()
        transport.write(self._said)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.heard += bytes(self._buffer[:nbytes])

    def connection_lost(self, exc: Exception | None) -> None:
        self.error = exc
        self.ended.set()


class OpenLater(PlainConnection):
    """A connection that is not open yet when it is looked at, as those to other machines."""

    def _has_peer(self) -> bool:
        return False


@pytest.fixture(params=[PlainConnection, OpenLater], ids=["at once", "later"])
def kind(request: pytest.FixtureRequest) -> type[PlainConnection]:
    found: type[PlainConnection] = request.param
    return found


def address_of(url: str) -> tuple[str, int]:
    host, _, port = url.removeprefix("http://").rpartition(":")
    return host.strip("[]"), int(port)


async def length(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer when as many bytes have come as the first line says."""
    n_bytes = int(await reader.readline())
    writer.write(b"%d bytes" % len(await reader.readexactly(n_bytes)))


async def test_what_does_not_go_out_at_once_follows(kind: type[PlainConnection]) -> None:
    said = b"10000000\n" + b"x" * 10_000_000
    async with listening(length) as url:
        heard = Heard(said)
        kind(heard, *address_of(url))
        await heard.ended.wait()
    assert (heard.heard, heard.error) == (b"10000000 bytes", None)


async def test_a_connection_that_is_refused_is_lost_and_never_open(kind: type[PlainConnection]) -> None:
    async with deaf() as url:
        heard = Heard()
        connection = kind(heard, *address_of(url))
        await heard.ended.wait()
    assert isinstance(heard.error, ConnectionRefusedError)
    assert (heard.opened.is_set(), connection.is_closing()) == (False, True)


async def test_an_aborted_connection_calls_nothing_more() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        heard = Heard(b"2\nxx")
        connection = OpenLater(heard, *server.getsockname())
        connection.abort()
        connection.abort()
        connection.resume_reading()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.05):
                await heard.ended.wait()
    assert (heard.opened.is_set(), heard.ended.is_set(), connection.is_reading()) == (False, False, False)


async def test_nothing_is_read_while_reading_is_paused(kind: type[PlainConnection]) -> None:
    async with listening(length) as url:
        heard = Heard(b"2\nxx")
        connection = kind(heard, *address_of(url))
        await heard.opened.wait()
        connection.pause_reading()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.05):
                await heard.ended.wait()
        assert heard.heard == b""
        connection.resume_reading()
        await heard.ended.wait()
    assert heard.heard == b"2 bytes"


async def test_a_connection_that_is_open_at_once_has_written_when_it_is_made() -> None:
    async with listening(length) as url:
        heard = Heard(b"2\nxx")
        PlainConnection(heard, *address_of(url))
        assert heard.opened.is_set()
        await heard.ended.wait()
    assert heard.heard == b"2 bytes"


async def test_what_cannot_even_be_begun_raises() -> None:
    with pytest.raises(OSError, match=r"Errno") as caught:
        PlainConnection(Heard(), "255.255.255.255", 9147)
    code = caught.value.errno
    assert code is not None
    assert caught.value.args == (code, os.strerror(code))


async def test_a_connection_that_is_reset_is_lost_with_the_error(kind: type[PlainConnection]) -> None:
    async with listening(resetting) as url:
        heard = Heard(b"POST / HTTP/1.0\r\n\r\n")
        kind(heard, *address_of(url))
        await heard.ended.wait()
    assert isinstance(heard.error, ConnectionResetError)


@pytest.mark.skipif(not socket.has_ipv6, reason="there is no IPv6")
async def test_a_connection_to_an_address_of_ipv6_is_opened() -> None:
    async with listening(length, "::1") as url:
        heard = Heard(b"2\nxx")
        PlainConnection(heard, *address_of(url))
        await heard.ended.wait()
    assert heard.heard == b"2 bytes"
