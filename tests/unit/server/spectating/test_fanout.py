"""What many viewers get is encoded once; who waits is sent it, who is slow goes on, and nothing comes twice."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from server.errors import UnknownMatchError
from server.spectating.fanout import MAX_PIECE, N_AT_ONCE, NOW_MS, Audience, SharedEvent, framed, pieces


class Reader:
    """A viewer's connection: it keeps what it is sent, and takes nothing at once while it `is_slow`."""

    def __init__(self, *, is_ndjson: bool = False, is_slow: bool = False) -> None:
        self.is_ndjson, self.is_slow = is_ndjson, is_slow
        self.sent: list[bytes] = []

    def send_now(self, data: bytes) -> bool:
        if not self.is_slow:
            self.sent.append(data)
        return not self.is_slow


class Counting:
    """Produces the numbers up to *n* for all who follow, each when it is `told` to."""

    def __init__(self, n: int) -> None:
        self._n = n
        self.events: list[SharedEvent] = []
        self.turns = asyncio.Semaphore(0)
        self.audience = Audience(self._produce)

    async def _produce(self) -> None:
        for number in range(self._n):
            await self.turns.acquire()
            self.events.append(SharedEvent("n", {"n": number}, str(number)))
            await self.audience.send(self.events[number:], number, number + 1)

    async def follow(self, sink: Reader | None = None) -> AsyncGenerator[SharedEvent]:
        with self.audience.joined(0, sink) as member:
            while True:
                member.fresh.clear()
                is_over = self.audience.is_over
                while member.place < len(self.events):
                    member.place += 1
                    yield self.events[member.place - 1]
                if is_over:
                    self.audience.check()
                    return
                await member.wait()


async def read(counting: Counting, sink: Reader) -> bytes:
    """Return all that a viewer got: what it was sent, and what it fetched."""
    async for event in counting.follow(sink):
        sink.sent.append(event.encoded(is_ndjson=sink.is_ndjson))
    return b"".join(sink.sent)


def expected(n: int, *, is_ndjson: bool = False) -> bytes:
    return b"".join(framed("n", {"n": number}, str(number), is_ndjson=is_ndjson) for number in range(n))


async def idle() -> None:
    """Let everything run that can."""
    for _ in range(20):
        await asyncio.sleep(0)


def test_an_event_is_framed_for_browsers_and_for_programs() -> None:
    assert framed("step", {"a": "\n"}, "7") == b'id: 7\nevent: step\ndata: {"a": "\\n"}\n\n'
    assert framed("step", {}) == b"event: step\ndata: {}\n\n"
    assert framed("step", {"a": 1}, "7", is_ndjson=True) == b'{"event": "step", "id": "7", "data": {"a": 1}}\n'


def test_an_event_is_encoded_once() -> None:
    event = SharedEvent("step", {"a": 1}, "7")
    assert event.encoded(is_ndjson=False) is event.encoded(is_ndjson=False)
    assert event.encoded(is_ndjson=True) is event.encoded(is_ndjson=True)


def test_an_event_may_tell_when_it_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    event, told = SharedEvent("asked", {"at": 1}, tells_now=True), []
    for at_ms in (1_000, 1_000 + NOW_MS, 1_001 + NOW_MS, 5_000):
        monkeypatch.setattr("server.spectating.fanout.now_ms", lambda at_ms=at_ms: at_ms)
        told.append(json.loads(event.encoded(is_ndjson=True))["data"])
    assert told == [{"at": 1, "now": now_ms} for now_ms in (1_000, 1_000, 1_001 + NOW_MS, 5_000)]


def test_short_events_are_sent_together_and_long_ones_alone() -> None:
    short, long = SharedEvent("a", {}), SharedEvent("b", {"x": "y" * MAX_PIECE})
    found = list(pieces([short, short, long, short, long, long], is_ndjson=False))
    assert b"".join(found) == b"".join(
        event.encoded(is_ndjson=False) for event in (short, short, long, short, long, long)
    )
    assert len(found) == 3
    assert list(pieces([], is_ndjson=False)) == []


@pytest.mark.parametrize(("n_bytes", "n_together"), [(MAX_PIECE // 4, 4), ((MAX_PIECE - 1) // 7, 8), (MAX_PIECE, 1)])
def test_a_piece_ends_with_the_event_that_makes_it_long_enough(n_bytes: int, n_together: int) -> None:
    blank = SharedEvent("a", {"x": ""}).encoded(is_ndjson=False)
    event = SharedEvent("a", {"x": "y" * (n_bytes - len(blank))})
    found = list(pieces([event] * (2 * n_together + 1), is_ndjson=False))
    assert [len(piece) for piece in found] == [n_together * n_bytes, n_together * n_bytes, n_bytes]


@pytest.mark.parametrize("n_viewers", [1, N_AT_ONCE, 3 * N_AT_ONCE + 1])
async def test_all_get_the_same_bytes_once(n_viewers: int) -> None:
    counting = Counting(5)
    sinks = [Reader(is_ndjson=bool(number % 2), is_slow=number % 3 == 1) for number in range(n_viewers)]
    reading = [asyncio.create_task(read(counting, sink)) for sink in sinks]
    for _ in range(5):
        await idle()
        counting.turns.release()
    found = await asyncio.gather(*reading)
    assert found == [expected(5, is_ndjson=sink.is_ndjson) for sink in sinks]
    sent = [sink.sent[-1] for sink in sinks if not (sink.is_ndjson or sink.is_slow)]
    assert len({id(data) for data in sent}) == 1


async def test_who_comes_later_or_is_slow_for_a_while_lacks_nothing() -> None:
    counting, slow, late = Counting(6), Reader(), Reader()
    reading = [asyncio.create_task(read(counting, slow))]
    for number in range(6):
        slow.is_slow = number in (2, 3)
        if number == 3:
            reading.append(asyncio.create_task(read(counting, late)))
        await idle()
        counting.turns.release()
    assert await asyncio.gather(*reading) == [expected(6)] * 2


async def test_it_is_produced_as_long_as_anybody_follows() -> None:
    counting = Counting(5)
    counting.turns.release()
    async with aclosing(counting.follow()) as found:
        assert (await anext(found)).data == {"n": 0}
        assert len(counting.audience.members) == 1
    await idle()
    counting.turns.release()
    await idle()
    assert (len(counting.events), counting.audience.members) == (1, ())


async def test_every_viewer_gets_an_error() -> None:
    async def fail() -> None:
        await asyncio.sleep(0)
        raise UnknownMatchError("m")

    audience = Audience(fail)
    with audience.joined(0) as one, audience.joined(0) as other:
        await one.wait()
        await other.wait()
        for _ in range(2):
            with pytest.raises(UnknownMatchError):
                audience.check()


async def never() -> None:
    await asyncio.Event().wait()


async def test_after_an_error_it_is_produced_anew_for_who_comes_next() -> None:
    errors = [UnknownMatchError("m")]

    async def fail_once() -> None:
        await asyncio.sleep(0)
        if errors:
            raise errors.pop()

    audience = Audience(fail_once)
    for is_failing in (True, False):
        with audience.joined(0) as member:
            assert not audience.is_over
            await member.wait()
            assert (audience.is_over, audience.error is not None) == (True, is_failing)


async def test_it_is_produced_on_while_one_of_those_who_follow_is_left() -> None:
    counting = Counting(2)
    counting.turns.release()
    async with aclosing(counting.follow()) as one, aclosing(counting.follow()) as other:
        await anext(one)
        await anext(other)
        await one.aclose()
        counting.turns.release()
        assert (await anext(other)).data == {"n": 1}


async def test_one_who_has_stopped_waiting_is_sent_nothing_behind_its_back() -> None:
    audience, sink = Audience(never), Reader()
    with audience.joined(0, sink) as member:
        waiting = asyncio.create_task(member.wait())
        await idle()
        is_waiting = member.is_waiting
        waiting.cancel()
        await idle()
        await audience.send([SharedEvent("n", {})], 0, 1)
        assert (is_waiting, member.is_waiting, sink.sent, member.place, member.fresh.is_set()) == (
            True, False, [], 0, True,
        )  # fmt: skip


@pytest.mark.parametrize(("place", "is_sent"), [(0, False), (1, True), (2, False)])
async def test_only_who_has_all_earlier_events_is_sent_the_next_ones(place: int, is_sent: bool) -> None:
    audience, sink = Audience(never), Reader()
    with audience.joined(place, sink) as member:
        waiting = asyncio.create_task(member.wait())
        await idle()
        await audience.send([SharedEvent("n", {}, "1"), SharedEvent("n", {}, "2")], 1, 3)
        await idle()
        told = b"id: 1\nevent: n\ndata: {}\n\nid: 2\nevent: n\ndata: {}\n\n"
        assert (sink.sent, member.place, waiting.done()) == (
            ([told], 3, False) if is_sent else ([], place, True)
        )  # fmt: skip
        waiting.cancel()


async def test_what_is_too_long_for_one_piece_is_sent_whole() -> None:
    audience, sink = Audience(never), Reader()
    events = [SharedEvent("n", {"x": "y" * MAX_PIECE}, str(number)) for number in range(3)]
    with audience.joined(0, sink) as member:
        waiting = asyncio.create_task(member.wait())
        await idle()
        await audience.send(events, 0, 3)
        waiting.cancel()
    assert sink.sent == [b"".join(event.encoded(is_ndjson=False) for event in events)]


async def test_who_brings_no_sink_is_woken_for_what_is_new() -> None:
    audience = Audience(never)
    with audience.joined(0, brought="theirs") as member:
        waiting = asyncio.create_task(member.wait())
        await idle()
        await audience.send([SharedEvent("n", {})], 0, 1)
        await waiting
        assert (member.place, member.brought) == (0, "theirs")
