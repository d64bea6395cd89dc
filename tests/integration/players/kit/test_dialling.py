"""A player that dials in, and the game manager that it finds, does not find, or loses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from gdl.wire.insights import insight_text
from players.kit.dialling import MAX_TRIES, Dialling, backoff_s
from players.kit.game_manager_client import DialledRequest, Events, GameManagerClient
from players.kit.player_server import PlayerServer
from players.player import GameManagerError, GameManagerUnreachableError, MakePlayer, ReplyRefusedError
from tests.kit.players import odd_players
from tests.kit.players.peers import settings, start_text

Event = tuple[str, DialledRequest | None] | Exception
CONNECTED: Event = ("connected", None)
REPLACED: Event = ("replaced", None)
FIRST = "(mark 1 1)"


def request(text: str, step: int = 0, answered: str | None = None, waited_s: float = 0.0, seat: int = 1) -> Event:
    request_id = f"m:{step}:{text.strip('()').partition(' ')[0]}" + (f":{seat}" if seat > 1 else "")
    return "request", DialledRequest(request_id, "m", step, text, waited_s, answered)


class ScriptedClient(GameManagerClient):
    """A client whose connections bring what *connections* say, the next event once the last has its reply."""

    def __init__(self, *connections: Sequence[Event]) -> None:
        super().__init__("http://host", "deep")
        self.connections = list(connections)
        self.replies: list[tuple[str, str]] = []
        self.failures: list[str] = []
        self.insights: list[str] = []
        self.refusals: list[Exception] = []
        self.news = asyncio.Event()

    @asynccontextmanager
    async def requests(self) -> AsyncIterator[Events]:
        yield self._events(self.connections.pop(0))

    async def _events(self, events: Sequence[Event]) -> Events:
        for event in events:
            if isinstance(event, Exception):
                raise event
            self.news.clear()
            yield event
            if event[1] is not None and event[1].answered is None:
                await asyncio.wait_for(self.news.wait(), 20)

    async def reply(self, request_id: str, text: str, failure: str = "", insight: str = "") -> None:
        if self.refusals and isinstance(self.refusals[0], GameManagerUnreachableError):
            raise self.refusals.pop(0)
        self.news.set()
        if self.refusals:
            raise self.refusals.pop(0)
        self.replies.append((request_id, text))
        self.failures.append(failure)
        self.insights.append(insight)


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("players.kit.dialling.FIRST_WAIT_S", 0.0)


async def dialled(
    client: ScriptedClient, make_player: MakePlayer = odd_players.First
) -> tuple[list[tuple[str, str]], list[str]]:
    """Dial until another program has taken over; return the replies, and what the player told the person."""
    said: list[str] = []
    player_server = PlayerServer(make_player, settings())
    with pytest.raises(GameManagerError):
        await Dialling(player_server, client, said.append).run()
    await player_server.close()
    return client.replies, said


async def test_requests_are_answered_as_over_http() -> None:
    events = [
        CONNECTED, request(start_text(play_s=10)), request("(PLAY m NIL)"), request(f"(PLAY m ({FIRST} noop))", 1),
        request("(STOP m (noop (mark 1 2)))", 2), request("(INFO)"), REPLACED,
    ]  # fmt: skip
    assert await dialled(ScriptedClient(events)) == (
        [
            ("m:0:START", "ready"), ("m:0:PLAY", FIRST), ("m:1:PLAY", "noop"), ("m:2:STOP", "done"),
            ("m:0:INFO", "((name tested) (status available))"),
        ],
        ["connected to http://host as deep", "match m: plays x", "match m: is over"],
    )  # fmt: skip


async def test_what_the_player_thinks_goes_with_its_move() -> None:
    client = ScriptedClient([CONNECTED, request(start_text(play_s=10)), request("(PLAY m NIL)"), REPLACED])
    await dialled(client, odd_players.Telling)
    assert client.insights == ["", insight_text(odd_players.THOUGHT)]


async def test_a_request_that_comes_again_has_the_answer_it_had() -> None:
    first = [CONNECTED, request(start_text(play_s=10)), request("(PLAY m NIL)"), GameManagerUnreachableError("lost")]
    replies, said = await dialled(ScriptedClient(first, [CONNECTED, request("(PLAY m NIL)"), REPLACED]))
    assert replies == [("m:0:START", "ready"), ("m:0:PLAY", FIRST), ("m:0:PLAY", FIRST)]
    assert said[2:] == ["connection lost (lost); dialling again", "connected to http://host as deep"]


async def test_the_seats_of_a_match_are_told_apart_by_the_ids_of_their_requests() -> None:
    events = [
        request(start_text(play_s=10)), request(start_text(role="o", play_s=10), seat=2),
        request("(PLAY m NIL)"), request("(PLAY m NIL)", seat=2), REPLACED,
    ]  # fmt: skip
    replies, _ = await dialled(ScriptedClient(events))
    assert replies == [("m:0:START", "ready"), ("m:0:START:2", "ready"), ("m:0:PLAY", FIRST), ("m:0:PLAY:2", "noop")]


async def test_a_stream_that_ends_is_opened_again() -> None:
    _, said = await dialled(ScriptedClient([CONNECTED], [REPLACED]))
    assert said[1:] == ["connection lost (the game manager ended it); dialling again"]


async def test_the_same_failure_is_reported_once() -> None:
    away = [GameManagerUnreachableError("away")]
    _, said = await dialled(
        ScriptedClient(away, away, [GameManagerUnreachableError("full")], [CONNECTED], away, [REPLACED])
    )
    lost = ["connection lost (away); dialling again", "connection lost (full); dialling again"]
    ended = "connection lost (the game manager ended it); dialling again"
    assert said == [*lost, "connected to http://host as deep", ended, lost[0]]


async def test_what_was_answered_before_is_taken_in_and_wants_no_reply() -> None:
    events = [
        request(start_text(play_s=10), answered="ready"), request("(PLAY m NIL)", answered=FIRST),
        request(f"(PLAY m ({FIRST} noop))", 1, answered="noop"), request("(PLAY m (noop (mark 1 2)))", 2), REPLACED,
    ]  # fmt: skip
    replies, _ = await dialled(ScriptedClient(events))
    assert replies == [("m:2:PLAY", "(mark 1 3)")]


async def test_a_player_that_was_removed_ends() -> None:
    with pytest.raises(GameManagerError, match="the player deep was removed"):
        await Dialling(
            PlayerServer(odd_players.First, settings()), ScriptedClient([("removed", None)]), lambda _: None
        ).run()


async def test_time_that_a_request_has_waited_is_gone() -> None:
    events = [request(start_text(clock_s=60, play_s=60)), request("(PLAY m NIL)", waited_s=60), REPLACED]
    client = ScriptedClient(events)
    player_server = PlayerServer(odd_players.Endless, settings())
    with pytest.raises(GameManagerError):
        await Dialling(player_server, client, lambda _: None).run()
    await player_server.close()
    assert [request_id for request_id, _ in client.replies] == ["m:0:START", "m:0:PLAY"]


async def test_a_message_that_cannot_be_read_is_answered_with_nil() -> None:
    replies, _ = await dialled(ScriptedClient([request("(HELLO m)"), REPLACED]))
    assert replies == [("m:0:HELLO", "nil")]


async def test_a_message_that_was_answered_before_and_cannot_be_read_wants_no_reply() -> None:
    replies, _ = await dialled(ScriptedClient([request("(HELLO m)", answered="nil"), request("(PING)"), REPLACED]))
    assert replies == [("m:0:PING", "ready")]


async def test_the_person_hears_of_a_reply_that_comes_too_late() -> None:
    client = ScriptedClient([request("(INFO)"), REPLACED])
    client.refusals = [ReplyRefusedError("m:0:INFO", "too late")]
    assert await dialled(client) == ([], ["match m, step 0: too late"])


async def test_a_reply_is_posted_until_the_game_manager_takes_it() -> None:
    client = ScriptedClient([request("(PING)"), REPLACED])
    client.refusals = [GameManagerUnreachableError("away")] * (MAX_TRIES - 1)
    assert await dialled(client) == ([("m:0:PING", "ready")], [])


def test_waits_grow_and_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("players.kit.dialling.FIRST_WAIT_S", 0.5)
    monkeypatch.setattr("random.uniform", lambda _least, most: most)
    assert [backoff_s(n, 30.0) for n in (1, 2, 3, 6, 7, 10_000)] == [0.5, 1.0, 2.0, 16.0, 30.0, 30.0]
