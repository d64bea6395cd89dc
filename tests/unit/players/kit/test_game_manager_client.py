"""What a player understands of the game manager that it dials, over real sockets."""

from __future__ import annotations

import asyncio
import errno
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.client_reqrep import ConnectionKey
from yarl import URL

from players.kit.game_manager_client import (
    DialledRequest,
    GameManagerClient,
    Registration,
    failure_words,
    is_name,
    read_url,
)
from players.player import GameManagerError, GameManagerUnreachableError, ReplyRefusedError

REQUEST = {"request": "m:3:PLAY", "match": "m", "step": 3, "text": "(PLAY m NIL)", "secondsWaited": 1.5}
READ = DialledRequest("m:3:PLAY", "m", 3, "(PLAY m NIL)", 1.5)


@asynccontextmanager
async def answering(*answers: tuple[int, Any]) -> AsyncIterator[tuple[str, list[tuple[str, str, str]]]]:
    """Serve these answers, one after the other; yield the address, and what was asked."""
    asked: list[tuple[str, str, str]] = []
    left = list(answers)

    async def handle(request: web.Request) -> web.Response:
        asked.append((request.method, request.path, await request.text()))
        status, body = left.pop(0)
        return web.Response(status=status, body=body if isinstance(body, bytes) else json.dumps(body).encode())

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", asked
    finally:
        await runner.cleanup()


def refused(code: str, message: str = "no", hint: str = "") -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "hint": hint}}


async def test_a_new_player_is_registered() -> None:
    async with (
        answering((404, refused("not_registered")), (201, {})) as (url, asked),
        GameManagerClient(f"{url}/", "deep") as client,
    ):
        assert await client.register(3) == Registration(is_new=True)
    assert asked == [
        ("GET", "/api/v1/players/deep", ""),
        ("POST", "/api/v1/players", '{"name": "deep", "maxMatches": 3}'),
    ]


async def test_a_known_player_is_left_as_it_is() -> None:
    known = {"kind": "dial-in", "maxMatches": 2}
    async with (
        answering((200, known), (200, known), (200, known)) as (url, asked),
        GameManagerClient(url, "deep") as client,
    ):
        assert await client.register() == Registration(is_new=False)
        assert await client.register(2) == Registration(is_new=False)
    assert [method for method, *_ in asked] == ["GET", "GET"]


@pytest.mark.parametrize(
    ("told", "reason"), [("too loud", "too loud"), ("", "no reason given"), (None, "no reason given")]
)
async def test_a_player_that_is_paused_learns_why(told: str | None, reason: str) -> None:
    known = {"kind": "dial-in", "status": "paused", "pauseReason": told}
    async with answering((200, known)) as (url, _), GameManagerClient(url, "deep") as client:
        assert await client.register() == Registration(is_new=False, pause_reason=reason)


async def test_a_known_player_may_play_more_matches_now() -> None:
    known = {"kind": "dial-in", "maxMatches": 1}
    async with answering((200, known), (200, known)) as (url, asked), GameManagerClient(url, "deep") as client:
        await client.register(4)
    assert asked[1:] == [("PATCH", "/api/v1/players/deep", '{"maxMatches": 4}')]


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        (
            [(401, refused("unauthorized", "a token is needed here", "send Authorization: Bearer TOKEN"))],
            "a token is needed here (give one that is known there with --token or GGP_TOKEN)",
        ),
        ([(403, refused("forbidden", "not yours", "ask ada"))], "not yours (ask ada)"),
        ([(400, refused("unknown", "no x; did you mean y?", "did you mean y?"))], "no x; did you mean y?"),
        ([(404, refused("not_registered")), (400, refused("invalid_name", "bad name"))], "bad name"),
        ([(200, {"kind": "http"})], "the player deep has an address there; choose another name with --name"),
        ([(404, b"<html>")], "no game manager answers there (HTTP status 404)"),
        ([(302, b"")], "no game manager answers there (HTTP status 302)"),
        ([(200, b"[" * 100_000)], "the player deep has an address there; choose another name with --name"),
    ],
)
async def test_who_is_refused(answers: list[tuple[int, Any]], reason: str) -> None:
    async with answering(*answers) as (url, _), GameManagerClient(url, "deep") as client:
        with pytest.raises(GameManagerError) as raised:
            await client.register()
    assert str(raised.value) == f"{url}: {reason}"


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_who_may_come_again(status: int) -> None:
    async with (
        answering((status, refused("internal", "later")), (status, b"")) as (url, _),
        GameManagerClient(url, "deep") as client,
    ):
        with pytest.raises(GameManagerUnreachableError):
            await client.register()
        with pytest.raises(GameManagerUnreachableError):
            async with client.requests():
                pass


async def test_a_host_that_does_not_listen_is_away() -> None:
    async with answering() as (url, _):
        pass
    async with GameManagerClient(url, "deep") as client:
        with pytest.raises(GameManagerUnreachableError, match="it cannot be reached: Connection refused"):
            await client.register()


async def test_a_game_manager_that_ends_the_connection_may_want_https() -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, GameManagerClient(f"http://127.0.0.1:{port}", "deep") as client:
        with pytest.raises(GameManagerUnreachableError, match=r"it broke off \(does it speak https\?\)"):
            await client.register()


async def test_a_game_manager_that_does_not_answer_in_tls_may_want_http() -> None:
    async with answering() as (url, _), GameManagerClient(url.replace("http://", "https://"), "deep") as client:
        with pytest.raises(GameManagerUnreachableError, match=r"it does not answer in TLS \(does it speak http\?\)"):
            await client.register()


@pytest.mark.parametrize("url", ["", "localhost:8080", "ftp://host", "http://", "http://[::1", "http://[::1]@"])
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(GameManagerError):
        GameManagerClient(url, "deep")


@pytest.mark.parametrize(
    ("url", "token", "is_exposed"),
    [
        ("http://host", "t", True),
        ("http://host", None, False),
        ("https://host", "t", False),
        ("http://127.0.0.1:8080", "t", False),
        ("http://localhost", "t", False),
        ("http://[::1]:9148", "t", False),
    ],
)
def test_who_could_read_the_token(url: str, token: str | None, is_exposed: bool) -> None:
    assert GameManagerClient(url, "deep", token).is_exposed is is_exposed


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("http://host:9148", "http://host:9148/"),
        ("https://host/ggp//", "https://host/ggp"),
        ("http://host/ggp/?page=2#top", "http://host/ggp"),
    ],
)
def test_an_address_is_that_of_the_server_alone(url: str, read: str) -> None:
    assert str(read_url(url)) == read


@pytest.mark.parametrize(
    ("name", "is_right"),
    [("a", True), ("0-._", True), ("a" * 64, True), ("a" * 65, False), ("", False), ("-a", False), ("a b", False),
     ("a\n", False), ("\N{LATIN SMALL LETTER E WITH ACUTE}", False)],
)  # fmt: skip
def test_what_a_player_may_be_called(name: str, is_right: bool) -> None:
    assert is_name(name) is is_right


@pytest.mark.parametrize("token", ["t\n", "t\0", "\N{LATIN SMALL LETTER E WITH ACUTE}"])
def test_what_is_no_token(token: str) -> None:
    with pytest.raises(GameManagerError) as raised:
        GameManagerClient("http://host", "deep", token)
    assert str(raised.value) == ("http://host: a token is one line of printable ASCII, without a line break at its end")


def test_a_token_goes_with_no_other_name_and_the_password_is_not_told() -> None:
    with pytest.raises(GameManagerError) as raised:
        GameManagerClient("http://me:secret@host/ggp", "deep", "t")
    assert str(raised.value) == "http://host/ggp: a token goes with an address without user and password"


@pytest.mark.parametrize(
    ("error", "scheme", "words"),
    [
        (TimeoutError(), "http", "no answer in time"),
        (aiohttp.ServerTimeoutError(), "http", "no answer in time"),
        (aiohttp.ServerDisconnectedError(), "http", "it broke off (does it speak https?)"),
        (aiohttp.ServerDisconnectedError(), "https", "it broke off"),
        (aiohttp.ClientPayloadError("half"), "http", "it broke off"),
        (OSError(7, "too much"), "http", "[Errno 7] too much"),
        (OSError(), "http", "OSError"),
    ],
)
def test_what_a_failure_means(error: Exception, scheme: str, words: str) -> None:
    assert failure_words(error, URL(f"{scheme}://host")) == words


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(errno.ENETUNREACH, "connect to ('host', 80)"), "Network is unreachable"),
        (OSError(-2, "Name or service not known"), "Name or service not known"),
        (OSError("odd"), "odd"),
    ],
)
def test_why_an_address_cannot_be_reached(error: OSError, reason: str) -> None:
    key = ConnectionKey("host", 80, False, True, None, None, None)
    told = failure_words(aiohttp.ClientConnectorError(key, error), URL("http://host"))
    assert told == f"it cannot be reached: {reason}"


def lines(*events: Any) -> bytes:
    return b"\n".join(event if isinstance(event, bytes) else json.dumps(event).encode() for event in events) + b"\n"


async def events_of(client: GameManagerClient) -> list[tuple[str, DialledRequest | None]]:
    async with client.requests() as events:
        return [event async for event in events]


@pytest.mark.parametrize(("connected", "sent"), [({}, {}), ({"takesInsight": True}, {"insight": "{}"})])
async def test_what_the_player_thinks_goes_to_game_managers_that_take_it(
    connected: dict[str, Any], sent: dict[str, str]
) -> None:
    stream = lines({"event": "connected", "data": connected})
    async with answering((200, stream), (200, {})) as (url, asked), GameManagerClient(url, "deep") as client:
        await events_of(client)
        await client.reply("m:3:PLAY", "noop", insight="{}")
    assert json.loads(asked[1][2]) == {"request": "m:3:PLAY", "text": "noop"} | sent


@pytest.mark.parametrize(("told", "waited_s"), [(-1, 0.0), (0, 0.0), (86_401, 86_400.0), ("2.5", 2.5)])
async def test_how_long_a_request_has_waited_is_between_nothing_and_a_day(told: object, waited_s: float) -> None:
    body = lines({"event": "request", "data": REQUEST | {"secondsWaited": told}})
    async with answering((200, body)) as (url, _), GameManagerClient(url, "deep") as client:
        assert await events_of(client) == [("request", replace(READ, waited_s=waited_s))]


@pytest.mark.parametrize(("request_id", "seat"), [("m:3:PLAY", ""), ("m:3:PLAY:2", "2"), ("a:b:0:START:1", "1")])
def test_the_seat_is_at_the_end_of_the_id(request_id: str, seat: str) -> None:
    match_id, step = ("a:b", 0) if request_id.startswith("a") else ("m", 3)
    assert DialledRequest(request_id, match_id, step, "", 0.0).seat == seat


async def test_events_are_read_with_their_requests() -> None:
    body = lines(
        {"event": "connected", "data": {}}, b"", b"nonsense", {"event": "request", "data": REQUEST},
        {"event": "request", "data": REQUEST | {"answered": "noop", "secondsWaited": None}}, {"event": "request"},
    )  # fmt: skip
    async with answering((200, body)) as (url, _), GameManagerClient(url, "deep") as client:
        found = await events_of(client)
    answered = DialledRequest("m:3:PLAY", "m", 3, "(PLAY m NIL)", 0.0, "noop")
    assert found == [("connected", None), ("", None), ("request", READ), ("request", answered), ("request", None)]


async def test_an_event_of_megabytes_is_read() -> None:
    text = f"(START m x ({'x' * 3_000_000}) 10 5)"
    body = lines({"event": "request", "data": REQUEST | {"text": text}})
    async with answering((200, body)) as (url, _), GameManagerClient(url, "deep") as client:
        found = [request.text for _, request in await events_of(client) if request is not None]
    assert found == [text]


@pytest.mark.parametrize("change", [{"step": "x"}, {"step": None}, {"secondsWaited": "x"}, {"secondsWaited": [1]}])
async def test_a_request_that_cannot_be_read_is_a_lost_connection(change: dict[str, Any]) -> None:
    body = lines({"event": "request", "data": REQUEST | change})
    async with answering((200, body)) as (url, _), GameManagerClient(url, "deep") as client:
        with pytest.raises(GameManagerUnreachableError):
            await events_of(client)


async def test_a_reply_is_posted() -> None:
    async with answering((200, {})) as (url, asked), GameManagerClient(url, "deep") as client:
        await client.reply("m:3:PLAY", "noop")
    assert asked == [("POST", "/api/v1/players/deep/replies", '{"request": "m:3:PLAY", "text": "noop"}')]


async def test_a_reply_is_refused() -> None:
    async with (
        answering((409, refused("late_reply", "too late"))) as (url, _),
        GameManagerClient(url, "deep") as client,
    ):
        with pytest.raises(ReplyRefusedError, match="too late"):
            await client.reply("m:3:PLAY", "noop")
