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
        id: the same for the same message, also when another process of the game manager sends it again; it says
            nothing of the role, whose own name the player need not know.
        number: the letters of a mailbox in the order in which they came.
        reply: takes what is answered.
        came_s: when it came, by the clock of the mailbox.
        limit_s: how long the player may think, as far as it is told; None: nobody knows.
    """

    id: str
    number: int
    letter: Letter
    reply: ReplyBuffer
    came_s: float = 0.0
    limit_s: float | None = None
    answered: asyncio.Event = field(default_factory=asyncio.Event)

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


def letter_id(match_id: str, step: int, message: str) -> str:
    """Return the id of the letter with *message* of *step*."""
    return f"{match_id}:{step}:{message}"
