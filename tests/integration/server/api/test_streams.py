"""Streams of events: each event once, in order, and on from where a client left."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp

from tests.kit.server.api.tournaments import order_cup
from tests.kit.server.api.whole_server import MATCHES, Client, ordered, record, told
from tests.kit.server.web.fetching import page_at, words_of

NDJSON = {"Accept": "application/x-ndjson"}


def sse(text: str) -> list[dict[str, Any]]:
    """Return the events of a stream of server-sent events, without heartbeats."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
        if lines:
            found.append({"event": lines["event"], "id": lines["id"], "data": json.loads(lines["data"])})
    return found


def without_now(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for event in events:
        event["data"].pop("now", None)
    return events


async def next_line(response: aiohttp.ClientResponse) -> dict[str, Any]:
    """Return the next event of a stream of JSON lines."""
    async with asyncio.timeout(20):
        while not (line := (await response.content.readline()).strip()):
            pass
    found: dict[str, Any] = json.loads(line)
    return found


async def test_a_match_that_is_over_is_streamed_to_its_end(client: Client, noop: str) -> None:
    url = await ordered(client, game="tictactoe", players={"x": noop, "o": noop})
    whole = await record(client, url)
    answer = await client.get(f"{url}/events")
    events = without_now(sse(await answer.text()))
    kinds = [event["event"] for event in events]
    assert answer.content_type == "text/event-stream"
    assert [event["id"] for event in events] == [str(number) for number in range(len(events))]
    assert (kinds[:2], kinds[-1]) == (["started", "state"], "closed")
    assert [event["data"]["state"] for event in events if event["event"] == "state"] == whole["states"]
    assert [event["data"]["moves"] for event in events if event["event"] == "step"][1:] == whole["moves"]
    journal = (await told(await client.get(f"{url}/journal")))["events"]
    assert [(one["kind"], one["data"]) for one in journal] == [(one["event"], one["data"]) for one in events]
    lines = (await (await client.get(f"{url}/events", headers=NDJSON)).text()).splitlines()
    assert without_now([json.loads(line) for line in lines]) == events


async def test_a_stream_goes_on_behind_the_last_event_that_came(client: Client, noop: str) -> None:
    url = await ordered(client, game="tictactoe", players={"x": noop, "o": noop})
    await record(client, url)
    whole = without_now(sse(await (await client.get(f"{url}/events")).text()))
    by_header = await client.get(f"{url}/events", headers={"Last-Event-ID": "6"})
    by_query = await client.get(f"{url}/events", params={"after": "6"})
    assert [without_now(sse(await answer.text())) for answer in (by_header, by_query)] == [whole[7:]] * 2
    known = await client.get(f"{url}/events", headers={"Last-Event-ID": whole[-1]["id"]})
    assert sse(await known.text()) == [{"event": "closed", "id": whole[-1]["id"], "data": whole[-1]["data"]}]
    assert (await told(await client.get(f"{url}/journal", params={"after": "6"})))["events"][0]["number"] == 7


async def test_events_are_streamed_as_they_happen(client: Client, thinker: str) -> None:
    url = await ordered(client, game="tictactoe", players={"x": thinker, "o": thinker})
    async with client.get(f"{url}/events", headers=NDJSON) as stream:
        kinds: list[str] = []
        while kinds[-2:] != ["asked", "asked"] or "step" not in kinds:
            event = await next_line(stream)
            kinds.append(event["event"])
        limit_ms = event["data"]["deadlineMs"] - event["data"]["at"]
        assert (event["data"]["message"], event["data"]["role"], limit_ms) == ("PLAY", "o", 21_000)
        assert event["data"]["now"] >= event["data"]["at"]
        await client.post(f"{url}/abort")
        while kinds[-1] != "closed":
            kinds.append((await next_line(stream))["event"])
        assert await stream.content.read() == b""
    assert kinds[-1 - kinds[::-1].index("aborted") :].count("answered") == 2


async def test_all_matches_are_streamed_as_they_change(client: Client, thinker: str) -> None:
    url = await ordered(client, game="tictactoe", players={"x": thinker, "o": thinker})
    match_id = (await record(client, url, "running"))["matchId"]
    async with client.get("/api/v1/events", headers=NDJSON) as stream:
        first = await next_line(stream)
        assert (first["event"], first["data"]["id"], first["data"]["status"]) == ("match", match_id, "running")
        await client.post(f"{url}/abort")
        while (event := await next_line(stream))["data"]["status"] == "running":
            pass
        assert event["data"]["status"] == "aborted"
    async with client.get("/api/v1/events", headers=NDJSON | {"Last-Event-ID": first["id"]}) as stream:
        again = await next_line(stream)
        assert (again["data"]["id"], again["data"]["status"]) == (match_id, "aborted")


async def test_a_match_that_ends_before_it_begins_says_why(client: Client) -> None:
    url = await ordered(client, game="tictactoe", players={"x": "human", "o": "human"})
    await told(await client.post(f"{url}/abort"), 202)
    found = await told(await client.get(url))
    async with client.get(f"{url}/events", headers={"Accept": "application/x-ndjson"}) as stream:
        events = [json.loads(line) async for line in stream.content]
    at, reason = found["x-end"]["at"], "aborted through the API"
    assert found["x-end"] == {"how": "aborted", "at": at, "reason": reason}
    whole = [
        {"event": "aborted", "id": "0", "data": {"at": at, "step": 0, "reason": reason}},
        {"event": "closed", "id": "1", "data": {"at": at}},
    ]
    assert events == whole
    parts = [sse(await (await client.get(f"{url}/events", headers={"Last-Event-ID": last})).text()) for last in "01"]
    assert parts == [whole[1:]] * 2


async def test_why_a_match_never_began_stands_in_its_journal_and_in_lists(client: Client) -> None:
    url = await ordered(client, game="tictactoe", players={"x": "human", "o": "human"})
    await told(await client.post(f"{url}/abort"), 202)
    at, reason = (await told(await client.get(url)))["x-end"]["at"], "aborted through the API"
    whole = [
        {"number": 0, "kind": "aborted", "data": {"at": at, "step": 0, "reason": reason}},
        {"number": 1, "kind": "closed", "data": {"at": at}},
    ]
    parts = [(await told(await client.get(f"{url}/journal?after={after}")))["events"] for after in (-1, 0, 1)]
    assert parts == [whole, whole[1:], []]
    assert [line["reason"] for line in (await told(await client.get(MATCHES)))["matches"]] == [reason]
    assert reason in words_of(await page_at(client, "/matches"))


async def heads(client: Client, paths: list[str]) -> list[tuple[str, str]]:
    """Return status line and type of content of each answer to HEAD, with which one connection is all that is sent."""
    assert client.port is not None
    reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
    found = []
    for path in paths:
        writer.write(f"HEAD {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)).decode()
        kind = next(line for line in head.splitlines() if line.startswith("Content-Type: "))
        found.append((head.partition("\r\n")[0], kind.partition(": ")[2]))
    writer.close()
    return found


async def test_head_of_a_stream_is_a_head_alone_and_the_connection_goes_on(client: Client, thinker: str) -> None:
    await order_cup(client)
    await told(await client.post("/api/v1/players", json={"name": "deep"}), 201)
    url = await ordered(client, game="tictactoe", players={"x": "human", "o": thinker})
    streams = [
        f"{url}/events", "/api/v1/events", f"{url}/seats/x/events", "/api/v1/players/deep/requests",
        "/parts/live/events", f"{url.removeprefix('/api/v1')}/play/x/events", "/tournaments/cup/events",
    ]  # fmt: skip
    archive = "/tournaments/cup/records.zip"
    assert await heads(client, [*streams, archive]) == [
        *[("HTTP/1.1 200 OK", "text/event-stream; charset=utf-8")] * len(streams),
        ("HTTP/1.1 200 OK", "application/zip"),
    ]
