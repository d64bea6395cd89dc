"""The way to an HTTP player, over real sockets."""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from unittest.mock import AsyncMock, call

import pytest

from server.links.addresses import DEFAULT_PORT, player_url
from server.links.connection import N_FREE_BYTES, N_FREE_READS
from server.links.errors import PlayerSpecError, RemotePlayerError
from server.links.http_player import CONNECT_S, MAX_ANSWERED, HttpPlayer, _Conversation
from server.links.http_reply import HttpReply
from server.match.driver import MatchDriver
from server.match.exchange import Completed
from server.match.link import PlayerRequest, ReplyBuffer
from server.match.referee import LocalReferee
from tests.kit.polling import until
from tests.kit.server.certificates import certificate
from tests.kit.server.peers import Behaviour, closing, deaf, listening, replying, request, sending
from tests.kit.server.plays import LEFT, RIGHT, setup, two_steps


async def said_by(behaviour: Behaviour, request: PlayerRequest) -> bytes:
    reply = ReplyBuffer()
    async with listening(behaviour) as url:
        await HttpPlayer(url).deliver(request, reply)
    return bytes(reply.raw)


@asynccontextmanager
async def keeping_heads() -> AsyncIterator[tuple[str, list[str]]]:
    """Yield the address of a player that is always ready, and the heads of the requests that come there."""
    heads: list[str] = []

    async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await request(reader))[0])
        writer.write(b"HTTP/1.0 200 OK\r\n\r\nready")

    async with listening(keep) as url:
        yield url, heads


async def test_the_request_is_the_one_that_players_know() -> None:
    requests: list[tuple[str, str]] = []

    async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await request(reader))
        writer.write(b"HTTP/1.0 200 OK\r\n\r\nready")

    async with listening(keep) as url:
        await HttpPlayer(f"{url}/a%20b?c=d", "Deep\r\nX: Blue 棋", host_name="host").deliver(
            PlayerRequest("(PLAY m.1 ((say été)))", "m.1", 3), ReplyBuffer()
        )
        authority = url.removeprefix("http://")
    assert requests == [
        (
            "POST /a%20b?c=d HTTP/1.0\r\nAccept: text/delim\r\n"
            f"Host: {authority}\r\nSender: GAMESERVER\r\nReceiver: DeepX: Blue ?\r\nContent-Type: text/acl\r\n"
            "Content-Length: 24\r\nConnection: close\r\nGGP-Match-ID: m.1\r\nGGP-Match-Step: 3\r\n"
            "GGP-Match-Host: host\r\n\r\n",
            "(PLAY m.1 ((say été)))",
        )
    ]


async def test_the_head_says_which_of_its_seats_in_the_match_a_player_is_asked_at() -> None:
    async with keeping_heads() as (url, heads):
        player = HttpPlayer(url)
        for player.seat in (1, 2):
            await player.deliver(PlayerRequest("(PLAY m NIL)", "m"), ReplyBuffer())
    first, second = heads
    assert second == first.removesuffix("\r\n") + "GGP-Match-Seat: 2\r\n\r\n"


@pytest.mark.parametrize(
    ("name", "receiver"), [(None, "player"), ("", "player"), ("\r\n", "player"), ("x" * 201, "x" * 200)]
)
async def test_a_player_is_called_by_its_name_as_far_as_a_head_takes_it(name: str | None, receiver: str) -> None:
    async with keeping_heads() as (url, heads):
        player = HttpPlayer(url) if name is None else HttpPlayer(url, name)
        await player.deliver(PlayerRequest("(INFO)"), ReplyBuffer())
    assert re.findall("Receiver: (.*)\r\n", heads[0]) == [receiver]


async def test_messages_without_a_match_have_no_match_in_their_head() -> None:
    assert await said_by(replying(lambda body: body), PlayerRequest("(INFO)")) == b"(INFO)"


@pytest.mark.parametrize(
    ("answered", "told"),
    [
        ("(mark 1 1)", "(mark 1 1)"),
        ("~", "~"),
        ("", ""),
        ("(été\r\nX-Evil:\t1)", "(?t? X-Evil: 1)"),
        ("x" * 10_000, "x" * MAX_ANSWERED),
    ],
)
async def test_the_head_says_what_was_answered_before(answered: str, told: str) -> None:
    async with keeping_heads() as (url, heads):
        await HttpPlayer(url).deliver(PlayerRequest("(PLAY m.1 NIL)", "m.1", 3, answered), ReplyBuffer())
    assert heads[0].partition("\r\nGGP-Match-Answered: ")[2] == f"{told}\r\n\r\n"


async def test_megabytes_of_rules_go_out() -> None:
    text = "(START " + "x" * 3_000_000 + ")"
    assert await said_by(replying(lambda body: str(len(body))), PlayerRequest(text)) == str(len(text)).encode()


async def test_a_reply_may_come_before_the_request_was_read() -> None:
    async def hasty(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.0 200 OK\r\n\r\n(ready)")
        await reader.read()

    assert await said_by(hasty, PlayerRequest("(START " + "x" * 3_000_000 + ")")) == b"(ready)"


async def test_a_closed_door_raises() -> None:
    with pytest.raises((RemotePlayerError, ConnectionResetError)):
        await said_by(closing, PlayerRequest("(INFO)"))


async def test_errors_name_no_address() -> None:
    async with deaf() as url:
        with pytest.raises(ConnectionRefusedError) as raised:
            await HttpPlayer(url).deliver(PlayerRequest("(INFO)"), ReplyBuffer())
    assert str(raised.value) == "[Errno 111] Connection refused"


async def test_an_error_of_the_player_is_told() -> None:
    with pytest.raises(RemotePlayerError, match=r"^HTTP status 500$"):
        await said_by(sending(b"HTTP/1.0 500 Oops\r\n\r\n(a b)", hangs=True), PlayerRequest("(INFO)"))


async def said_under_tls(context: ssl.SSLContext) -> bytes:
    """Return what a player answers whose name is `localhost`."""
    reply = ReplyBuffer()
    async with listening(replying(lambda body: body), tls=context) as url:
        await HttpPlayer(url.replace("127.0.0.1", "localhost")).deliver(PlayerRequest("(INFO)"), reply)
    return bytes(reply.raw)


async def test_a_player_under_tls_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context, trusted = certificate(tmp_path, "localhost")
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    assert await said_under_tls(context) == b"(INFO)"


@pytest.mark.parametrize(("host", "is_trusted"), [("localhost", False), ("example.org", True)])
async def test_a_certificate_that_proves_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, is_trusted: bool
) -> None:
    context, trusted = certificate(tmp_path, host)
    if is_trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    with pytest.raises(ssl.SSLCertVerificationError):
        await said_under_tls(context)


async def test_errors_under_tls_name_no_address() -> None:
    async with deaf() as url:
        with pytest.raises(ConnectionRefusedError) as raised:
            await HttpPlayer(url.replace("http:", "https:")).deliver(PlayerRequest("(INFO)"), ReplyBuffer())
    assert str(raised.value) == "[Errno 111] Connection refused"


async def test_a_host_that_cannot_be_found_raises() -> None:
    with pytest.raises(OSError):  # noqa: PT011 -- the sentence is the resolver's own
        await HttpPlayer("http://nowhere.invalid").deliver(PlayerRequest("(INFO)"), ReplyBuffer())


@asynccontextmanager
async def dropping(port: int) -> AsyncIterator[str]:
    """Yield an address at which connections to *port* are not answered, as its queue is full."""
    with ExitStack() as stack:
        listener, *callers = [stack.enter_context(socket.socket()) for _ in range(4)]
        listener.bind(("127.0.0.1", port))
        listener.listen(0)
        for caller in callers:
            caller.setblocking(False)
            caller.connect_ex(("127.0.0.1", port))
        yield "127.0.0.1"


async def test_an_address_that_does_not_answer_is_left_for_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async with (
        listening(replying(lambda _: "ready"), "127.0.0.2") as url,
        dropping(port := int(url.rpartition(":")[2])) as dropped,
    ):
        look_up = AsyncMock(return_value=(dropped, "127.0.0.2"))
        monkeypatch.setattr("server.links.http_player.look_up", look_up)
        player = HttpPlayer(url.replace("127.0.0.2", "bot.example.org"))
        reply = ReplyBuffer()
        await asyncio.wait_for(player.deliver(PlayerRequest("(PING)", limit_s=0.1), reply), 5)
        monkeypatch.setattr("server.links.http_player.CONNECT_S", 60.0)
        again = ReplyBuffer()  # the address that answered is the first one now
        await asyncio.wait_for(player.deliver(PlayerRequest("(PING)", limit_s=1000), again), 5)
    assert (bytes(reply.raw), bytes(again.raw)) == (b"ready", b"ready")
    assert look_up.await_args_list == [call("bot.example.org", port)] * 2


@pytest.mark.parametrize(("limit_s", "connect_s"), [(None, CONNECT_S), (1_000.0, CONNECT_S), (4.0, 1.0)])
async def test_a_connection_is_waited_for_a_part_of_the_clock_unless_its_address_is_the_last(
    monkeypatch: pytest.MonkeyPatch, limit_s: float | None, connect_s: float
) -> None:
    limits: list[float | None] = []

    def noted(delay_s: float | None) -> asyncio.Timeout:
        limits.append(delay_s)
        return asyncio.Timeout(None)

    async with deaf() as url:
        monkeypatch.setattr("server.links.http_player.look_up", AsyncMock(return_value=("127.0.0.1", "127.0.0.2")))
        player = HttpPlayer(url.replace("127.0.0.1", "bot.example.org"))
        monkeypatch.setattr("asyncio.timeout", noted)
        with pytest.raises(ConnectionRefusedError):
            await player.deliver(PlayerRequest("(PING)", limit_s=limit_s), ReplyBuffer())
    assert limits == [connect_s, None]


class Endless(asyncio.Transport):
    """A connection on which there is always more to read, and whether it is read."""

    is_read = True

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Write nothing."""

    def is_closing(self) -> bool:
        return False

    def is_reading(self) -> bool:
        return self.is_read

    def pause_reading(self) -> None:
        self.is_read = False

    def resume_reading(self) -> None:
        self.is_read = True


@pytest.mark.parametrize(("n_bytes", "n_free"), [(1, N_FREE_READS), (N_FREE_BYTES // 2, 2)])
async def test_a_player_that_goes_on_sending_waits_for_its_turn(n_bytes: int, n_free: int) -> None:
    transport, conversation = Endless(), _Conversation(b"", HttpReply(ReplyBuffer()))
    conversation.connection_made(transport)
    data = b"HTTP/1.0 200 OK\r\n\r\n(".ljust(n_bytes * 100, b"a")
    n_read = 0
    while transport.is_reading():
        conversation.get_buffer(-1)[:n_bytes] = data[n_read * n_bytes : (n_read + 1) * n_bytes]
        conversation.buffer_updated(n_bytes)
        n_read += 1
    assert n_read == n_free + 1
    await until(transport.is_reading)


async def test_two_real_peers_play_over_loopback() -> None:
    left, right = replying(lambda _: "(say Yes)"), replying(lambda _: "(SAY NO)")
    async with listening(left) as left_url, listening(right) as right_url:
        links = {LEFT: HttpPlayer(left_url), RIGHT: HttpPlayer(right_url.replace("127.0.0.1", "localhost"))}
        outcome = await MatchDriver(LocalReferee(two_steps()), setup(), links).run()
    assert isinstance(outcome, Completed)
    assert outcome.goals == (100, 0)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://127.0.0.1:9150", "http://127.0.0.1:9150"),
        ("http://example.org", f"http://example.org:{DEFAULT_PORT}"),
        ("http://example.org:8080/x", "http://example.org:8080/x"),
        ("https://example.org", "https://example.org"),
        ("http://[::1]:9147", "http://[::1]:9147"),
    ],
)
def test_addresses_are_read(text: str, url: str) -> None:
    assert str(player_url(text)) == url


@pytest.mark.parametrize(
    "text",
    ["", "example.org:9147", "ftp://x", "http://", "http://:80", "http://x:99999", "http://x:0", "http://" + "x" * 70],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(PlayerSpecError):
        player_url(text)
