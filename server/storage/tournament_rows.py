"""What the tables of tournaments hold, row by row. *Units*: every time is in milliseconds since 1970."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from server.storage.rows import LIVE_STATUSES, MatchStatus, PlayerRow, SeatRow
from server.tournament.fixtures import ScheduledMatch

if TYPE_CHECKING:  # plans load NumPy, which takes longer than all else that most commands need
    from server.tournament.plan import TournamentTerms
    from server.tournament.timetable import Timetable


class TournamentStatus(StrEnum):
    """What a tournament can be, in the order of its life; the last two are ends."""

    OPEN = "open"
    """It can be entered, and has not begun."""
    RUNNING = "running"
    PAUSED = "paused"
    OVER = "over"
    CANCELLED = "cancelled"


ONGOING_STATUSES: Final = (TournamentStatus.RUNNING, TournamentStatus.PAUSED)
"""What a tournament can be between its start and its end; also one that was paused because it could not start."""


class EntryRule(StrEnum):
    """Who may enter a tournament: all with a registered player, or whom the host enters."""

    OPEN = "open"
    INVITATION = "invitation"


@dataclass(frozen=True, slots=True)
class PinnedGame:
    """A game of a tournament: the version that is played throughout, and how many roles players have in it."""

    sha256: str
    n_roles: int


@dataclass(frozen=True, slots=True)
class TournamentRow:
    """A tournament.

    Attributes:
        owner: who ordered it.
        games: the games of the terms, by name.
        timetable: what it does by the clock; None: nothing.
        reason: why it is paused or cancelled.
        revision: how often it has changed.
    """

    name: str
    owner: str
    terms: TournamentTerms
    games: Mapping[str, PinnedGame]
    created_ms: int
    status: TournamentStatus = TournamentStatus.OPEN
    entry: EntryRule = EntryRule.OPEN
    reason: str = ""
    revision: int = 0
    started_ms: int | None = None
    ended_ms: int | None = None
    timetable: Timetable | None = None

    @property
    def waits_to_start(self) -> bool:
        """Whether it has not begun: it is open, or was paused before the start."""
        is_stopped = self.status == TournamentStatus.PAUSED and self.started_ms is None
        return self.status == TournamentStatus.OPEN or is_stopped

    @property
    def has_ended(self) -> bool:
        """Whether nothing more is played of it."""
        return self.status in (TournamentStatus.OVER, TournamentStatus.CANCELLED)

    @property
    def may_admit(self) -> bool:
        """Whether its host can enter players: before its start, or while it goes on; a knockout admits none late."""
        return self.waits_to_start or (self.status in ONGOING_STATUSES and not self.terms.format.is_knockout)

    def admits(self, at_ms: int) -> bool:
        """Return whether owners can enter their players by themselves at *at_ms*."""
        is_open = self.status == TournamentStatus.OPEN and self.entry == EntryRule.OPEN
        return is_open and (self.timetable is None or self.timetable.admits(at_ms))

    @property
    def is_played_alone(self) -> bool:
        """Whether each of its games has one role, so that goals are compared and none wins or loses a match."""
        return all(game.n_roles == 1 for game in self.games.values())

    @property
    def hides_games(self) -> bool:
        """Whether it is not to be known yet which games are played: their names are scrambled."""
        return self.terms.scramble and not self.has_ended


@dataclass(frozen=True, slots=True)
class EntrantRow:
    """An entrant of a tournament: `player` is how the player is named where matches are ordered, since `created_ms`."""

    name: str
    player: str
    position: int
    entered_by: str
    created_ms: int
    since_round: int = 1
    withdrawn_after: int | None = None

    def is_played_by(self, player: PlayerRow) -> bool:
        """Return whether *player* is the one that entered, or its owner's anew, and not another of its name."""
        is_it = player.was_registered(self.created_ms) or player.owner == self.entered_by
        return player.name == self.player and is_it


@dataclass(frozen=True, slots=True)
class AnnulmentRow:
    """A match of a tournament that does not count, and is played again or not."""

    match_id: str
    is_replayed: bool
    reason: str
    annulled_by: str
    at_ms: int


class InterventionKind(StrEnum):
    """What a host can do with a tournament."""

    START = "start"
    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    ANNUL = "annul"
    REPLAY = "replay"
    """To annul a match that is played again."""
    SUBSTITUTE = "substitute"
    WITHDRAW = "withdraw"


@dataclass(frozen=True, slots=True)
class InterventionRow:
    """What a host did with a tournament, and why.

    Attributes:
        match_id: the match that it concerns.
        entrant: the entrant that it concerns.
        player: who plays for the entrant from then on.
    """

    kind: InterventionKind
    made_by: str
    at_ms: int
    reason: str = ""
    match_id: str | None = None
    entrant: str | None = None
    player: str | None = None


@dataclass(frozen=True, slots=True)
class FixtureRow:
    """A match that a tournament has scheduled, and what has become of it.

    Attributes:
        forfeited: the entrants that have lost it by their absence, whatever came of the match.
        status: None where it was not ordered yet; else it was at `ordered_ms`.
        seats: those of players, by the order of the roles.
    """

    match: ScheduledMatch
    forfeited: tuple[str, ...] = ()
    status: MatchStatus | None = None
    ended_ms: int | None = None
    n_steps: int = 0
    abort_reason: str | None = None
    seats: tuple[SeatRow, ...] = ()
    ordered_ms: int | None = None

    @property
    def is_live(self) -> bool:
        """Whether the match waits or is played."""
        return self.status in LIVE_STATUSES
