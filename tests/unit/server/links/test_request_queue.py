"""Request queues: requests wait until they are answered or overdue, whichever readers come and go meanwhile."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from server.links.errors import LateReplyError, OtherReplyError, UnknownRequestError
from server.links.http_player import HttpPlayer
from server.links.queued_player import QueueLink
from server.links.queued_request import QueuedRequest
from server.links.request_queue import MAX_ENDED, RequestQueue, RequestQueues
from server.links.seating import number_seats
from server.match.driver import MatchDriver
from server.match.exchange import Completed
from server.match.link import PlayerRequest, ReplyBuffer
from server.match.referee import LocalReferee
from tests.kit.server.clocks import HandClock
from tests.kit.server.plays import LEFT, RIGHT, setup, two_steps


def put(queue: RequestQueue, step: int = 0, match_id: str = "m") -> QueuedRequest:
    return queue.put(PlayerRequest(f"(PLAY {match_id} NIL)", match_id, step), ReplyBuffer(), 5.0)


async def test_a_request_waits_until_it_is_answered() -> None:
    queue, reply = RequestQueue(), ReplyBuffer()
    link = asyncio.create_task(QueueLink(queue).deliver(PlayerRequest("(PLAY m NIL)", "m", 3), reply))
    await asyncio.sleep(0)
    waiting = [queued.id for queued in queue.waiting]
    queue.answer("m:3:PLAY", "noop")
    await link
    assert (waiting, queue.waiting, bytes(reply.raw)) == (["m:3:PLAY"], (), b"noop")


async def test_a_reader_gets_what_waits_and_then_what_comes() -> None:
    queue = RequestQueue()
    with queue.reading() as reader:
        first = put(queue)
        got = [await reader.next()]
        coming = asyncio.create_task(reader.next())
        await asyncio.sleep(0)
        second = put(queue, 1)
        got.append(await coming)
    assert got == [first, second]


async def test_a_reader_that_comes_again_gets_what_is_not_answered() -> None:
    queue = RequestQueue()
    answered, kept, withdrawn = (put(queue, step) for step in range(3))
    with queue.reading() as reader:
        await reader.next()
    queue.answer(answered.id, "noop")
    queue.withdraw(withdrawn)
    with queue.reading() as reader:
        assert (await reader.next(), queue.waiting) == (kept, (kept,))


async def test_a_reader_that_says_what_it_has_got_gets_the_rest() -> None:
    queue = RequestQueue()
    first, second = put(queue), put(queue, 1)
    with queue.reading(queue.event_id(first)) as reader:
        assert await reader.next() == second


@pytest.mark.parametrize("last", ["", "1", "other.1", ".1", "x.99999999999", "nonsense", "é.²"])
async def test_an_event_id_of_another_process_or_of_none_does_not_count(last: str) -> None:
    queue = RequestQueue()
    first = put(queue)
    with queue.reading(last) as reader:
        assert await reader.next() == first


async def test_a_new_reader_takes_over() -> None:
    queue = RequestQueue()
    with queue.reading() as old:
        waiting = asyncio.create_task(old.next())
        await asyncio.sleep(0)
        with queue.reading() as new:
            queued = put(queue)
            assert (await waiting, await old.next(), await new.next()) == (None, None, queued)


async def test_players_come_and_go() -> None:
    heard: list[tuple[str, bool]] = []
    request_queues = RequestQueues(on_connection=lambda name: heard.append((name, request_queues.is_connected(name))))
    queue = request_queues.of_player("deep")
    with queue.reading(), queue.reading():
        pass
    assert heard == [("deep", True), ("deep", True), ("deep", False)]


async def test_the_same_reply_may_come_twice() -> None:
    queue = RequestQueue()
    queued = put(queue)
    queue.answer(queued.id, "noop")
    queue.answer(queued.id, "noop")
    assert bytes(queued.reply.raw) == b"noop"


async def test_another_reply_is_refused() -> None:
    queue = RequestQueue()
    queued = put(queue)
    queue.answer(queued.id, "noop")
    with pytest.raises(OtherReplyError, match="'m:0:PLAY'"):
        queue.answer(queued.id, "(mark 1 1)")


async def test_a_late_reply_is_refused() -> None:
    queue = RequestQueue()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await QueueLink(queue).deliver(PlayerRequest("(PLAY m NIL)", "m", 3), ReplyBuffer())
    with pytest.raises(LateReplyError, match="'m:3:PLAY'"):
        queue.answer("m:3:PLAY", "noop")


async def test_a_reply_to_what_was_never_asked_is_refused() -> None:
    with pytest.raises(UnknownRequestError, match="'m:3:PLAY'"):
        RequestQueue().answer("m:3:PLAY", "noop")


async def test_a_reply_is_kept_with_all_that_its_player_tells() -> None:
    queue = RequestQueue()
    plain, full = put(queue), put(queue, 1)
    queue.answer(plain.id, "(café \ud800)")
    queue.answer(full.id, "noop", "it fell", "value 5")
    found = [(bytes(each.reply.raw).decode(), each.reply.failure, each.reply.insight) for each in (plain, full)]
    assert found == [("(café ?)", "", ""), ("noop", "it fell", "value 5")]


async def test_a_start_that_was_answered_with_busy_is_not_caught_up_with_and_a_play_is() -> None:
    queue = RequestQueue()
    link = QueueLink(queue)
    for text, reply in (("(START m x () 1 1)", "busy"), ("(START m x () 1 1)", "ready"), ("(PLAY m NIL)", "busy")):
        asking = asyncio.create_task(link.deliver(PlayerRequest(text, "m"), ReplyBuffer()))
        await asyncio.sleep(0)
        queue.answer(queue.waiting[0].id, reply)
        await asking
    past = [(queued.id, queued.request.answered) for queued in queue.answered_in("m")]
    assert past == [("m:0:START", "ready"), ("m:0:PLAY", "busy")]


async def test_a_request_is_remembered_with_its_answer_and_without_its_legal_moves() -> None:
    queue = RequestQueue()
    request = PlayerRequest("(PLAY m NIL)", "m", 3, limit_s=5.0, legal_moves=(LEFT, RIGHT), grace_s=1.0)
    delivering = asyncio.create_task(QueueLink(queue).deliver(request, ReplyBuffer(4)))
    await asyncio.sleep(0)
    queue.answer("m:3:PLAY", "café")  # the buffer ends within a character
    await delivering
    (kept,) = queue.answered_in("m")
    assert kept.request == replace(request, answered="caf\ufffd", legal_moves=())


async def test_what_ends_with_its_match_is_not_remembered() -> None:
    queue = RequestQueue()
    link = QueueLink(queue)
    asking = await asked(link, 0)
    await link.close()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    queue.forget_match("m")
    assert not queue.keeps("m")


def links_of_two_seats(queue: RequestQueue) -> list[QueueLink]:
    links = [QueueLink(queue), QueueLink(RequestQueue()), QueueLink(queue)]
    number_seats(links)
    return [links[0], links[2]]


async def test_the_seats_of_a_player_in_one_match_have_requests_of_their_own() -> None:
    queue = RequestQueue()
    links = links_of_two_seats(queue)
    asking = [asyncio.create_task(link.deliver(PlayerRequest("(PLAY m NIL)", "m"), ReplyBuffer())) for link in links]
    await asyncio.sleep(0)
    assert [queued.id for queued in queue.waiting] == ["m:0:PLAY", "m:0:PLAY:2"]
    for task in asking:
        task.cancel()


def test_an_address_that_has_several_seats_of_a_match_has_them_numbered() -> None:
    links = [HttpPlayer(f"http://127.0.0.1:{port}") for port in (1, 2, 1)]
    number_seats([*links, QueueLink(RequestQueue())])
    assert [link.seat for link in links] == [1, 1, 2]


async def test_a_request_keeps_its_id_where_another_seat_of_the_player_has_answered_before() -> None:
    queue = RequestQueue()
    first, second = links_of_two_seats(queue)
    first.remember("m", [PlayerRequest("(PLAY m NIL)", "m", answered="a")])
    second.remember("m", [PlayerRequest("(START m o () 1 1)", "m", answered="ready")])
    asking = asyncio.create_task(second.deliver(PlayerRequest("(PLAY m NIL)", "m"), ReplyBuffer()))
    await asyncio.sleep(0)
    found = [request_id for request_id, *_ in await told(queue, 3)]
    asking.cancel()
    assert found == ["m:0:PLAY", "m:0:START:2", "m:0:PLAY:2"]


async def test_a_question_that_is_asked_again_can_be_answered() -> None:
    queue = RequestQueue()
    queue.withdraw(put(queue))
    again = put(queue)
    queue.answer(again.id, "noop")
    assert bytes(again.reply.raw) == b"noop"


async def test_a_question_that_is_asked_again_is_a_new_one_and_the_last() -> None:
    queue = RequestQueue()
    answered, second = put(queue), put(queue, 1)
    queue.answer(answered.id, "noop")
    again, second_again = put(queue), put(queue, 1)
    assert (queue.reply_to(again.id), queue.waiting) == (None, (again, second_again))
    queue.withdraw(second)
    assert queue.waiting == (again, second_again)


async def test_only_so_many_requests_are_remembered() -> None:
    queue = RequestQueue()
    for step in range(MAX_ENDED + 1):
        queue.withdraw(put(queue, step))
    with pytest.raises(UnknownRequestError):
        queue.answer("m:0:PLAY", "noop")
    with pytest.raises(LateReplyError):
        queue.answer("m:1:PLAY", "noop")


async def test_the_time_that_is_left_does_not_include_the_grace() -> None:
    clock = HandClock()
    queue = RequestQueue(clock)
    link = QueueLink(queue)
    waiting = asyncio.create_task(
        link.deliver(PlayerRequest("(PLAY m NIL)", "m", 0, limit_s=11.0, grace_s=1.0), ReplyBuffer())
    )
    await asyncio.sleep(0)
    (queued,) = queue.waiting
    times = []
    for s in (100.0, 104.0, 111.0):
        clock.s = s
        times.append((queue.waited_s(queued), queue.left_s(queued)))
    waiting.cancel()
    assert times == [(0.0, 10.0), (4.0, 6.0), (11.0, 0.0)]


async def told(queue: RequestQueue, n: int, *, with_answered: bool = True) -> list[tuple[str, str | None, str]]:
    """Return id, answer and event id of what a new connection gets, *n* requests."""
    with queue.reading(with_answered=with_answered) as reader:
        found = [await reader.next() for _ in range(n)]
    return [(queued.id, queued.request.answered, queue.event_id(queued)) for queued in found if queued is not None]


async def test_a_new_process_gets_what_was_answered_before_in_the_match() -> None:
    queue = RequestQueue()
    link = QueueLink(queue)
    for text, step, reply in (("(START m x () 1 1)", 0, "ready"), ("(PLAY m NIL)", 0, "a"), ("(PLAY m (a))", 1, None)):
        delivering = asyncio.create_task(link.deliver(PlayerRequest(text, "m", step), ReplyBuffer()))
        await asyncio.sleep(0)
        if reply is not None:
            queue.answer(queue.waiting[0].id, reply)
        else:
            delivering.cancel()
        await asyncio.gather(delivering, return_exceptions=True)
    queued = put(queue, 2)
    past = [("m:0:START", "ready", ""), ("m:0:PLAY", "a", ""), ("m:1:PLAY", "", "")]
    now = [("m:2:PLAY", None, queue.event_id(queued))]
    assert await told(queue, 4) == past + now
    assert await told(queue, 1, with_answered=False) == now
    await link.close()
    assert await told(queue, 1) == now


async def test_what_is_over_before_its_turn_came_is_sent_before_the_next_request() -> None:
    queue = RequestQueue()
    link = QueueLink(queue)
    link.remember(
        "m", [PlayerRequest("(START m x () 1 1)", "m", 0, "ready"), PlayerRequest("(PLAY m NIL)", "m", 0, "a")]
    )
    with queue.reading(with_answered=True) as reader:
        overdue = await asked(link, 1)
        found = [await asyncio.wait_for(reader.next(), 5)]
        overdue.cancel()
        await asyncio.gather(overdue, return_exceptions=True)
        for step in (2, 3):
            answered = await asked(link, step)
            found += [await asyncio.wait_for(reader.next(), 5) for _ in range(3 if step == 2 else 1)]
            queue.answer(f"m:{step}:PLAY", "a")
            await answered
    got = [(queued.id, queued.request.answered) for queued in found if queued is not None]
    past = [("m:0:START", "ready"), ("m:0:PLAY", "a"), ("m:1:PLAY", "")]
    assert got == [*past, ("m:2:PLAY", None), ("m:3:PLAY", None)]


async def test_what_was_sent_once_does_not_come_again_when_another_match_asks_just_after_a_reply() -> None:
    queue = RequestQueue()
    link = QueueLink(queue)
    with queue.reading(with_answered=True) as reader:
        first = await asked(link, 0)
        found = [await reader.next()]
        queue.answer("m:0:PLAY", "a")
        other = put(queue, match_id="n")
        found.append(await reader.next())
        await first
        second = await asked(link, 1)
        found.append(await reader.next())
    second.cancel()
    assert [queued.id for queued in found if queued is not None] == ["m:0:PLAY", other.id, "m:1:PLAY"]


async def asked(link: QueueLink, step: int) -> asyncio.Task[None]:
    """Return the delivery of a request for a move, which waits."""
    delivering = asyncio.create_task(link.deliver(PlayerRequest("(PLAY m (a))", "m", step), ReplyBuffer()))
    await asyncio.sleep(0)
    return delivering


async def test_a_player_gets_what_another_process_of_the_game_manager_knew() -> None:
    queue = RequestQueue()
    QueueLink(queue).remember("m", [PlayerRequest("(START m x () 1 1)", "m", 0, "ready")])
    other, queued = put(queue, match_id="n"), put(queue)
    assert [request_id for request_id, *_ in await told(queue, 3)] == [other.id, "m:0:START", queued.id]


async def test_the_link_waits_for_the_player_to_come() -> None:
    queue = RequestQueue()
    waiting = asyncio.create_task(QueueLink(queue).until_connected(20))
    await asyncio.sleep(0)
    put(queue)
    with queue.reading():
        assert await waiting
    assert not await QueueLink(queue).until_connected(0)


def test_a_queue_that_was_never_read_has_no_player() -> None:
    assert not RequestQueue().is_connected


async def test_a_reader_learns_that_the_player_is_forgotten() -> None:
    request_queues = RequestQueues()
    queue = request_queues.of_player("deep")
    with queue.reading() as reader:
        waiting = asyncio.create_task(reader.next())
        await asyncio.sleep(0)
        request_queues.forget("deep")
        assert (await waiting, queue.is_closed, request_queues.of_player("deep").is_closed) == (None, True, False)


async def test_a_queue_that_is_closed_connects_no_player() -> None:
    queue = RequestQueue()
    queue.close()
    with queue.reading() as reader:
        assert (await asyncio.wait_for(reader.next(), 5), queue.is_connected) == (None, False)


async def test_a_player_that_is_forgotten_has_no_part_in_its_match_and_another_of_its_name_neither() -> None:
    request_queues = RequestQueues()
    link = QueueLink(request_queues.of_player("deep"))
    waiting = asyncio.create_task(link.deliver(PlayerRequest("(PLAY m NIL)", "m"), ReplyBuffer()))
    await asyncio.sleep(0)
    request_queues.forget("deep")
    with request_queues.of_player("deep").reading():
        for asking in (waiting, link.deliver(PlayerRequest("(PLAY m (a))", "m", 1), ReplyBuffer())):
            with pytest.raises(OSError, match="not known any more"):
                await asyncio.wait_for(asking, 5)
        assert request_queues.of_player("deep").waiting == ()


async def test_two_queues_play_a_match() -> None:
    request_queues = {role: RequestQueue() for role in (LEFT, RIGHT)}

    async def read(role: str, queue: RequestQueue) -> None:
        with queue.reading() as reader:
            while queued := await reader.next():
                queue.answer(queued.id, f"(say {'Yes' if role == 'left' else 'no'})")

    reading = [asyncio.create_task(read(str(role), queue)) for role, queue in request_queues.items()]
    links = {role: QueueLink(queue) for role, queue in request_queues.items()}
    outcome = await MatchDriver(LocalReferee(two_steps()), setup(), links).run()
    for task in reading:
        task.cancel()
    assert isinstance(outcome, Completed)
    assert outcome.goals == (100, 0)


async def test_a_request_is_told_as_its_player_reads_it() -> None:
    clock = HandClock()
    queue = RequestQueue(clock)
    play = PlayerRequest("(LEGAL m ((mark 1 1) noop))\n(PLAY m NIL)", "m", 3)
    queued = queue.put(play, ReplyBuffer(), 5.0)
    clock.s += 1.23456
    whole = {
        "request": "m:3:PLAY",
        "match": "m",
        "step": 3,
        "message": "PLAY",
        "text": "(PLAY m NIL)",
        "secondsLeft": 3.765,
        "secondsWaited": 1.235,
        "legalMoves": ["(mark 1 1)", "noop"],
    }
    assert queue.told(queued) == whole
    started = queue.put(PlayerRequest("(START m x () 1 1)", "m", answered=""), ReplyBuffer())
    assert queue.told(started) == {
        "request": "m:0:START",
        "match": "m",
        "step": 0,
        "message": "START",
        "text": "(START m x () 1 1)",
        "secondsLeft": None,
        "secondsWaited": 0.0,
        "answered": "",
    }


async def test_a_request_is_waited_for_until_its_answer() -> None:
    queue = RequestQueue()
    queued = put(queue)
    before = queue.waits(queued.id)
    queue.answer(queued.id, "noop")
    assert (before, queue.waits(queued.id), queue.reply_to(queued.id), queue.reply_to("other")) == (
        True, False, "noop", None,
    )  # fmt: skip


async def test_a_match_goes_on_while_it_asks_or_is_remembered() -> None:
    queue = RequestQueue()
    queue.remember("kept", ())
    put(queue, match_id="asking")
    assert [queue.keeps(match_id) for match_id in ("kept", "asking", "other")] == [True, True, False]


async def test_who_is_forgotten_is_told_whether_it_was_there_or_not() -> None:
    request_queues, forgotten = RequestQueues(), list[str]()
    request_queues.on_forgotten = forgotten.append
    request_queues.of_player("deep")
    for name in ("deep", "other"):
        request_queues.forget(name)
    request_queues.leave_seat("m", "x")
    assert (forgotten, request_queues.is_connected("deep")) == (["deep", "other"], False)
