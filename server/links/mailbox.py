"""Mailboxes: where letters wait for players that dial in, and for people, until their replies are posted.

A player that is not connected finds its letters when it comes back, as long as somebody waits for the replies: a
connection that drops loses nothing.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final

from server.links.errors import LateReplyError, OtherReplyError, UnknownLetterError
from server.links.mail import Mail, keyword, letter_id
from server.match.clock import Clock, SystemClock
from server.match.link import Letter, ReplyBuffer

MAX_SETTLED: Final = 1_000
"""How many letters a mailbox remembers that are answered or overdue."""
_SYSTEM_CLOCK: Final = SystemClock()


class Mailbox:
    """The letters of one player: those that wait, and what became of the last ones; *clock* tells how long."""

    def __init__(self, clock: Clock = _SYSTEM_CLOCK, on_connection: Callable[[], None] = lambda: None) -> None:
        self._clock, self._on_connection = clock, on_connection
        self._epoch = secrets.token_hex(4)
        self._n = 0
        self._waiting: dict[str, Mail] = {}
        self._settled: dict[str, str | None] = {}
        self._past: dict[str, list[Letter]] = {}
        self._is_closed = False
        self._news = asyncio.Event()
        self._reader: Reader | None = None

    @property
    def is_connected(self) -> bool:
        """Whether the player would get a letter at once."""
        return self._reader is not None

    @property
    def waiting(self) -> tuple[Mail, ...]:
        """The letters that nobody has answered, the oldest first."""
        return tuple(self._waiting.values())

    @property
    def is_closed(self) -> bool:
        """Whether nobody will put letters here any more: the player is not registered under that name."""
        return self._is_closed

    @property
    def news(self) -> asyncio.Event:
        """Is set when the next letter comes, or another reader."""
        return self._news

    def put(self, letter: Letter, reply: ReplyBuffer, limit_s: float | None = None) -> Mail:
        """Let *letter* wait; what is posted fills *reply*. *limit_s* is told to the player."""
        self._n += 1
        mail = Mail(self._free_id(letter), self._n, letter, reply, self._clock.now_s(), limit_s)
        self._waiting[mail.id] = mail
        self._settled.pop(mail.id, None)
        self._spread_news()
        return mail

    def _free_id(self, letter: Letter) -> str:
        """Return the id of *letter*, with a number where the player has another seat in the same match."""
        first = found = letter_id(letter.match_id, letter.step, keyword(letter))
        number = 1
        while found in self._waiting:
            number += 1
            found = f"{first}:{number}"
        return found

    def withdraw(self, mail: Mail) -> None:
        """Let a letter wait no longer: a reply is too late from now on."""
        if self._waiting.get(mail.id) is mail:
            self._settle(mail, None)

    def answer(self, letter_id: str, text: str) -> None:
        """Take the reply to a letter; the same one may come twice.

        Raises:
            LateReplyError: nobody waits for it any more.
            OtherReplyError: something else was answered before.
            UnknownLetterError: there is no such letter, or none that is remembered.
        """
        mail = self._waiting.get(letter_id)
        if mail is not None:
            # Here and now: the wait may end before the one who waits is told.
            mail.reply.feed(text.encode("utf-8", "replace"))
            mail.answered.set()
            self._settle(mail, text)
        elif letter_id not in self._settled:
            raise UnknownLetterError(letter_id)
        elif (settled := self._settled[letter_id]) is None:
            raise LateReplyError(letter_id)
        elif settled != text:
            raise OtherReplyError(letter_id)

    def _settle(self, mail: Mail, text: str | None) -> None:
        del self._waiting[mail.id]
        self._settled[mail.id] = text
        while len(self._settled) > MAX_SETTLED:
            del self._settled[next(iter(self._settled))]

    def remember(self, match_id: str, letters: Sequence[Letter]) -> None:
        """Keep what was answered in a match, in order, for a new process of the player."""
        self._past.setdefault(match_id, []).extend(letters)

    def forget_match(self, match_id: str) -> None:
        """Keep what was answered in a match no longer."""
        self._past.pop(match_id, None)

    def past(self, match_id: str) -> list[Mail]:
        """Return the letters of a match that were answered, in order, each with the answer; no reply is needed."""
        letters = self._past.get(match_id, ())
        ids = (letter_id(letter.match_id, letter.step, keyword(letter)) for letter in letters)
        return [Mail(each, 0, letter, ReplyBuffer()) for each, letter in zip(ids, letters, strict=True)]

    def close(self) -> None:
        """Tell whoever reads here that no more letters will come."""
        self._is_closed, self._reader = True, None
        self._spread_news()

    def left_s(self, mail: Mail) -> float | None:
        """Return how long the player may still think about *mail*; None: nobody knows."""
        return None if mail.limit_s is None else max(0.0, mail.limit_s - self.waited_s(mail))

    def waited_s(self, mail: Mail) -> float:
        """Return how long ago *mail* came."""
        return max(0.0, self._clock.now_s() - mail.came_s)

    def event_id(self, mail: Mail) -> str:
        """Return what a reader that has got *mail* may say when it comes again; nothing for one of the past."""
        return f"{self._epoch}.{mail.number}" if mail.number else ""

    @contextmanager
    def reading(self, last_event_id: str = "", *, with_past: bool = False) -> Iterator[Reader]:
        """Connect the player while the block runs; a reader from before is told that it is not the one any more.

        Letters up to the one with *last_event_id* are not told again. A reader *with_past* is told, before the first
        letter of a match that began without it, what was answered in that match before.
        """
        epoch, _, number = last_event_id.partition(".")
        is_known = epoch == self._epoch and number.isascii() and number.isdecimal() and len(number) < 10
        reader = self._reader = Reader(self, int(number) if is_known else 0, with_past=with_past)
        self._spread_news()
        self._on_connection()
        try:
            yield reader
        finally:
            if self._reader is reader:
                self._reader = None
                self._on_connection()

    def is_read_by(self, reader: Reader) -> bool:
        """Return whether *reader* is the player's latest."""
        return self._reader is reader

    def _spread_news(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


class Reader:
    """A connection of a player to its *mailbox*, which has got the letters up to the one with *number*."""

    def __init__(self, mailbox: Mailbox, number: int, *, with_past: bool = False) -> None:
        self._mailbox, self._number, self._with_past = mailbox, number, with_past
        self._known: set[str] = set()
        self._past: list[Mail] = []

    async def next(self) -> Mail | None:
        """Wait for a letter that this connection has not got; return None once there will be none.

        Then another connection has taken over, or the mailbox is closed.
        """
        while self._mailbox.is_read_by(self):
            found = self._next()
            if found is not None:
                return found
            await self._mailbox.news.wait()
        return None

    def _next(self) -> Mail | None:
        for mail in self._mailbox.waiting:
            if mail.number > self._number:
                self._learn_past(mail.letter.match_id)
                if self._past:
                    return self._past.pop(0)
                self._number = mail.number
                return mail
        return None

    def _learn_past(self, match_id: str) -> None:
        if self._with_past and match_id not in self._known:
            self._known.add(match_id)
            self._past += self._mailbox.past(match_id)


class Mailboxes:
    """The mailboxes of all players that dial in, by name, and of the seats that people have taken.

    `on_connection` is called with the name of a player that has come or gone.
    """

    def __init__(self, clock: Clock = _SYSTEM_CLOCK) -> None:
        self.clock = clock
        self.on_connection: Callable[[str], None] = lambda _: None
        self._mailboxes: dict[str, Mailbox] = {}
        self._seats: dict[tuple[str, str], Mailbox] = {}

    def mailbox(self, player_name: str) -> Mailbox:
        """Return the mailbox of a player."""
        if player_name not in self._mailboxes:
            self._mailboxes[player_name] = Mailbox(self.clock, partial(self._tell, player_name))
        return self._mailboxes[player_name]

    def _tell(self, player_name: str) -> None:
        self.on_connection(player_name)

    def is_connected(self, player_name: str) -> bool:
        """Return whether a player would get a letter at once."""
        return player_name in self._mailboxes and self._mailboxes[player_name].is_connected

    def forget(self, player_name: str) -> None:
        """Take a player's mailbox away, with all that waits in it."""
        mailbox = self._mailboxes.pop(player_name, None)
        if mailbox is not None:
            mailbox.close()

    def seat(self, match_id: str, role: str) -> Mailbox:
        """Return the mailbox of the person who plays *role* in a match."""
        return self._seats.setdefault((match_id, role), Mailbox(self.clock))

    def has_seat(self, match_id: str, role: str) -> bool:
        """Return whether a person plays *role* in a match that is being played here."""
        return (match_id, role) in self._seats

    def leave_seat(self, match_id: str, role: str) -> None:
        """Take the mailbox of a seat away: the match is over."""
        self._seats.pop((match_id, role), None)
