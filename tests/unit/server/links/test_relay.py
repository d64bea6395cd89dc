"""What game managers say to one another of requests and replies, over a bus in memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from typing import Any, cast

import pytest
import sqlalchemy as sa

from gdl.language.kif import read_term
from server.clock import SystemClock
from server.links import errors, relay, remote_calls
from server.links.queued_player import Turn
from server.links.queued_request import QueuedRequest
from server.links.relay import Connection, Relay
from server.links.request_queue import RequestQueues
from server.match.link import PlayerRequest, ReplyBuffer
from server.storage.database import Database
from server.storage.errors import StorageError
from server.storage.rows import MatchStatus
from tests.kit.polling import until
from tests.kit.server.storage.samples import match

PLAY = "(LEGAL m ((say yes) noop))\n(PLAY m (a b))"
TOLD = {
    "request": "m:3:PLAY", "match": "m", "step": 3, "message": "PLAY", "text": "(PLAY m (a b))", "secondsLeft": 9.0,
    "secondsWaited": 0.0, "legalMoves": ["(say yes)", "noop"],
}  # fmt: skip
TURN = Turn(3, (read_term("(say yes)"), read_term("noop")), (read_term("a"), read_term("b")), 9.0)
LATE = "m:2:PLAY"
HELLO = {"kind": "hello"}
NONE_HERE = {"kind": "present", "players": {}}


class StoppedClock(SystemClock):
    def now_s(self) -> float:
        return 100.0


class Matches:
    """The database of all managers, as far as they ask: who plays which match."""

    def __init__(self, *, is_sqlite: bool = False) -> None:
        self.is_sqlite, self.name = is_sqlite, "postgresql://ggp"
        self.found: dict[str, tuple[str | None, MatchStatus]] = {}

    async def rows(self, query: sa.Select[Any]) -> list[dict[str, Any]]:
        (match_id,) = query.compile().params.values()
        return [dict(zip(("holder", "status"), self.found[match_id], strict=True))] if match_id in self.found else []


class Wire:
    """Takes what managers send, as JSON, to those that are on it.

    Attributes:
        sent: what was sent: by whom, to whom (None: to all others), and the message.
    """

    def __init__(self) -> None:
        self.sent: list[tuple[str, str | None, dict[str, Any]]] = []
        self.buses: dict[str, Bus] = {}

    def tell(self, sender: str, to: str | None, message: dict[str, Any]) -> None:
        """Have those it is for take a message, one after the other."""
        for name, bus in self.buses.items():
            if name != sender and to in (None, name):
                asyncio.get_running_loop().call_soon(bus.on_message, sender, json.loads(json.dumps(message)))

    async def heard(self) -> list[tuple[str | None, dict[str, Any]]]:
        """Return what was sent since this was asked before: to whom, and what."""
        await pause()
        found, self.sent = self.sent, []
        return [(to, message) for _, to, message in found]


class Bus:
    """What a manager has of the wire."""

    def __init__(self, wire: Wire, name: str, on_message: Any, on_listening: Callable[[], None]) -> None:
        self._wire, self._name, self.on_message, self._on_listening = wire, name, on_message, on_listening

    def send(self, message: dict[str, Any], to: str | None = None) -> None:
        self._wire.sent.append((self._name, to, json.loads(json.dumps(message))))
        self._wire.tell(self._name, to, message)

    async def stamp(self) -> int:
        return 77

    async def flush(self) -> None:
        await asyncio.sleep(0)

    async def run(self) -> None:
        """Listen, and listen anew whenever this is woken."""
        self.lost = asyncio.Event()
        while True:
            self._on_listening()
            await self.lost.wait()
            self.lost.clear()


class Manager:
    """A game manager as far as it relays."""

    def __init__(self, matches: Matches, name: str) -> None:
        self.queues = RequestQueues(StoppedClock())
        self.relay = Relay(cast(Database, matches), name, self.queues)
        self.relay.start()

    def ask(self, step: int = 3, player: str = "deep") -> QueuedRequest:
        """Let a player be asked for a move."""
        return self.queues.of_player(player).put(PlayerRequest(PLAY, "m", step), ReplyBuffer(), 9.0)

    def event(self, queued: QueuedRequest) -> str:
        """Return the id of the event that tells of a request."""
        return self.queues.of_player("deep").event_id(queued)

    def sit(self) -> QueuedRequest:
        """Let the person who plays x in the match m be asked for a move in step 3, after one in step 2 that is over."""
        seat = self.queues.seat("m", "x")
        seat.withdraw(seat.put(PlayerRequest(PLAY, "m", 2), ReplyBuffer()))
        return seat.put(PlayerRequest(PLAY, "m", 3), ReplyBuffer(), 9.0)


async def pause() -> None:
    """Let all that can happen now happen."""
    for _ in range(20):
        await asyncio.sleep(0)


@asynccontextmanager
async def managers(
    monkeypatch: pytest.MonkeyPatch, *names: str, matches: Matches | None = None
) -> AsyncIterator[tuple[Wire, list[Manager]]]:
    """Yield a wire and managers on it, which have greeted each other."""
    wire = Wire()

    def bus(_database: object, name: str, on_message: Any, on_listening: Callable[[], None]) -> Bus:
        wire.buses[name] = Bus(wire, name, on_message, on_listening)
        return wire.buses[name]

    failures: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
    monkeypatch.setattr(relay, "Notifications", bus)
    found = [Manager(matches or Matches(), name) for name in names]
    try:
        await pause()
        wire.sent.clear()
        yield wire, found
    finally:
        for each in found:
            await each.relay.close()
    assert failures == []


def present(**players: tuple[int, str, bool]) -> dict[str, Any]:
    return {"kind": "present", "players": {name: list(told) for name, told in players.items()}}


def passed(manager: Manager, queued: QueuedRequest, stamp: int = 5) -> dict[str, Any]:
    """Return the message that passes on a request to the player `deep`."""
    told = TOLD | {"request": queued.id, "step": queued.request.step}
    return {"kind": "request", "told": told, "player": "deep", "stamp": stamp, "event": manager.event(queued)}


async def test_a_manager_that_listens_greets_the_others_and_says_who_is_connected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with managers(monkeypatch, "near") as (wire, (near,)):
        with near.relay.connected("deep", 5, "e.1", with_answered=True):
            await wire.heard()
            wire.buses["near"].lost.set()
            told = await wire.heard()
    assert told == [(None, HELLO), (None, present(deep=(5, "e.1", True)))]


async def test_who_greets_is_told_who_is_connected(monkeypatch: pytest.MonkeyPatch) -> None:
    async with managers(monkeypatch, "near") as (wire, (near,)):
        with near.relay.connected("deep", 5, "", with_answered=False):
            await wire.heard()
            wire.tell("far", None, HELLO)
            told = await wire.heard()
    assert told == [("far", present(deep=(5, "", False)))]


async def test_a_player_that_comes_and_goes_is_told_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    async with managers(monkeypatch, "near") as (wire, (near,)):
        with near.relay.connected("deep", 5, "e.1", with_answered=True):
            came = await wire.heard()
        gone = await wire.heard()
    assert came == [(None, present(deep=(5, "e.1", True)) | {"more": True})]
    assert gone == [(None, {"kind": "gone", "player": "deep", "stamp": 5})]


async def test_a_connection_that_was_replaced_here_goes_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    async with managers(monkeypatch, "near") as (wire, (near,)):
        with ExitStack() as first, near.relay.connected("deep", 6, "", with_answered=False):
            first.enter_context(near.relay.connected("deep", 5, "", with_answered=False))
            with near.relay.connected("deep", 7, "", with_answered=False):
                await wire.heard()
                first.close()
                gone = await wire.heard()
                wire.tell("far", None, HELLO)
                told = await wire.heard()
    assert (gone, told) == ([], [("far", present(deep=(7, "", False)))])


async def test_requests_are_passed_on_to_where_their_player_is(monkeypatch: pytest.MonkeyPatch) -> None:
    async with managers(monkeypatch, "near") as (wire, (near,)):
        before = near.ask(0)
        wire.tell("far", None, present(deep=(5, "", False)))
        await pause()
        after = near.ask(1)
        told = await wire.heard()
        is_connected = near.queues.is_connected("deep")
    assert told == [("far", passed(near, before)), ("far", passed(near, after))]
    assert (is_connected, near.queues.is_connected("deep")) == (True, False)


async def test_what_a_player_has_got_is_not_passed_on_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with managers(monkeypatch, "near") as (wire, (near,)):
        first, second = near.ask(0), near.ask(1)
        wire.tell("far", None, present(deep=(5, near.event(first), False)))
        told = await wire.heard()
    assert told == [("far", passed(near, second))]


async def test_what_was_answered_is_passed_on_to_who_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with managers(monkeypatch, "near") as (wire, (near,)):
        near.queues.of_player("deep").remember("m", [PlayerRequest("(PLAY m NIL)", "m", 0, answered="noop")])
        near.ask(1)
        wire.tell("far", None, present(deep=(5, "", True)))
        found = [(message["told"]["request"], message["event"] != "") for _, message in await wire.heard()]
    assert found == [("m:0:PLAY", False), ("m:1:PLAY", True)]


@pytest.mark.parametrize(("stamp", "is_passed_on_to"), [(4, ["far"]), (5, ["far"]), (6, ["far", "other"])])
async def test_the_latest_connection_elsewhere_counts(
    monkeypatch: pytest.MonkeyPatch, stamp: int, is_passed_on_to: list[str]
) -> None:
    async with managers(monkeypatch, "near") as (wire, (near,)):
        near.ask()
        wire.tell("far", None, present(deep=(5, "", False)))
        await pause()
        wire.tell("other", None, present(deep=(stamp, "", False)))
        told = await wire.heard()
    assert [to for to, _ in told] == is_passed_on_to


@pytest.mark.parametrize(("stamp", "is_here"), [(4, False), (5, True), (6, True)])
async def test_of_a_connection_here_and_one_elsewhere_the_latest_counts(
    monkeypatch: pytest.MonkeyPatch, stamp: int, is_here: bool
) -> None:
    async with managers(monkeypatch, "near") as (wire, (near,)):
        queue = near.queues.of_player("deep")
        with queue.reading() as reader, near.relay.connected("deep", stamp, "", with_answered=False):
            wire.tell("far", None, present(deep=(5, "", False)))
            await pause()
            assert queue.is_read_by(reader) is is_here


@pytest.mark.parametrize(("stamp", "is_here"), [(4, False), (6, True)])
async def test_a_connection_here_takes_over_only_from_an_earlier_one(
    monkeypatch: pytest.MonkeyPatch, stamp: int, is_here: bool
) -> None:
    async with managers(monkeypatch, "near") as (wire, (near,)):
        queue = near.queues.of_player("deep")
        wire.tell("far", None, present(deep=(5, "", False)))
        await pause()
        with queue.reading() as reader, near.relay.connected("deep", stamp, "", with_answered=False):
            await wire.heard()
            asked = near.ask()
            told = await wire.heard()
            assert queue.is_read_by(reader) is is_here
    assert told == ([] if is_here else [("far", passed(near, asked))])


@pytest.mark.parametrize(
    ("sender", "message", "left"),
    [
        ("far", present(wide=(6, "", False)), ["wide"]),
        ("far", present(wide=(6, "", False)) | {"more": True}, ["deep", "wide"]),
        ("far", NONE_HERE, []),
        ("other", NONE_HERE, ["deep"]),
        ("far", {"kind": "gone", "player": "deep", "stamp": 5}, []),
        ("far", {"kind": "gone", "player": "deep", "stamp": 4}, ["deep"]),
        ("other", {"kind": "gone", "player": "deep", "stamp": 5}, ["deep"]),
        ("far", {"kind": "gone", "player": "wide", "stamp": 5}, ["deep"]),
        ("far", HELLO, []),
        ("other", HELLO, ["deep"]),
        ("far", {"kind": "unheard"}, ["deep"]),
    ],
)
async def test_a_player_elsewhere_is_there_until_its_manager_says_otherwise(
    monkeypatch: pytest.MonkeyPatch, sender: str, message: dict[str, Any], left: list[str]
) -> None:
    async with managers(monkeypatch, "near") as (wire, (near,)):
        wire.tell("far", None, present(deep=(5, "", False)))
        await pause()
        wire.tell(sender, None, message)
        await pause()
        found = [name for name in ("deep", "wide") if near.queues.is_connected(name)]
    assert found == left


async def test_who_listens_anew_learns_anew_who_is_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    async with managers(monkeypatch, "near") as (wire, (near,)):
        wire.tell("far", None, present(deep=(5, "", False)))
        await pause()
        wire.buses["near"].lost.set()
        await pause()
        lost = near.queues.is_connected("deep")
        wire.tell("far", None, present(deep=(5, "", False)))
        await pause()
        assert (lost, near.queues.is_connected("deep")) == (False, True)


async def test_players_of_a_manager_that_is_silent_for_long_are_not_connected_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relay, "PRESENCE_S", 0.001)
    async with managers(monkeypatch, "near") as (wire, (near,)):
        wire.tell("far", None, present(deep=(5, "", False)))
        await until(lambda: near.queues.is_connected("deep"), pause_s=0)
        wire.sent.clear()
        await until(lambda: wire.sent.count(("near", None, NONE_HERE)) >= 2, pause_s=0)
        was_connected = near.queues.is_connected("deep")
        monkeypatch.setattr(relay, "SILENCE_S", -1.0)
        await until(lambda: not near.queues.is_connected("deep"), pause_s=0)
    assert was_connected


async def test_a_queue_that_is_taken_away_is_taken_away_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    async with managers(monkeypatch, "near") as (wire, (near,)):
        queue = near.queues.of_player("deep")
        wire.tell("far", None, {"kind": "removed", "player": "deep"})
        heard = await wire.heard()
        near.queues.forget("wide")
        told = await wire.heard()
    assert (queue.is_closed, heard, told) == (True, [], [(None, {"kind": "removed", "player": "wide"})])


async def test_what_others_pass_on_comes_once_to_the_connection_that_it_is_for(monkeypatch: pytest.MonkeyPatch) -> None:
    first = {"kind": "request", "told": TOLD, "player": "deep", "stamp": 5, "event": "e.1"}
    async with managers(monkeypatch, "near") as (wire, (near,)):
        with near.relay.connected("deep", 5, "", with_answered=False) as here:
            others = ({"stamp": 4}, {"player": "wide"}, {"event": "e.2"})
            for message in (first, first, *(first | other for other in others)):
                wire.tell("far", "near", message)
            await pause()
            requests = here.requests()
            found = [await anext(requests) for _ in range(here.passed_on.qsize())]
    assert found == [("e.1", TOLD), ("e.2", TOLD)]


def test_a_connection_remembers_so_many_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "MAX_SEEN", 2)
    here = Connection("deep", 5, "", with_answered=False)
    for event in ("e.1", "e.2", "e.1", "e.3", "e.2", "e.1"):
        here.put(event, TOLD)
    assert [here.passed_on.get_nowait()[0] for _ in range(here.passed_on.qsize())] == ["e.1", "e.2", "e.3", "e.1"]


REPLY = {"player": "deep", "request": "m:3:PLAY", "text": "noop", "failure": "", "insight": ""}
MOVE = {"match": "m", "role": "x", "step": 3, "move": "NOOP"}
TURN_TOLD = {"step": 3, "legalMoves": ["(say yes)", "noop"], "told": ["a", "b"], "secondsLeft": 9.0}


@pytest.mark.parametrize(
    ("what", "words", "answer"),
    [
        ("reply", REPLY, {}),
        ("reply", REPLY | {"request": LATE}, {"error": "LateReplyError", "legalMoves": []}),
        ("reply", REPLY | {"request": "m:4:PLAY"}, {"error": "UnknownRequestError", "legalMoves": []}),
        ("turn", {"match": "m", "role": "x"}, {"turn": TURN_TOLD}),
        ("turn", {"match": "m", "role": "o"}, {"turn": None}),
        ("turn", {"match": "n", "role": "x"}, {"turn": None}),
        ("move", MOVE, {"move": "noop"}),
        ("move", MOVE | {"role": "o"}, {"error": "NotAskedError", "legalMoves": []}),
        ("move", MOVE | {"step": 4}, {"error": "NotAskedError", "legalMoves": []}),
        ("move", MOVE | {"step": 2}, {"error": "LateReplyError", "legalMoves": []}),
        ("move", MOVE | {"move": "no"}, {"error": "IllegalChoiceError", "legalMoves": ["(say yes)", "noop"]}),
    ],
)
async def test_another_manager_is_answered(
    monkeypatch: pytest.MonkeyPatch, what: str, words: dict[str, Any], answer: dict[str, Any]
) -> None:
    async with managers(monkeypatch, "near") as (wire, (near,)):
        near.sit()
        near.ask()
        near.queues.of_player("deep").withdraw(near.ask(2))
        wire.tell("far", "near", {"kind": "call", "call": 9, "what": what, "words": words})
        told = await wire.heard()
    assert told == [("far", {"kind": "answer", "call": 9} | answer)]


PLAYED_FAR = match("m", status=MatchStatus.RUNNING, holder="far")


@asynccontextmanager
async def far_away(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Manager, Manager]]:
    """Yield two managers, the second of which plays the match m."""
    matches = Matches()
    matches.found["m"] = "far", MatchStatus.RUNNING
    async with managers(monkeypatch, "near", "far", matches=matches) as (_, (near, far)):
        yield near, far


async def test_a_reply_goes_to_the_manager_that_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with far_away(monkeypatch) as (near, far):
        asked = far.ask()
        await near.relay.answer("deep", asked.id, "noop", "it fell", '{"value": 5}')
        reply = asked.reply
    assert (bytes(reply.raw), reply.failure, reply.insight) == (b"noop", "it fell", '{"value": 5}')


async def test_a_reply_that_is_waited_for_here_goes_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    async with far_away(monkeypatch) as (near, far):
        here, there = near.ask(), far.ask()
        await near.relay.answer("deep", here.id, "noop", "it fell", '{"value": 5}')
    assert (bytes(here.reply.raw), here.reply.failure, here.reply.insight) == (b"noop", "it fell", '{"value": 5}')
    assert bytes(there.reply.raw) == b""


@pytest.mark.parametrize(
    ("request_id", "text", "error"),
    [
        (LATE, "noop", errors.LateReplyError(LATE)),
        ("m:1:PLAY", "other", errors.OtherReplyError("m:1:PLAY")),
        ("m:4:PLAY", "noop", errors.UnknownRequestError("m:4:PLAY")),
    ],
)
async def test_a_reply_is_refused_as_by_the_manager_that_asked(
    monkeypatch: pytest.MonkeyPatch, request_id: str, text: str, error: Exception
) -> None:
    async with far_away(monkeypatch) as (near, far):
        queue = far.queues.of_player("deep")
        queue.withdraw(far.ask(2))
        queue.answer(far.ask(1).id, "noop")
        with pytest.raises(type(error)) as caught:
            await near.relay.answer("deep", request_id, text)
    assert str(caught.value) == str(error)


async def test_a_person_is_asked_and_moves_wherever_the_match_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    async with far_away(monkeypatch) as (near, far):
        asked = far.sit()
        turns = [await near.relay.turn(PLAYED_FAR, role) for role in ("x", "o")]
        move = await near.relay.choose(PLAYED_FAR, "x", 3, "(SAY YES)")
    assert (turns, move, bytes(asked.reply.raw)) == ([TURN, None], "(say yes)", b"(say yes)")
    assert not far.queues.has_seat("m", "o")


async def test_a_person_who_has_no_percepts_yet_is_asked_wherever_the_match_is_played(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with far_away(monkeypatch) as (near, far):
        far.queues.seat("m", "x").put(PlayerRequest("(LEGAL m (a b))\n(PLAY m NIL)", "m", 0), ReplyBuffer())
        turn = await near.relay.turn(PLAYED_FAR, "x")
    assert turn == Turn(0, (read_term("a"), read_term("b")), None, None)


@pytest.mark.parametrize(
    ("role", "step", "move", "error"),
    [
        ("x", 3, "no", errors.IllegalChoiceError("no", ["(say yes)", "noop"])),
        ("x", 2, "noop", errors.LateReplyError(LATE)),
        ("x", 4, "noop", errors.NotAskedError(4)),
        ("o", 3, "noop", errors.NotAskedError(3)),
    ],
)
@pytest.mark.parametrize("is_here", [True, False])
async def test_a_move_is_refused_alike_wherever_the_match_is_played(
    monkeypatch: pytest.MonkeyPatch, is_here: bool, role: str, step: int, move: str, error: Exception
) -> None:
    async with far_away(monkeypatch) as (near, far):
        far.sit()
        with pytest.raises(type(error)) as caught:
            await (far if is_here else near).relay.choose(PLAYED_FAR, role, step, move)
    assert str(caught.value) == str(error)


async def test_a_manager_that_is_silent_is_a_failure_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_calls, "ANSWER_S", 0.01)
    async with managers(monkeypatch, "near") as (wire, (near,)):
        with pytest.raises(StorageError) as caught:
            await near.relay.turn(PLAYED_FAR, "x")
        (asked,) = await wire.heard()
        wire.tell("far", "near", {"kind": "answer", "call": asked[1]["call"], "turn": None})
        await pause()
    assert asked == ("far", {"kind": "call", "call": 1, "what": "turn", "words": {"match": "m", "role": "x"}})
    assert str(caught.value) == ("the database postgresql://ggp: the game manager that plays the match does not answer")


async def test_questions_that_wait_together_get_each_its_own_answer_and_the_first_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with managers(monkeypatch, "near") as (wire, (near,)):
        asking = [asyncio.create_task(near.relay.choose(PLAYED_FAR, role, 3, "noop")) for role in "xo"]
        told = await wire.heard()
        first, second = [message["call"] for _, message in told]
        for call, move in ((second, "b"), (first, "a"), (second, "c"), (99, "d")):
            wire.tell("far", "near", {"kind": "answer", "call": call, "move": move})
        moves = await asyncio.gather(*asking)
    assert (moves, [to for to, _ in told], first == second) == (["a", "b"], ["far", "far"], False)


@pytest.mark.parametrize(
    ("changes", "is_elsewhere"),
    [
        ({}, True),
        ({"holder": "near"}, False),
        ({"holder": None}, False),
        ({"status": MatchStatus.COMPLETED}, False),
        ({"status": MatchStatus.QUEUED}, False),
    ],
)
async def test_a_person_is_asked_elsewhere_only_while_another_manager_plays(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], is_elsewhere: bool
) -> None:
    monkeypatch.setattr(remote_calls, "ANSWER_S", 0.01)
    row = match("m", **{"status": MatchStatus.RUNNING, "holder": "far"} | changes)
    async with managers(monkeypatch, "near") as (wire, (near,)):
        with suppress(StorageError):
            await near.relay.turn(row, "x")
        asked = [to for to, _ in await wire.heard()]
    assert asked == (["far"] if is_elsewhere else [])


@pytest.mark.parametrize(
    ("request_id", "found", "asked"),
    [
        ("m:3:PLAY", ("far", MatchStatus.RUNNING), "far"),
        ("m:3:PLAY:2", ("far", MatchStatus.RUNNING), "far"),
        ("m:3:PLAY", ("near", MatchStatus.RUNNING), None),
        ("m:3:PLAY", ("known", MatchStatus.COMPLETED), "known"),
        ("m:3:PLAY", ("far", MatchStatus.COMPLETED), None),
        ("m:3:PLAY", (None, MatchStatus.COMPLETED), None),
        ("n:3:PLAY", ("far", MatchStatus.RUNNING), None),
        ("m:3", ("far", MatchStatus.RUNNING), None),
        ("m:3:PLAY:x", ("far", MatchStatus.RUNNING), None),
    ],
)
async def test_a_reply_is_passed_on_to_who_plays_its_match_or_has_played_it(
    monkeypatch: pytest.MonkeyPatch, request_id: str, found: tuple[str | None, MatchStatus], asked: str | None
) -> None:
    monkeypatch.setattr(remote_calls, "ANSWER_S", 0.01)
    matches = Matches()
    matches.found["m"] = found
    async with managers(monkeypatch, "near", matches=matches) as (wire, (near,)):
        wire.tell("known", None, NONE_HERE)
        await pause()
        with pytest.raises(errors.UnknownRequestError if asked is None else StorageError):
            await near.relay.answer("deep", request_id, "noop")
        told = await wire.heard()
    words = {"player": "deep", "request": request_id, "text": "noop", "failure": "", "insight": ""}
    call = {"kind": "call", "call": 1, "what": "reply", "words": words}
    assert told == ([] if asked is None else [(asked, call)])


async def test_a_reply_between_two_managers_is_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    matches = Matches()
    matches.found["m"] = None, MatchStatus.RUNNING
    async with managers(monkeypatch, "near", matches=matches) as (_, (near,)):
        with pytest.raises(StorageError) as caught:
            await near.relay.answer("deep", "m:3:PLAY", "noop")
    assert str(caught.value) == "the database postgresql://ggp: the match is between two game managers"


async def test_connections_are_stamped_by_the_clock_that_all_managers_share(monkeypatch: pytest.MonkeyPatch) -> None:
    async with managers(monkeypatch, "near") as (_, (near,)):
        assert await near.relay.stamp() == 77


async def test_a_manager_alone_asks_its_own_queues_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    matches = Matches(is_sqlite=True)
    matches.found["m"] = "far", MatchStatus.RUNNING
    async with managers(monkeypatch, "near", matches=matches) as (wire, (near,)):
        near.sit()
        asked = near.ask()
        await near.relay.answer("deep", asked.id, "noop")
        with pytest.raises(errors.UnknownRequestError):
            await near.relay.answer("deep", "m:4:PLAY", "noop")
        found = await near.relay.stamp(), await near.relay.turn(PLAYED_FAR, "x")
        told = await wire.heard()
    assert (found, told) == ((0, TURN), [])


async def test_a_manager_that_ends_says_that_no_player_is_with_it_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    before = asyncio.all_tasks()
    async with managers(monkeypatch, "near") as (wire, (near,)):
        wire.tell("far", None, present(deep=(5, "", False)))
        await pause()
        await near.relay.close()
        left = asyncio.all_tasks() - before
        told = await wire.heard()
        is_connected = near.queues.is_connected("deep")
    assert (told, is_connected, left) == ([(None, NONE_HERE)], False, set())
