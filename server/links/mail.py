"""A letter in a mailbox: what its player is told of it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Final

from gdl.errors import MessageError
from gdl.wire import elements
from server.match.link import Letter, ReplyBuffer

LEGAL: Final = "(LEGAL "


@dataclass(eq=False, slots=True)
class Mail:
    """A letter that waits until it is answered or nobody waits for it any more.

    Attributes:
        id: the same for the same message, also when another process of the game manager sends it again.
        number: the letters of a mailbox in the order in which they came.
        is_over_s: when no reply is taken any more, by the clock of the mailbox; None: never.
    """

    id: str
    number: int
    role: str
    letter: Letter
    reply: ReplyBuffer
    is_over_s: float | None
    came: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def text(self) -> str:
        """The message itself, in one line of KIF."""
        return self.letter.text.rpartition("\n")[2]

    @property
    def message(self) -> str:
        """Which message it is: `START`, `PLAY`, `STOP`, ..."""
        return keyword(self.letter)

    @property
    def legal_moves(self) -> tuple[str, ...]:
        """The texts of the legal moves, if the letter tells them."""
        first, newline, _ = self.letter.text.partition("\n")
        if not (newline and first.startswith(LEGAL)):
            return ()
        try:
            *_, moves = elements(first) or ("",)
            return elements(moves) or ()
        except MessageError:
            return ()


def keyword(letter: Letter) -> str:
    """Return which message *letter* holds."""
    return letter.text.rpartition("\n")[2].lstrip("(").partition(" ")[0].rstrip(")").upper()


def mail_id(letter: Letter, role: str) -> str:
    """Return the id of *letter* to the player of *role*."""
    return letter_id(letter.match_id, letter.step, keyword(letter), role)


def letter_id(match_id: str, step: int, message: str, role: str) -> str:
    """Return the id of the letter with *message* of *step* to the player of *role*."""
    return f"{match_id}:{step}:{message}:{role}"
