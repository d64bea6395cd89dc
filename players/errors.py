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
