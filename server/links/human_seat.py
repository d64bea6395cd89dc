"""People as players: their mailboxes answer what needs no thought, and wait for moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gdl.errors import MessageError
from gdl.kif import read_term
from gdl.messages import Play, read_message
from gdl.replies import find_move
from gdl.terms import Term
from gdl.wire import term_of_text
from server.links.errors import IllegalChoiceError
from server.links.mail import Mail, keyword
from server.links.mailbox import Mailbox, Mailboxes
from server.links.mailbox_link import MailboxLink
from server.match.link import Letter, ReplyBuffer

COURTESIES: Final = {"START": b"ready", "PREVIEW": b"ready", "STOP": b"done", "ABORT": b"aborted"}
"""What is answered for a person."""


class HumanLink:
    """The way to a person who plays *role*: only moves are asked for, and of these only what can be chosen.

    The letters have to tell the legal moves. A single move without arguments (a no-op) is made without asking.
    """

    def __init__(self, mailboxes: Mailboxes, role: str, grace_s: float = 0.0) -> None:
        self._mailboxes, self._role, self._grace_s = mailboxes, role, grace_s
        self._match_id: str | None = None

    async def deliver(self, letter: Letter, reply: ReplyBuffer) -> None:
        """Answer *letter*, or let it wait for the person."""
        self._match_id = letter.match_id
        mailbox = self._mailboxes.seat(letter.match_id, self._role)
        courtesy = COURTESIES.get(keyword(letter)) or _forced_move(letter)
        if courtesy is not None:
            reply.feed(courtesy)
            return
        await MailboxLink(mailbox, self._grace_s).deliver(letter, reply)

    async def close(self) -> None:
        """Take the mailbox away."""
        if self._match_id is not None:
            self._mailboxes.leave_seat(self._match_id, self._role)


def _forced_move(letter: Letter) -> bytes | None:
    if letter.answered is not None:
        return letter.answered.encode("utf-8", "replace")
    moves = Mail("", 0, letter, ReplyBuffer()).legal_moves
    is_forced = len(moves) == 1 and not moves[0].startswith("(")
    return moves[0].encode() if is_forced else None


@dataclass(frozen=True, slots=True)
class Turn:
    """What a person is asked: `told` is the last joint move or the percepts of it, None at first.

    *Units*: `left_s` in seconds, None where nobody knows.
    """

    step: int
    legal_moves: tuple[Term, ...]
    told: tuple[Term, ...] | None
    left_s: float | None


def turn_of(mailbox: Mailbox) -> Turn | None:
    """Return what the person is asked now; None: nothing."""
    mail = _asked(mailbox)
    if mail is None:
        return None
    play = read_message(mail.text)
    told = play.told if isinstance(play, Play) else None
    return Turn(mail.letter.step, tuple(map(read_term, mail.legal_moves)), told, mailbox.left_s(mail))


def choose(mailbox: Mailbox, letter_id: str, move: str) -> Term:
    """Answer the question with *letter_id* by *move*; return it as the rules write it. The same may come twice.

    Raises:
        IllegalChoiceError: it is no legal move; nothing is lost.
        LateReplyError, OtherReplyError, UnknownLetterError: as `Mailbox.answer`.
    """
    mail = _asked(mailbox)
    legal_moves = [] if mail is None or mail.id != letter_id else [read_term(text) for text in mail.legal_moves]
    try:
        said = term_of_text(move)
    except MessageError as error:
        raise IllegalChoiceError(move, list(map(str, legal_moves))) from error
    found = find_move(said, legal_moves) if legal_moves else said
    if found is None:
        raise IllegalChoiceError(move, list(map(str, legal_moves)))
    mailbox.answer(letter_id, str(found))
    return found


def _asked(mailbox: Mailbox) -> Mail | None:
    return next((mail for mail in reversed(mailbox.waiting) if mail.message == "PLAY"), None)
