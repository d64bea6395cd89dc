"""The way to an HTTP player, over real sockets."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from unittest.mock import AsyncMock

import pytest

from server.errors import PlayerSpecError, RemotePlayerError
from server.links.addresses import DEFAULT_PORT, player_url
from server.links.http_player import MAX_ANSWERED, HttpPlayer
from server.match.driver import MatchDriver
from server.match.exchange import Completed
from server.match.link import PlayerRequest, ReplyBuffer
from server.match.referee import LocalReferee
from tests.kit.server.peers import Behaviour, closing, deaf, listening, replying, request
from tests.kit.server.plays import LEFT, RIGHT, setup, two_steps


async def said_by(behaviour: Behaviour, request: PlayerRequest) -> bytes:
    reply = ReplyBuffer()
    async with listening(behaviour) as url:
        await HttpPlayer(url).deliver(request, reply)
    return bytes(reply.raw)


async def test_the_request_is_the_one_that_players_know() -> None:
    requests: list[tuple[str, str]] = []

    async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await request(reader))
        writer.write(b"HTTP/1.0 200 OK\r\n\r\nready")

    async with listening(keep) as url:
        await HttpPlayer(f"{url}/a%20b?c=d", "Deep\r\nX: Blue", host_name="host").deliver(
            PlayerRequest("(PLAY m.1 ((say été)))", "m.1", 3), ReplyBuffer()
        )
        authority = url.removeprefix("http://")
    assert requests == [
        (
            "POST /a%20b?c=d HTTP/1.0\r\nAccept: text/delim\r\n"
            f"Host: {authority}\r\nSender: GAMESERVER\r\nReceiver: DeepX: Blue\r\nContent-Type: text/acl\r\n"
            "Content-Length: 24\r\nConnection: close\r\nGGP-Match-ID: m.1\r\nGGP-Match-Step: 3\r\n"
            "GGP-Match-Host: host\r\n\r\n",
            "(PLAY m.1 ((say été)))",
        )
    ]


async def test_the_head_says_which_of_its_seats_in_the_match_a_player_is_asked_at() -> None:
    heads: list[str] = []

    async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await request(reader))[0])
        writer.write(b"HTTP/1.0 200 OK\r\n\r\nready")

    async with listening(keep) as url:
        player = HttpPlayer(url)
        for player.seat in (1, 2):
            await player.deliver(PlayerRequest("(PLAY m NIL)", "m"), ReplyBuffer())
    assert [re.findall("GGP-Match-Seat: (.*)\r\n", head) for head in heads] == [[], ["2"]]


async def test_messages_without_a_match_have_no_match_in_their_head() -> None:
    assert await said_by(replying(lambda body: body), PlayerRequest("(INFO)")) == b"(INFO)"


@pytest.mark.parametrize(
    ("answered", "told"),
    [
        ("(mark 1 1)", "(mark 1 1)"),
        ("", ""),
        ("(été\r\nX-Evil:\t1)", "(?t? X-Evil: 1)"),
        ("x" * 10_000, "x" * MAX_ANSWERED),
    ],
)
async def test_the_head_says_what_was_answered_before(answered: str, told: str) -> None:
    heads: list[str] = []

    async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await request(reader))[0])
        writer.write(b"HTTP/1.0 200 OK\r\n\r\nready")

    async with listening(keep) as url:
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


async def test_a_host_that_cannot_be_found_raises() -> None:
    with pytest.raises(OSError):  # noqa: PT011 -- the sentence is the resolver's own
        await HttpPlayer("http://nowhere.invalid").deliver(PlayerRequest("(INFO)"), ReplyBuffer())


@asynccontextmanager
async def dropping(port: int) -> AsyncIterator[str]:
    """Yield an address at which connections to *port* are not answered, as its queue is full."""
    with ExitStack() as stack:
        listener, *callers = [stack.enter_context(socket.socket()) for _ in range(4)]
        listener.bind(("127.0.0.2", port))
        listener.listen(0)
        for caller in callers:
            caller.setblocking(False)
            caller.connect_ex(("127.0.0.2", port))
        yield "127.0.0.2"


async def test_an_address_that_does_not_answer_is_left_for_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async with listening(replying(lambda _: "ready")) as url, dropping(int(url.rpartition(":")[2])) as dropped:
        monkeypatch.setattr("server.links.http_player.look_up", AsyncMock(return_value=(dropped, "127.0.0.1")))
        player = HttpPlayer(url.replace("127.0.0.1", "bot.example.org"))
        reply = ReplyBuffer()
        await asyncio.wait_for(player.deliver(PlayerRequest("(PING)", limit_s=0.1), reply), 5)
        monkeypatch.setattr("server.links.http_player.CONNECT_S", 60.0)
        again = ReplyBuffer()  # the address that answered is the first one now
        await asyncio.wait_for(player.deliver(PlayerRequest("(PING)", limit_s=1000), again), 5)
    assert (bytes(reply.raw), bytes(again.raw)) == (b"ready", b"ready")


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
