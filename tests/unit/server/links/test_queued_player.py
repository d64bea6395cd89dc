"""People as players: what is asked of them, and what they may answer."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from gdl.language.kif import read_term
from server.links.errors import IllegalChoiceError, LateReplyError, OtherReplyError, UnknownRequestError
from server.links.queued_player import HumanLink, Turn, choose, turn_of
from server.links.request_queue import RequestQueues
from server.match.link import PlayerRequest, ReplyBuffer

PLAY = "(LEGAL m ((mark 1 1) (mark 1 2)))\n(PLAY m (noop (mark 3 3)))"
ID = "m:4:PLAY"


async def answered(text: str, answered: str | None = None) -> bytes:
    reply = ReplyBuffer()
    with suppress(TimeoutError):
        async with asyncio.timeout(0):
            await HumanLink(RequestQueues(), "x").deliver(PlayerRequest(text, "m", 4, answered), reply)
    return bytes(reply.raw)


async def asking(request_queues: RequestQueues, text: str = PLAY) -> tuple[asyncio.Task[None], ReplyBuffer]:
    """Ask a person; the task ends with the answer."""
    reply = ReplyBuffer()
    request = PlayerRequest(text, "m", 4, limit_s=31.0, grace_s=1.0)
    task = asyncio.create_task(HumanLink(request_queues, "x").deliver(request, reply))
    await asyncio.sleep(0)
    return task, reply


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("(START m x ((role x)) 10 5)", b"ready"),
        ("(STOP m NIL)", b"done"),
        ("(ABORT m)", b"aborted"),
        ("(LEGAL m (noop))\n(PLAY m NIL)", b"noop"),
        ("(LEGAL m ((mark 1 1)))\n(PLAY m NIL)", b""),
        (PLAY, b""),
    ],
)
async def test_what_needs_no_thought_is_answered_at_once(text: str, reply: bytes) -> None:
    assert await answered(text) == reply


@pytest.mark.parametrize(("before", "again"), [("(mark 1 2)", b"(mark 1 2)"), ("(mark \ud800)", b"(mark ?)")])
async def test_what_was_answered_before_is_answered_again(before: str, again: bytes) -> None:
    assert await answered(PLAY, before) == again


async def test_a_person_sees_what_a_player_gets() -> None:
    request_queues = RequestQueues()
    task, _ = await asking(request_queues)
    turn = turn_of(request_queues.seat("m", "x"))
    task.cancel()
    assert turn is not None
    legal_moves, told = (read_term("(mark 1 1)"), read_term("(mark 1 2)")), (read_term("noop"), read_term("(mark 3 3)"))
    assert turn == Turn(4, legal_moves, told, turn.left_s)
    assert turn.left_s is not None
    assert turn.left_s <= 30


async def test_a_move_in_any_case_is_the_legal_move() -> None:
    request_queues = RequestQueues()
    task, reply = await asking(request_queues)
    found = choose(request_queues.seat("m", "x"), ID, " (MARK 1 2)\n")
    await task
    assert (str(found), bytes(reply.raw)) == ("(mark 1 2)", b"(mark 1 2)")


@pytest.mark.parametrize("move", ["(mark 9 9)", "", "(((", "noop", "(mark 1 1) (mark 1 2)", "\0", "(" * 30_000])
async def test_what_is_no_legal_move_is_refused_and_nothing_is_lost(move: str) -> None:
    request_queues = RequestQueues()
    task, reply = await asking(request_queues)
    with pytest.raises(IllegalChoiceError) as caught:
        choose(request_queues.seat("m", "x"), ID, move)
    assert (caught.value.move, caught.value.legal_moves) == (move, ("(mark 1 1)", "(mark 1 2)"))
    choose(request_queues.seat("m", "x"), ID, "(mark 1 1)")
    await task
    assert bytes(reply.raw) == b"(mark 1 1)"


async def test_the_same_move_may_come_twice_and_another_is_refused() -> None:
    request_queues = RequestQueues()
    task, _ = await asking(request_queues)
    queue = request_queues.seat("m", "x")
    choose(queue, ID, "(mark 1 1)")
    choose(queue, ID, "(mark 1 1)")
    assert str(choose(queue, ID, " (MARK 1 1)")) == "(mark 1 1)"
    await task
    with pytest.raises(OtherReplyError):
        choose(queue, ID, "(mark 1 2)")


async def test_a_late_move_is_refused() -> None:
    request_queues = RequestQueues()
    task, _ = await asking(request_queues)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    with pytest.raises(LateReplyError):
        choose(request_queues.seat("m", "x"), ID, "(mark 1 1)")


async def test_a_move_of_another_step_is_refused() -> None:
    request_queues = RequestQueues()
    task, _ = await asking(request_queues)
    with pytest.raises(UnknownRequestError):
        choose(request_queues.seat("m", "x"), "m:5:PLAY", "(mark 1 1)")
    task.cancel()


async def test_the_seat_is_left_when_the_match_is_over() -> None:
    request_queues = RequestQueues()
    link = HumanLink(request_queues, "x")
    await link.deliver(PlayerRequest("(START m x () 1 1)", "m"), ReplyBuffer())
    has_seat = request_queues.has_seat("m", "x")
    await link.close()
    assert (has_seat, request_queues.has_seat("m", "x"), turn_of(request_queues.seat("m", "x"))) == (True, False, None)
