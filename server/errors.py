"""Everything that can go wrong in `server`, each error saying whose fault it is and carrying its data.

`MatchRecordError` is the record's fault, `gdl.errors.CallerError` the caller's; what a remote player does wrong never
raises out of a match: it is an event of the match.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias

from gdl.errors import CallerError, GdlError, RuleFileError, derived, question

if TYPE_CHECKING:
    from gdl.diagnostics import Span


INTERNAL: Final = {"code": "internal", "message": "the server failed", "hint": "its log says why"}
"""What the server tells of a crash, which no error of ours foresees: nothing of what it was."""
NameKind: TypeAlias = Literal["game", "player"]
"""What can be given a name that must be its own."""
_TAKEN: Final[dict[NameKind, str]] = {
    "game": "there is a game called {name[:100]!r} already, which is not yours: choose another name",
    "player": "there is a player {name!r} already",
}


class ServerError(GdlError):
    """The root of the errors that are this package's own."""


class MatchRecordError(ServerError, ValueError):
    """A file is no match record, or a record contradicts itself; `where` names the place in it."""

    template: ClassVar[str] = "{place}{message}"
    message: str
    where: str = ""

    @property
    def place(self) -> str:
        """The place with a colon, or nothing where there is none."""
        return self.where and f"{self.where}: "


class SignatureFormatError(MatchRecordError):
    """The public key or the signature of a record is missing or not in the public format; `where` is its key."""

    message: str = derived("missing, or not in the public format")
    where: str = derived("{key}")
    key: str


class KeyFileError(CallerError):
    """The file that should keep the key for signatures cannot be used."""

    template: ClassVar[str] = (
        "{path} keeps no key for signatures ({reason}); name a file that is not there, and it is made"
    )
    path: Path
    reason: str


class JournalExistsError(CallerError):
    """The journal of another match is where the journal of this one should be."""

    template: ClassVar[str] = (
        "{path} belongs to a match that is played now or broke off; `ggp replay` reads it; name another file"
    )
    path: Path


class PositionFileError(ServerError, ValueError):
    """A file of solved positions is faulty; `line` is where, 0 where it is the file as a whole."""

    template: ClassVar[str] = "{path}{place}: {message}"
    path: Path
    message: str
    line: int = 0

    @property
    def place(self) -> str:
        """The line as text, nothing where there is none."""
        return f", line {self.line}" if self.line else ""


class NoChoiceError(CallerError):
    """A player's search should be measured in a game in which no role has a choice."""

    template: ClassVar[str] = "no role has a choice before step {step}, so that there is no search to measure"
    step: int


class NoRoleError(CallerError):
    """A person or a player should play a game in which chance has the only role."""

    template: ClassVar[str] = "the game has no role that a player takes"


class NoGoalError(RuleFileError):
    """The rules give a role no goal value, or several, in a terminal state."""

    message: str = derived("{role} has not exactly one goal value in the terminal state of step {step}")
    span: Span | None = derived(None)
    hint: str | None = derived(None)
    role: str
    step: int


class SeatsError(CallerError):
    """The seats of a match are not one for every role that a player plays."""

    template: ClassVar[str] = "one player for each of {roles} expected, but given for {given}"
    seats: Sequence[str]
    roles: Sequence[str]

    @property
    def given(self) -> str:
        """The seats as text."""
        return ", ".join(self.seats) or "none"


class SystemRefusalError(ServerError):
    """The system gives no process, thread or file that a state of a match needs; it may give it later."""

    template: ClassVar[str] = "the state of the match cannot be worked out now: {reason}"
    reason: str


class PlayerSpecError(CallerError):
    """What should say where a player is says nothing of the kind."""

    template: ClassVar[str] = "no player at {spec!r}: {reason}"
    spec: str
    reason: str


class ProfileWordError(CallerError):
    """A word that should say how much grace a player has says no number of seconds up to *max_s*."""

    template: ClassVar[str] = "{word!r}: grace is a number of seconds from 0 to {max_s:g}, as in grace:2.5"
    word: str
    max_s: float


class PlayerStartError(ServerError):
    """A player that this process should run did not come up."""

    template: ClassVar[str] = "the player {spec} could not be started: {reason}"
    spec: str
    reason: str


class OrderRefusedError(CallerError):
    """A server does not take an order, for the *reason* that it gives."""

    template: ClassVar[str] = "{server}: {reason}"
    server: str
    reason: str


class UnknownMatchError(CallerError):
    """The game manager has no match of that id."""

    template: ClassVar[str] = "no match {match_id[:100]!r}"
    match_id: str


class TooManyMatchesError(ServerError):
    """As many matches wait as may."""

    template: ClassVar[str] = "as many matches wait already as may wait here ({max_waiting})"
    max_waiting: int


class ShuttingDownError(ServerError):
    """The game manager takes no more orders, since it is about to end."""

    template: ClassVar[str] = "the server shuts down, and takes no more orders"


class DemoError(ServerError):
    """The demonstration could not be shown to its end."""

    template: ClassVar[str] = "{message}"
    message: str


class RemotePlayerError(ServerError):
    """A remote player answered with something that is no reply; a match records it and goes on."""

    template: ClassVar[str] = "{message}"
    message: str


class HttpStatusError(RemotePlayerError):
    """A remote player answered with a *status* that is no success."""

    message: str = derived("HTTP status {status}{note}")
    status: int

    @property
    def note(self) -> str:
        """What is done about it, where the status asks for something."""
        return ": redirects are not followed" if 300 <= self.status < 400 else ""


class ForbiddenTargetError(RemotePlayerError):
    """A player is at an address that this server does not call, which the message does not name: records are public."""

    message: str = derived("the address is in a network that this server calls no players in")


class RecordDiffersError(MatchRecordError):
    """A record tells something else than the rules: `kind` of thing, at `step`, of `role` if it is one's."""

    message: str = derived("{kind} differs: the record has {recorded}; by the rules it is {expected}")
    where: str = derived("step {step}{of_role}")
    step: int
    role: str
    kind: str
    recorded: str
    expected: str

    @property
    def of_role(self) -> str:
        """The role after a comma, or nothing where it is of none."""
        return self.role and f", {self.role}"


class UnknownRequestError(CallerError):
    """The player has no request of that id, or it is too long ago."""

    template: ClassVar[str] = "no request {request_id[:200]!r} waits for this player"
    request_id: str


class LateReplyError(CallerError):
    """The reply to a request comes after its clock or its match has ended."""

    template: ClassVar[str] = "the reply to the request {request_id[:200]!r} is too late"
    request_id: str


class OtherReplyError(CallerError):
    """The request has another reply already, which counts."""

    template: ClassVar[str] = "the request {request_id[:200]!r} was answered before, with something else, which counts"
    request_id: str


class IllegalChoiceError(CallerError):
    """What a person wants to play is no legal move; `legal_moves` are."""

    template: ClassVar[str] = "{move[:200]!r} is no legal move{instead}"
    move: str
    legal_moves: Sequence[str]

    @property
    def instead(self) -> str:
        """The first of the legal moves, or nothing where there are none."""
        shown = ", ".join(self.legal_moves[:20]) + (", ..." if len(self.legal_moves) > 20 else "")
        return shown and f"; these are: {shown}"


class NotAskedError(CallerError):
    """A person moves in a step in which no move is asked for."""

    template: ClassVar[str] = "no move is asked for in step {step}"
    step: int


class InvalidNameError(CallerError):
    """A name that no uploaded game, or no player, may have."""

    template: ClassVar[str] = "no {kind} can be called {name[:100]!r}: {reason}"
    kind: NameKind
    name: str
    reason: str


class NameTakenError(CallerError):
    """A player has that name already, or a game of the library or of another owner."""

    template: ClassVar[str] = "{message}"
    kind: NameKind
    name: str

    @property
    def message(self) -> str:
        """What has the name, and what to do where that is of others."""
        return self._filled(_TAKEN[self.kind])


class TooFewCoresError(CallerError):
    """A match in which players of ours need more processes than may run at once, so that it could never begin."""

    template: ClassVar[str] = (
        "{n_processes} of its players need a process of ours, and {limit} may run at once "
        "(--player-cores); random and legal need none"
    )
    n_processes: int
    limit: int


class ScheduleError(CallerError):
    """The format of a tournament gives no schedule for its games and entrants."""

    template: ClassVar[str] = "{reason}"
    reason: str


class TooManyRolesError(CallerError):
    """A game of more roles than a match may have."""

    template: ClassVar[str] = "the game has {n_roles} roles, and no more than {limit} may be played here (--max-roles)"
    n_roles: int
    limit: int


class UnknownPlayerError(CallerError):
    """No player of that name is registered."""

    template: ClassVar[str] = "no player {name[:100]!r} is registered"
    name: str


class NotDialInError(CallerError):
    """The player has an address, so that its requests are sent there and no queue holds them."""

    template: ClassVar[str] = "the player {name!r} has an address, and does not dial in"
    name: str


class TooManyPlayersError(CallerError):
    """An owner has as many registered players as one may have."""

    template: ClassVar[str] = "{owner} has {max_players} players, and no owner may have more"
    owner: str
    max_players: int


class NoAdminError(CallerError):
    """Other machines can reach the server, and no token may administer it; `command` issues one."""

    template: ClassVar[str] = (
        "others may reach {host}, and there is no admin token yet; issue one, and start again:\n    {command}"
    )
    host: str
    command: str


class ConfigurationError(CallerError):
    """A configuration file says what no option can be; `suggestions` are options that may have been meant."""

    template: ClassVar[str] = "{path}: {reason}{meant}"
    path: Path
    reason: str
    suggestions: Sequence[str] = ()

    @property
    def meant(self) -> str:
        """The question whether one of the suggestions was meant."""
        return question(self.suggestions)


class TournamentFolderError(CallerError):
    """The folder of a tournament cannot be used, or holds something else."""

    template: ClassVar[str] = "{path}: {reason}"
    path: Path
    reason: str


class GameNameClashError(CallerError):
    """Two games of a tournament have one name: those of rule files are their names without `.kif`."""

    template: ClassVar[str] = "two games are called {name}, {first} and {second}: rename one of the files"
    name: str
    first: Path
    second: Path


class ClusterError(CallerError):
    """The Dask cluster that should play the matches of a tournament cannot."""

    template: ClassVar[str] = "the Dask cluster at {address}: {reason}"
    address: str
    reason: str


class ImportSourceError(CallerError):
    """What games should be imported from cannot be read, or is larger than it may be."""

    template: ClassVar[str] = "{source[:200]}: {reason}"
    source: str
    reason: str
