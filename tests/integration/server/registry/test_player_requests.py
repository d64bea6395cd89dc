"""Players that dial in, over real sockets: they only call, and are never called."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from server.api import streams
from server.links.queued_request import QueuedRequest
from server.match.link import PlayerRequest, ReplyBuffer
from server.storage.database import Database
from server.storage.rows import PlayerRow
from tests.kit.polling import until
from tests.kit.server.registry.host import Caller, Host, event, finished, hosting, order

PLAYERS = "/api/v1/players"
REQUESTS = f"{PLAYERS}/deep/requests"
REPLIES = f"{PLAYERS}/deep/replies"
NDJSON = "application/x-ndjson"
CONNECTED = {
    "event": "connected", "id": "", "data": {"player": "deep", "heartbeatSeconds": 15.0, "takesInsight": True},
}  # fmt: skip


@pytest.fixture
async def host(sqlite: Database) -> AsyncIterator[Host]:
    """Return a server that plays nothing, with a player that dials in."""
    async with hosting(sqlite, plays=False) as found:
        await found.manager.registry.register("deep", "local")
        yield found


def put(host: Host, text: str = "(PLAY m NIL)", step: int = 0, answered: str | None = None) -> QueuedRequest:
    request = PlayerRequest(text, "m", step, answered)
    return host.manager.request_queues.of_player("deep").put(request, ReplyBuffer(), 10.0)


async def gone(host: Host) -> None:
    """Wait until the server has noticed that the player hung up."""
    await until(lambda: not host.manager.request_queues.is_connected("deep"))


async def test_a_request_as_a_line_of_json(host: Host) -> None:
    put(host, "(LEGAL m ((mark 1 1) noop))\n(PLAY m (a b))", 3, answered="noop")
    async with host.caller().stream(REQUESTS, Accept=NDJSON) as stream:
        first, second = await event(stream), await event(stream)
        head = stream.headers["Content-Type"], stream.headers["Cache-Control"]
    data = second["data"]
    assert head == ("application/x-ndjson; charset=utf-8", "no-store")
    assert (first, second["event"]) == (CONNECTED, "request")
    assert data == {
        "request": "m:3:PLAY", "match": "m", "step": 3, "message": "PLAY", "text": "(PLAY m (a b))",
        "secondsLeft": data["secondsLeft"], "secondsWaited": data["secondsWaited"],
        "legalMoves": ["(mark 1 1)", "noop"], "answered": "noop",
    }  # fmt: skip


async def test_a_request_as_a_server_sent_event(host: Host) -> None:
    queued = put(host)
    async with host.caller().stream(REQUESTS) as stream:
        lines = [(await stream.content.readline()).decode().rstrip("\n") for _ in range(7)]
        kind = stream.headers["Content-Type"]
    event_id = host.manager.request_queues.of_player("deep").event_id(queued)
    assert kind == "text/event-stream; charset=utf-8"
    assert (lines[0], lines[2:5], lines[6]) == ("event: connected", ["", f"id: {event_id}", "event: request"], "")
    assert lines[5].startswith('data: {"request": "m:0:PLAY"')


async def test_a_player_that_is_connected_is_seen_now_on_pages(host: Host) -> None:
    shown = [await seen_on_pages(host)]
    async with host.caller().stream(REQUESTS) as stream:
        await stream.content.readline()
        shown.append(await seen_on_pages(host))
    await gone(host)
    shown.append(await seen_on_pages(host))
    assert shown == [[""], ["now", "now"], ["just now", "just now"]]


async def seen_on_pages(host: Host) -> list[str]:
    """Return what the list of players says of when the player was seen, and its own page, if it says it."""
    async with host.caller().stream("/players") as listed, host.caller().stream("/players/deep") as own:
        cells = re.findall(r"<td[^>]*>(.*?)</td>", await listed.text())
        facts = re.findall(r"<dt>Seen</dt><dd>(.*?)</dd>", await own.text())
    return [re.sub(r"<[^>]*>", "", each) for each in (cells[-1], *facts)]


async def test_something_comes_when_nothing_happens(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT_S", 0.01)
    async with host.caller().stream(REQUESTS, Accept=NDJSON) as stream:
        lines = [await stream.content.readline() for _ in range(3)]
        queued = put(host)
        coming = await event(stream)
    assert (lines[1:], coming["data"]["request"]) == ([b"\n", b"\n"], queued.id)


async def test_a_player_that_takes_nothing_any_more_is_let_go(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    async def is_not_taken(_stream: streams.EventStream) -> None:
        raise TimeoutError

    monkeypatch.setattr(streams, "HEARTBEAT_S", 0.01)
    monkeypatch.setattr(streams.EventStream, "heartbeat", is_not_taken)
    async with host.caller().stream(REQUESTS, Accept=NDJSON):
        await gone(host)


async def test_a_player_that_is_gone_before_its_stream_begins_is_no_failure_of_the_server(
    host: Host, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def is_gone(_stream: streams.EventStream) -> None:
        raise ConnectionResetError

    monkeypatch.setattr(streams.EventStream, "open", is_gone)
    with pytest.raises(aiohttp.ServerDisconnectedError):
        async with host.caller().stream(REQUESTS, Accept=NDJSON):
            pass
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []


async def test_requests_that_were_not_answered_come_again(host: Host) -> None:
    first, second = put(host, step=0), put(host, step=1)
    caller, seen = host.caller(), []
    for _ in range(2):
        async with caller.stream(REQUESTS, Accept=NDJSON) as stream:
            seen.append([(await event(stream))["data"].get("request") for _ in range(3)])
    await caller.ask("POST", REPLIES, {"request": first.id, "text": "noop"})
    async with caller.stream(REQUESTS, Accept=NDJSON) as stream:
        seen.append([(await event(stream))["data"].get("request") for _ in range(2)])
    assert seen == [[None, first.id, second.id]] * 2 + [[None, second.id]]


async def test_a_client_that_tells_the_last_event_gets_those_after_it(host: Host) -> None:
    put(host, step=0)
    second = put(host, step=1)
    async with host.caller().stream(REQUESTS, Accept=NDJSON) as stream:
        _, request = await event(stream), await event(stream)
    async with host.caller().stream(REQUESTS, Accept=NDJSON, Last_Event_ID=request["id"]) as stream:
        seen = [(await event(stream))["data"].get("request") for _ in range(2)]
    assert seen == [None, second.id]


async def test_a_new_connection_takes_over(host: Host) -> None:
    async with host.caller().stream(REQUESTS, Accept=NDJSON) as old:
        told = [await event(old)]
        async with host.caller().stream(REQUESTS, Accept=NDJSON) as new:
            await event(new)
            told += [await event(old), await event(old)]
            queued = put(host)
            request = await event(new)
    assert [each["event"] for each in told] == ["connected", "replaced", "end"]
    assert request["data"]["request"] == queued.id


async def test_head_takes_no_request_from_a_player_that_is_connected(host: Host) -> None:
    async with host.caller().stream(REQUESTS, Accept=NDJSON) as stream:
        told = [await event(stream)]
        head = await host.caller().ask("HEAD", REQUESTS)
        queued = put(host)
        told.append(await event(stream))
    assert (head, told[0], told[1]["data"]["request"]) == ((200, None), CONNECTED, queued.id)


async def test_a_player_is_free_as_long_as_it_is_connected(host: Host) -> None:
    caller, found = host.caller(), []
    for is_connected in (False, True, False):
        if is_connected:
            async with caller.stream(REQUESTS, Accept=NDJSON) as stream:
                await event(stream)
                found.append((await caller.ask("GET", f"{PLAYERS}/deep"))[1])
            await gone(host)
        else:
            found.append((await caller.ask("GET", f"{PLAYERS}/deep"))[1])
    assert [(each["isConnected"], each["canPlay"]) for each in found] == [(False, False), (True, True), (False, False)]


async def test_a_player_that_is_removed_while_it_connects_is_not_registered(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = host.manager.registry.store
    get = store.get

    async def removed_after(name: str) -> PlayerRow | None:
        monkeypatch.setattr(store, "get", get)
        row = await get(name)
        await host.manager.registry.remove(name)
        return row

    monkeypatch.setattr(store, "get", removed_after)
    assert await host.caller().ask("GET", REQUESTS) == (404, "not_registered")


async def test_replies_are_taken_once(host: Host) -> None:
    queued, late = put(host, step=0), put(host, step=1)
    host.manager.request_queues.of_player("deep").withdraw(late)
    said = [
        await host.caller().ask("POST", REPLIES, {"request": request, "text": text})
        for request, text in (
            (queued.id, "noop"),
            (queued.id, "noop"),
            (queued.id, "b"),
            (late.id, "noop"),
            ("m:7:PLAY", ""),
        )
    ]
    taken = (200, {"request": queued.id})
    assert said == [taken, taken, (409, "other_reply"), (409, "late_reply"), (404, "unknown_request")]
    assert bytes(queued.reply.raw) == b"noop"


@pytest.mark.parametrize("text", ["x" * 70_000, None, 3])
async def test_what_is_no_reply_is_refused(host: Host, text: Any) -> None:
    queued = put(host)
    assert await host.caller().ask("POST", REPLIES, {"request": queued.id, "text": text}) == (400, "invalid_body")


@pytest.mark.parametrize(("told", "kept"), [('{"value": 50}', '{"value": 50}'), ("x" * 4_001, "")])
async def test_what_a_player_thinks_comes_with_its_reply_and_never_costs_it(host: Host, told: str, kept: str) -> None:
    queued = put(host)
    await host.caller().ask("POST", REPLIES, {"request": queued.id, "text": "noop ", "insight": told})
    assert (bytes(queued.reply.raw), queued.reply.insight) == (b"noop ", kept)


async def test_players_with_an_address_have_no_requests(host: Host) -> None:
    await host.manager.registry.register("blue", "local", "http://127.0.0.1:1")
    assert await host.caller().ask("GET", f"{PLAYERS}/blue/requests") == (409, "not_dial_in")
    body = {"request": "m:0:PLAY", "text": "noop"}
    assert await host.caller().ask("POST", f"{PLAYERS}/blue/replies", body) == (409, "not_dial_in")


async def test_a_player_that_gets_an_address_still_answers_in_the_match_that_it_plays(host: Host) -> None:
    await host.manager.finder.keep_library()
    ordered = await host.manager.order(order({"x": "deep", "o": "random"}))
    await host.manager.queue.claim([ordered.row.id], "here", 60)
    queued = put(host)
    await host.manager.registry.change("deep", "http://127.0.0.1:1")
    status, _ = await host.caller().ask("POST", REPLIES, {"request": queued.id, "text": "noop "})
    assert (status, bytes(queued.reply.raw)) == (200, b"noop ")
    async with host.caller().stream(REQUESTS, Accept=NDJSON) as stream:
        assert await event(stream) == CONNECTED


async def test_the_deprecated_word_letter_is_taken_and_answered_in(host: Host) -> None:
    queued = put(host)
    async with host.caller().stream(f"{PLAYERS}/deep/letters", Accept=NDJSON) as stream:
        first, second = await event(stream), await event(stream)
    said = [
        await host.caller().ask("POST", REPLIES, {"letter": letter, "text": "noop"})
        for letter in (queued.id, "m:7:PLAY")
    ]
    assert (first, second["event"], second["data"]["letter"]) == (CONNECTED, "letter", queued.id)
    assert "request" not in second["data"]
    assert said == [(200, {"letter": queued.id}), (404, "unknown_letter")]


@pytest.mark.parametrize("names", [{}, {"request": "m:0:PLAY", "letter": "m:0:PLAY"}])
async def test_a_reply_names_one_request(host: Host, names: dict[str, str]) -> None:
    put(host)
    assert await host.caller().ask("POST", REPLIES, {**names, "text": "noop"}) == (400, "invalid_body")


async def answer_all(caller: Caller, stream: aiohttp.ClientResponse, n: int) -> list[str]:
    """Answer the next *n* requests with the first legal move; return which messages they were."""
    messages: list[str] = []
    while len(messages) < n:
        request = (await event(stream))["data"]
        if "request" not in request:
            continue
        messages.append(request["message"])
        reply = (request.get("legalMoves") or ["ready"])[0]
        said = await caller.ask("POST", REPLIES, {"request": request["request"], "text": reply})
        assert said == (200, {"request": request["request"]})
    return messages


async def test_a_match_begins_when_the_player_connects_and_survives_dropped_connections(sqlite: Database) -> None:
    async with hosting(sqlite) as host:
        caller = host.caller()
        await caller.ask("POST", PLAYERS, {"name": "deep"})
        ordered = await host.manager.order(order({"x": "deep", "o": "deep"}))
        messages: list[str] = []
        while "STOP" not in messages:
            async with caller.stream(REQUESTS, Accept=NDJSON) as stream:
                messages += await answer_all(caller, stream, 2)
        record = await finished(host, ordered.row.id)
    assert messages[:4] == ["START", "START", "PLAY", "PLAY"]
    assert record["isCompleted"]
    assert {error for step in record["errors"][:-1] for error in step} == {""}
