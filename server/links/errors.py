"""What can go wrong where letters wait for their replies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gdl.errors import CallerError

if TYPE_CHECKING:
    pass


class UnknownLetterError(CallerError):
    """No letter of that id went to the player, or it is too long ago."""

    def __init__(self, letter_id: str) -> None:
        super().__init__(letter_id)
        self.letter_id = letter_id

    def __str__(self) -> str:
        return f"no letter {self.letter_id[:200]!r} waits for this player"


class LateReplyError(CallerError):
    """Nobody waits for the reply to that letter any more: its clock is over, or its match."""

    def __init__(self, letter_id: str) -> None:
        super().__init__(letter_id)
        self.letter_id = letter_id

    def __str__(self) -> str:
        return f"the reply to the letter {self.letter_id[:200]!r} is too late"


class OtherReplyError(CallerError):
    """The letter has another reply already, which counts."""

    def __init__(self, letter_id: str) -> None:
        super().__init__(letter_id)
        self.letter_id = letter_id

    def __str__(self) -> str:
        return f"the letter {self.letter_id[:200]!r} was answered before, with something else, which counts"


class IllegalChoiceError(CallerError):
    """What a person wants to play is no legal move; `legal_moves` are."""

    def __init__(self, move: str, legal_moves: Sequence[str]) -> None:
        super().__init__(move, legal_moves)
        self.move, self.legal_moves = move, tuple(legal_moves)

    def __str__(self) -> str:
        shown = ", ".join(self.legal_moves[:20]) + (", ..." if len(self.legal_moves) > 20 else "")
        return f"{self.move[:200]!r} is no legal move{shown and f'; these are: {shown}'}"


class NotAskedError(CallerError):
    """A person moves in a step in which nobody asks for it."""

    def __init__(self, step: int) -> None:
        super().__init__(step)
        self.step = step

    def __str__(self) -> str:
        return f"no move is asked for in step {self.step}"
