"""Mailboxes: letters wait until they are answered or overdue, whoever comes and goes meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from server.links.errors import LateReplyError, OtherReplyError, UnknownLetterError
from server.links.mail import Mail
from server.links.mailbox import MAX_SETTLED, Mailbox, Mailboxes
from server.links.mailbox_link import MailboxLink
from server.match.clock import SystemClock
from server.match.driver import MatchDriver
from server.match.events import Completed
from server.match.link import Letter, ReplyBuffer
from server.match.referee import LocalReferee
from tests.server.plays import LEFT, RIGHT, setup, two_steps


class HandClock(SystemClock):
    """A clock that somebody winds."""

    s = 100.0

    def now_s(self) -> float:
        return self.s


def put(mailbox: Mailbox, step: int = 0, match_id: str = "m") -> Mail:
    return mailbox.put(Letter(f"(PLAY {match_id} NIL)", match_id, step), ReplyBuffer(), 5.0)


async def test_a_letter_waits_until_it_is_answered() -> None:
    mailbox, reply = Mailbox(), ReplyBuffer()
    link = asyncio.create_task(MailboxLink(mailbox).deliver(Letter("(PLAY m NIL)", "m", 3), reply))
    await asyncio.sleep(0)
    waiting = [mail.id for mail in mailbox.waiting]
    mailbox.answer("m:3:PLAY", "noop")
    await link
    assert (waiting, mailbox.waiting, bytes(reply.raw)) == (["m:3:PLAY"], (), b"noop")


async def test_a_reader_gets_what_waits_and_then_what_comes() -> None:
    mailbox = Mailbox()
    with mailbox.reading() as reader:
        first = put(mailbox)
        got = [await reader.next()]
        coming = asyncio.create_task(reader.next())
        await asyncio.sleep(0)
        second = put(mailbox, 1)
        got.append(await coming)
    assert got == [first, second]


async def test_whoever_comes_again_gets_what_is_not_answered() -> None:
    mailbox = Mailbox()
    answered, kept, withdrawn = (put(mailbox, step) for step in range(3))
    with mailbox.reading() as reader:
        await reader.next()
    mailbox.answer(answered.id, "noop")
    mailbox.withdraw(withdrawn)
    with mailbox.reading() as reader:
        assert (await reader.next(), mailbox.waiting) == (kept, (kept,))


async def test_whoever_says_what_it_has_got_gets_the_rest() -> None:
    mailbox = Mailbox()
    first, second = put(mailbox), put(mailbox, 1)
    with mailbox.reading(mailbox.event_id(first)) as reader:
        assert await reader.next() == second


@pytest.mark.parametrize("last", ["", "1", "other.1", ".1", "x.99999999999", "nonsense", "é.²"])
async def test_what_another_process_or_nobody_has_said_does_not_count(last: str) -> None:
    mailbox = Mailbox()
    first = put(mailbox)
    with mailbox.reading(last) as reader:
        assert await reader.next() == first


async def test_a_new_reader_takes_over() -> None:
    mailbox = Mailbox()
    with mailbox.reading() as old:
        waiting = asyncio.create_task(old.next())
        await asyncio.sleep(0)
        with mailbox.reading() as new:
            mail = put(mailbox)
            assert (await waiting, await old.next(), await new.next()) == (None, None, mail)


async def test_players_come_and_go() -> None:
    heard: list[tuple[str, bool]] = []
    mailboxes = Mailboxes()
    mailboxes.on_connection = lambda name: heard.append((name, mailboxes.is_connected(name)))
    mailbox = mailboxes.mailbox("deep")
    with mailbox.reading(), mailbox.reading():
        pass
    assert heard == [("deep", True), ("deep", True), ("deep", False)]


async def test_the_same_reply_may_come_twice() -> None:
    mailbox = Mailbox()
    mail = put(mailbox)
    mailbox.answer(mail.id, "noop")
    mailbox.answer(mail.id, "noop")
    assert bytes(mail.reply.raw) == b"noop"


async def test_another_reply_is_refused() -> None:
    mailbox = Mailbox()
    mail = put(mailbox)
    mailbox.answer(mail.id, "noop")
    with pytest.raises(OtherReplyError):
        mailbox.answer(mail.id, "(mark 1 1)")


async def test_a_late_reply_is_refused() -> None:
    mailbox = Mailbox()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await MailboxLink(mailbox).deliver(Letter("(PLAY m NIL)", "m", 3), ReplyBuffer())
    with pytest.raises(LateReplyError):
        mailbox.answer("m:3:PLAY", "noop")


async def test_a_reply_to_what_was_never_asked_is_refused() -> None:
    with pytest.raises(UnknownLetterError):
        Mailbox().answer("m:3:PLAY", "noop")


async def test_a_player_in_two_seats_of_a_match_has_two_letters() -> None:
    mailbox = Mailbox()
    assert [put(mailbox).id, put(mailbox).id] == ["m:0:PLAY", "m:0:PLAY:2"]


async def test_a_question_that_is_asked_again_can_be_answered() -> None:
    mailbox = Mailbox()
    mailbox.withdraw(put(mailbox))
    again = put(mailbox)
    mailbox.answer(again.id, "noop")
    assert bytes(again.reply.raw) == b"noop"


async def test_only_so_many_letters_are_remembered() -> None:
    mailbox = Mailbox()
    first = put(mailbox)
    mailbox.withdraw(first)
    for step in range(MAX_SETTLED):
        mailbox.withdraw(put(mailbox, step + 1))
    with pytest.raises(UnknownLetterError):
        mailbox.answer(first.id, "noop")


async def test_the_time_that_is_left_is_told_without_the_grace() -> None:
    clock = HandClock()
    mailbox = Mailbox(clock)
    link = MailboxLink(mailbox, grace_s=1.0)
    waiting = asyncio.create_task(link.deliver(Letter("(PLAY m NIL)", "m", 0, limit_s=11.0), ReplyBuffer()))
    await asyncio.sleep(0)
    (mail,) = mailbox.waiting
    times = []
    for s in (100.0, 104.0, 111.0):
        clock.s = s
        times.append((mailbox.waited_s(mail), mailbox.left_s(mail)))
    waiting.cancel()
    assert times == [(0.0, 10.0), (4.0, 6.0), (11.0, 0.0)]


async def told(mailbox: Mailbox, n: int, *, with_past: bool = True) -> list[tuple[str, str | None, str]]:
    """Return id, answer and event id of what a new connection gets, *n* letters."""
    with mailbox.reading(with_past=with_past) as reader:
        found = [await reader.next() for _ in range(n)]
    return [(mail.id, mail.letter.answered, mailbox.event_id(mail)) for mail in found if mail is not None]


async def test_a_new_process_is_told_what_was_answered_before_in_the_match() -> None:
    mailbox = Mailbox()
    link = MailboxLink(mailbox)
    for text, step, reply in (("(START m x () 1 1)", 0, "ready"), ("(PLAY m NIL)", 0, "a"), ("(PLAY m (a))", 1, None)):
        delivering = asyncio.create_task(link.deliver(Letter(text, "m", step), ReplyBuffer()))
        await asyncio.sleep(0)
        if reply is not None:
            mailbox.answer(mailbox.waiting[0].id, reply)
        else:
            delivering.cancel()
        await asyncio.gather(delivering, return_exceptions=True)
    mail = put(mailbox, 2)
    past = [("m:0:START", "ready", ""), ("m:0:PLAY", "a", ""), ("m:1:PLAY", "", "")]
    now = [("m:2:PLAY", None, mailbox.event_id(mail))]
    assert await told(mailbox, 4) == past + now
    assert await told(mailbox, 1, with_past=False) == now
    await link.close()
    assert await told(mailbox, 1) == now


async def test_what_another_process_of_the_game_manager_knew_is_told() -> None:
    mailbox = Mailbox()
    MailboxLink(mailbox).remember("m", [Letter("(START m x () 1 1)", "m", 0, "ready")])
    other, mail = put(mailbox, match_id="n"), put(mailbox)
    assert [letter_id for letter_id, *_ in await told(mailbox, 3)] == [other.id, "m:0:START", mail.id]


async def test_the_link_waits_for_the_player_to_come() -> None:
    mailbox = Mailbox()
    waiting = asyncio.create_task(MailboxLink(mailbox).until_connected(20))
    await asyncio.sleep(0)
    put(mailbox)
    with mailbox.reading():
        assert await waiting
    assert not await MailboxLink(mailbox).until_connected(0)


async def test_whoever_reads_is_told_when_the_player_is_forgotten() -> None:
    mailboxes = Mailboxes()
    mailbox = mailboxes.mailbox("deep")
    with mailbox.reading() as reader:
        waiting = asyncio.create_task(reader.next())
        await asyncio.sleep(0)
        mailboxes.forget("deep")
        assert (await waiting, mailbox.is_closed, mailboxes.mailbox("deep").is_closed) == (None, True, False)


async def test_two_mailboxes_play_a_match() -> None:
    mailboxes = {role: Mailbox() for role in (LEFT, RIGHT)}

    async def read(role: str, mailbox: Mailbox) -> None:
        with mailbox.reading() as reader:
            while mail := await reader.next():
                mailbox.answer(mail.id, f"(say {'Yes' if role == 'left' else 'no'})")

    reading = [asyncio.create_task(read(str(role), mailbox)) for role, mailbox in mailboxes.items()]
    links = {role: MailboxLink(mailbox) for role, mailbox in mailboxes.items()}
    outcome = await MatchDriver(LocalReferee(two_steps()), setup(), links).run()
    for task in reading:
        task.cancel()
    assert isinstance(outcome, Completed)
    assert outcome.goals == (100, 0)
