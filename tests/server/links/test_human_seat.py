"""People as players: what is asked of them, and what they may answer."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from gdl.kif import read_term
from server.links.errors import IllegalChoiceError, LateReplyError, OtherReplyError, UnknownLetterError
from server.links.human_seat import HumanLink, Turn, choose, turn_of
from server.links.mailbox import Mailboxes
from server.match.link import Letter, ReplyBuffer

PLAY = "(LEGAL m ((mark 1 1) (mark 1 2)))\n(PLAY m (noop (mark 3 3)))"
ID = "m:4:PLAY"


async def answered(text: str, answered: str | None = None) -> bytes:
    reply = ReplyBuffer()
    with suppress(TimeoutError):
        async with asyncio.timeout(0):
            await HumanLink(Mailboxes(), "x").deliver(Letter(text, "m", 4, answered), reply)
    return bytes(reply.raw)


async def asking(mailboxes: Mailboxes, text: str = PLAY) -> tuple[asyncio.Task[None], ReplyBuffer]:
    """Ask a person; the task ends with the answer."""
    reply = ReplyBuffer()
    letter = Letter(text, "m", 4, limit_s=31.0)
    task = asyncio.create_task(HumanLink(mailboxes, "x", 1.0).deliver(letter, reply))
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


async def test_what_was_answered_before_is_answered_again() -> None:
    assert await answered(PLAY, "(mark 1 2)") == b"(mark 1 2)"


async def test_a_person_sees_what_a_player_is_told() -> None:
    mailboxes = Mailboxes()
    task, _ = await asking(mailboxes)
    turn = turn_of(mailboxes.seat("m", "x"))
    task.cancel()
    assert turn is not None
    legal_moves, told = (read_term("(mark 1 1)"), read_term("(mark 1 2)")), (read_term("noop"), read_term("(mark 3 3)"))
    assert turn == Turn(4, legal_moves, told, turn.left_s)
    assert turn.left_s is not None
    assert turn.left_s <= 30


async def test_a_move_in_any_case_is_the_legal_move() -> None:
    mailboxes = Mailboxes()
    task, reply = await asking(mailboxes)
    found = choose(mailboxes.seat("m", "x"), ID, " (MARK 1 2)\n")
    await task
    assert (str(found), bytes(reply.raw)) == ("(mark 1 2)", b"(mark 1 2)")


@pytest.mark.parametrize("move", ["(mark 9 9)", "", "(((", "noop", "(mark 1 1) (mark 1 2)", "\0", "(" * 30_000])
async def test_what_is_no_legal_move_is_refused_and_nothing_is_lost(move: str) -> None:
    mailboxes = Mailboxes()
    task, reply = await asking(mailboxes)
    with pytest.raises(IllegalChoiceError):
        choose(mailboxes.seat("m", "x"), ID, move)
    choose(mailboxes.seat("m", "x"), ID, "(mark 1 1)")
    await task
    assert bytes(reply.raw) == b"(mark 1 1)"


async def test_the_same_move_may_come_twice_and_another_is_refused() -> None:
    mailboxes = Mailboxes()
    task, _ = await asking(mailboxes)
    mailbox = mailboxes.seat("m", "x")
    choose(mailbox, ID, "(mark 1 1)")
    choose(mailbox, ID, "(mark 1 1)")
    await task
    with pytest.raises(OtherReplyError):
        choose(mailbox, ID, "(mark 1 2)")


async def test_a_late_move_is_refused() -> None:
    mailboxes = Mailboxes()
    task, _ = await asking(mailboxes)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    with pytest.raises(LateReplyError):
        choose(mailboxes.seat("m", "x"), ID, "(mark 1 1)")


async def test_a_move_of_another_step_is_refused() -> None:
    mailboxes = Mailboxes()
    task, _ = await asking(mailboxes)
    with pytest.raises(UnknownLetterError):
        choose(mailboxes.seat("m", "x"), "m:5:PLAY", "(mark 1 1)")
    task.cancel()


async def test_the_seat_is_left_when_the_match_is_over() -> None:
    mailboxes = Mailboxes()
    link = HumanLink(mailboxes, "x")
    await link.deliver(Letter("(START m x () 1 1)", "m"), ReplyBuffer())
    has_seat = mailboxes.has_seat("m", "x")
    await link.close()
    assert (has_seat, mailboxes.has_seat("m", "x"), turn_of(mailboxes.seat("m", "x"))) == (True, False, None)
