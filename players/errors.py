"""What can go wrong in `players`, beyond the errors of `gdl`."""

from __future__ import annotations

from gdl.errors import CallerError


class PlayerFileError(CallerError):
    """A file or module does not hold the player that was named."""

    def __init__(self, spec: str, reason: str) -> None:
        super().__init__(spec, reason)
        self.spec, self.reason = spec, reason

    def __str__(self) -> str:
        return f"no player in {self.spec!r}: {self.reason}"
