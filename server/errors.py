"""What can go wrong in `server`, each error saying whose fault it is and carrying its data.

`MatchRecordError` is the record's fault, `gdl.errors.CallerError` the caller's; what a remote player does wrong never
raises out of a match: it is an event of the match. Rooms that others need not know have errors of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gdl.errors import CallerError, GdlError, RuleFileError


class ServerError(GdlError):
    """The root of the errors that are this package's own."""


class MatchRecordError(ServerError, ValueError):
    """A file is no match record, or a record contradicts itself; `where` names the place in it."""

    def __init__(self, message: str, where: str = "") -> None:
        super().__init__(message, where)
        self.message, self.where = message, where

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


class SignatureFormatError(MatchRecordError):
    """The public key or the signature of a record is missing or not in the public format; `where` is its key."""

    def __init__(self, key: str) -> None:
        super().__init__("missing, or not in the public format", key)
        self.key = key

    def __reduce__(self) -> tuple[type[SignatureFormatError], tuple[str]]:
        return (SignatureFormatError, (self.key,))


class KeyFileError(CallerError):
    """The file that should keep the key for signatures cannot be used."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(path, reason)
        self.path, self.reason = path, reason

    def __str__(self) -> str:
        return f"{self.path} keeps no key for signatures ({self.reason}); name a file that is not there, and it is made"


class JournalExistsError(CallerError):
    """The journal of another match is where the journal of this one should be."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return (
            f"{self.path} belongs to a match that is played now or broke off; `ggp replay` reads it; name another file"
        )


class NoGoalError(RuleFileError):
    """The rules give a role no goal value, or several, in a terminal state."""

    def __init__(self, role: str, step: int) -> None:
        super().__init__(f"{role} has not exactly one goal value in the terminal state of step {step}")
        self.role, self.step = role, step

    def __reduce__(self) -> tuple[type[NoGoalError], tuple[str, int]]:
        return (NoGoalError, (self.role, self.step))


class SeatsError(CallerError):
    """The seats of a match are not one for every role that somebody plays."""

    def __init__(self, seats: Sequence[str], roles: Sequence[str]) -> None:
        super().__init__(seats, roles)
        self.seats, self.roles = tuple(seats), tuple(roles)

    def __str__(self) -> str:
        return (
            f"one player for each of {', '.join(self.roles)} expected, but given for {', '.join(self.seats) or 'none'}"
        )


class PlayerSpecError(CallerError):
    """What should say where a player is says nothing of the kind."""

    def __init__(self, spec: str, reason: str) -> None:
        super().__init__(spec, reason)
        self.spec, self.reason = spec, reason

    def __str__(self) -> str:
        return f"no player at {self.spec!r}: {self.reason}"


class ProfileWordError(CallerError):
    """A word that should say how much grace a player has says no number of seconds up to *max_s*."""

    def __init__(self, word: str, max_s: float) -> None:
        super().__init__(word, max_s)
        self.word, self.max_s = word, max_s

    def __str__(self) -> str:
        return f"{self.word!r}: grace is a number of seconds from 0 to {self.max_s:g}, as in grace:2.5"


class PlayerStartError(ServerError):
    """A player that this process should run did not come up."""

    def __init__(self, spec: str, reason: str) -> None:
        super().__init__(spec, reason)
        self.spec, self.reason = spec, reason

    def __str__(self) -> str:
        return f"the player {self.spec} could not be started: {self.reason}"


class RequestError(CallerError):
    """A request that is refused; `status` is the HTTP status of the answer, `headers` what else it has to have."""

    def __init__(self, code: str, message: str, hint: str = "", status: int = 400) -> None:
        super().__init__(code, message, hint, status)
        self.code, self.message, self.hint, self.status = code, message, hint, status
        self.headers: dict[str, str] = {}

    def __str__(self) -> str:
        return self.message


class UnknownMatchError(CallerError):
    """The game manager has no match of that id."""

    def __init__(self, match_id: str) -> None:
        super().__init__(match_id)
        self.match_id = match_id

    def __str__(self) -> str:
        return f"no match {self.match_id[:100]!r}"


class TooManyMatchesError(ServerError):
    """As many matches are being played as the game manager plays at once."""

    def __init__(self, max_running: int) -> None:
        super().__init__(max_running)
        self.max_running = max_running

    def __str__(self) -> str:
        return f"{self.max_running} matches are being played, and no more at once"


class DemoError(ServerError):
    """The demonstration could not be shown to its end."""


class RemotePlayerError(ServerError):
    """A remote player answered with something that is no reply; a match records it and goes on."""


class ForbiddenTargetError(RemotePlayerError):
    """A player is at an address that this server does not call; which one is not told, since records are public."""

    def __str__(self) -> str:
        return "the address is in a network that this server calls no players in"


class RecordDiffersError(MatchRecordError):
    """A record tells something else than the rules: `kind` of thing, at `step`, of `role` if it is one's."""

    def __init__(self, step: int, role: str, kind: str, recorded: str, expected: str) -> None:
        message = f"{kind} differs: the record has {recorded}; by the rules it is {expected}"
        super().__init__(message, f"step {step}, {role}" if role else f"step {step}")
        self.step, self.role, self.kind, self.recorded, self.expected = step, role, kind, recorded, expected

    def __reduce__(self) -> tuple[type[RecordDiffersError], tuple[int, str, str, str, str]]:
        return (RecordDiffersError, (self.step, self.role, self.kind, self.recorded, self.expected))
