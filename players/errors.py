"""What can go wrong in `players`, beyond the errors of `gdl`."""

from __future__ import annotations

from collections.abc import Sequence

from gdl.errors import CallerError, GdlError


class PlayerFileError(CallerError):
    """A file or module does not hold the player that was named."""

    def __init__(self, spec: str, reason: str) -> None:
        super().__init__(spec, reason)
        self.spec, self.reason = spec, reason

    def __str__(self) -> str:
        return f"no player in {self.spec!r}: {self.reason}"


class UnclearMoveError(CallerError):
    """What a person typed means no move, or several: `moves` are the texts of those that it could mean."""

    def __init__(self, typed: str, moves: Sequence[str]) -> None:
        super().__init__(typed, moves)
        self.typed, self.moves = typed, tuple(moves)

    def __str__(self) -> str:
        if self.moves:
            return f"{self.typed!r} could be {', '.join(self.moves)}"
        return f"{self.typed!r} is no legal move"


class GaveUpError(GdlError):
    """The person at the terminal quit, or closed it."""

    def __str__(self) -> str:
        return "the person quit"


class HostError(GdlError):
    """A game manager that a player dials refuses it, or is none: trying again would not help."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(url, reason)
        self.url, self.reason = url, reason

    def __str__(self) -> str:
        return f"{self.url}: {self.reason}"


class HostAwayError(GdlError):
    """A game manager cannot be reached now, or failed: trying again may help."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class ReplyRefusedError(GdlError):
    """A game manager does not take the reply to a letter: it is too late, or another one came before."""

    def __init__(self, letter_id: str, reason: str) -> None:
        super().__init__(letter_id, reason)
        self.letter_id, self.reason = letter_id, reason

    def __str__(self) -> str:
        return self.reason
