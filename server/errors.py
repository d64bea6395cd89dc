"""What can go wrong in `server`, each error saying whose fault it is and carrying its data.

`gdl.errors.CallerError` is the caller's fault. What is of records, links and storage alone is in their `errors`, why a
request is refused in `server.refusals`.
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


class ProfileWordError(CallerError):
    """A word that should say how much grace a player has says no number of seconds up to *max_s*."""

    template: ClassVar[str] = "{word!r}: grace is a number of seconds from 0 to {max_s:g}, as in grace:2.5"
    word: str
    max_s: float


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
    hint: ClassVar[str] = "try again when some of them have begun"
    max_waiting: int


class ShuttingDownError(ServerError):
    """The game manager takes no more orders, since it is about to end."""

    template: ClassVar[str] = "the server shuts down, and takes no more orders"
    hint: ClassVar[str] = "order it when the server is back"


class DemoError(ServerError):
    """The demonstration could not be shown to its end."""

    template: ClassVar[str] = "{message}"
    message: str


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
    hint: ClassVar[str] = (
        "the page Players and GET /api/v1/players list those that are; one that dials in registers itself "
        "(`ggp player SPEC --connect URL --name NAME`), one with an address is registered with POST /api/v1/players"
    )
    name: str


class NotDialInError(CallerError):
    """The player has an address, so that its requests are sent there and no queue holds them."""

    template: ClassVar[str] = "the player {name!r} has an address, and does not dial in"
    name: str


class TooManyPlayersError(CallerError):
    """An owner has as many registered players as one may have."""

    template: ClassVar[str] = "{owner} has {max_players} players, and no owner may have more"
    hint: ClassVar[str] = "remove one that is not needed any more, with DELETE /api/v1/players/NAME"
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
