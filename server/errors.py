"""Everything that can go wrong in `server`, each error saying whose fault it is and carrying its data.

`MatchRecordError` is the record's fault, `gdl.errors.CallerError` the caller's; what a remote player does wrong never
raises out of a match: it is an event of the match.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gdl.errors import CallerError, GdlError, RuleFileError

if TYPE_CHECKING:
    from server.validating.validation import Validation


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


class StorageError(ServerError):
    """The database failed: `database` is its address without a password."""

    def __init__(self, database: str, reason: str) -> None:
        super().__init__(database, reason)
        self.database, self.reason = database, reason

    def __str__(self) -> str:
        return f"the database {self.database}: {self.reason}"


class DatabaseOpenError(StorageError, CallerError):
    """The database cannot be opened: it is not there, nobody answers, or it holds something else."""


class DatabaseLockedError(DatabaseOpenError):
    """Another process serves from this database, which only one may at a time."""

    def __init__(self, database: str) -> None:
        super().__init__(
            database, "another server uses it; stop that one first, or name another database (several share PostgreSQL)"
        )

    def __reduce__(self) -> tuple[type[DatabaseLockedError], tuple[str]]:
        return (DatabaseLockedError, (self.database,))


class DatabaseVersionError(DatabaseOpenError):
    """The tables are of another version of this program than the one that runs."""

    def __init__(self, database: str, found: str, known: str) -> None:
        newer = found > known
        what = "of a newer version of ggp: install that one" if newer else "of an older version, and may not be changed"
        super().__init__(database, f"its tables are {what} (revision {found or 'none'}; this is {known})")
        self.found, self.known = found, known

    def __reduce__(self) -> tuple[type[DatabaseVersionError], tuple[str, str, str]]:
        return (DatabaseVersionError, (self.database, self.found, self.known))


class TargetExistsError(CallerError):
    """What should be written is there already, and nobody said that it may be replaced."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self.target = target

    def __str__(self) -> str:
        return f"{self.target} is there already, and not empty; name another one, or replace it with --force"


class LostMatchError(StorageError):
    """The match is no longer this process's: another one took it over, or it was deleted."""

    def __init__(self, database: str, match_id: str) -> None:
        super().__init__(database, f"match {match_id} is played by another server, or was deleted")
        self.match_id = match_id

    def __reduce__(self) -> tuple[type[LostMatchError], tuple[str, str]]:
        return (LostMatchError, (self.database, self.match_id))


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


class ConfigurationError(CallerError):
    """A configuration file says what no option can be; `suggestions` are options that may have been meant."""

    def __init__(self, path: Path, reason: str, suggestions: Sequence[str] = ()) -> None:
        super().__init__(path, reason, suggestions)
        self.path, self.reason, self.suggestions = path, reason, tuple(suggestions)

    def __str__(self) -> str:
        meant = f"; did you mean {' or '.join(self.suggestions)}?" if self.suggestions else ""
        return f"{self.path}: {self.reason}{meant}"


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


class PlayerNameError(CallerError):
    """A player may not be called so."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name, self.reason = name, reason

    def __str__(self) -> str:
        return f"no player can be called {self.name[:100]!r}: {self.reason}"


class PlayerTakenError(CallerError):
    """Another player has that name."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"there is a player {self.name!r} already"


class UnknownPlayerError(CallerError):
    """No player of that name is registered."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"no player {self.name[:100]!r} is registered"


class NotDialInError(CallerError):
    """The player has an address, so that its letters are sent there and wait nowhere."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"the player {self.name!r} has an address, and does not dial in"


class TooManyPlayersError(CallerError):
    """Somebody has as many registered players as anybody may have."""

    def __init__(self, owner: str, max_players: int) -> None:
        super().__init__(owner, max_players)
        self.owner, self.max_players = owner, max_players

    def __str__(self) -> str:
        return f"{self.owner} has {self.max_players} players, and nobody may have more"


class GameNameError(CallerError):
    """A name that no uploaded game may have."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"no game can be called {self.name[:100]!r}: a name has up to 60 small letters, digits, - and _"


class GameTakenError(CallerError):
    """There is a game of that name already, of the library or of somebody else."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"there is a game called {self.name[:100]!r} already, which is not yours: choose another name"


class RulesUnfitError(CallerError):
    """Rules that are not kept because they are not fit to play; `validation` says why."""

    def __init__(self, name: str, validation: Validation) -> None:
        super().__init__(name, validation)
        self.name, self.validation = name, validation

    def __str__(self) -> str:
        return f"these rules are not fit to play: {self.validation.limit or 'the validator finds errors'}"


class NotAskedError(CallerError):
    """A person moves in a step in which nobody asks for it."""

    def __init__(self, step: int) -> None:
        super().__init__(step)
        self.step = step

    def __str__(self) -> str:
        return f"no move is asked for in step {self.step}"
