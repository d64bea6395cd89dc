"""What the tables of games, matches and players hold, row by row. *Units*: every time is in milliseconds since 1970."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from gdl import game
from server.tournament.fixtures import MatchResult
from server.tournament.scoring import ScoringRules, counted_goals, losers, rated_result


class MatchStatus(StrEnum):
    """What a match can be, in the order of its life: in the lobby it waits for people; the last three are ends."""

    LOBBY = "lobby"
    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    ABORTED = "aborted"
    FAILED = "failed"


class MatchPurpose(StrEnum):
    """What a match is for that no host and no tournament ordered; others come before it."""

    PRACTICE = "practice"
    """A player ordered it."""
    LADDER = "ladder"
    """It tells the ratings of idle players."""


class SeatKind(StrEnum):
    """Which way leads to the player in a seat; registered players are `http` or `dial-in`."""

    OWN = "own"
    """A player of ours."""
    HTTP = "http"
    DIAL_IN = "dial-in"
    HUMAN = "human"
    COMMAND = "command"
    """A program on this machine."""
    CHANCE = "chance"
    """No player: `random`, in GDL-II."""
    ABSENT = "absent"
    """A player that was known when the match was ordered, and is not any more."""
    UNKNOWN = "unknown"
    """What a row says that is damaged, or of another version of this program."""


class PlayerStatus(StrEnum):
    """Whether a registered player gets matches."""

    OK = "ok"
    PAUSED = "paused"


RANDOM: Final = str(game.RANDOM)
"""What chance is called in its seats; a player of ours is called so, too."""
NO_ORDER: Final[dict[str, Any]] = {"text": {"players": {}, "startClock": 0, "playClock": 0}}
"""What was ordered, as of a match of which that is not known."""
WAITING_STATUSES: Final = (MatchStatus.LOBBY, MatchStatus.QUEUED)
LIVE_STATUSES: Final = (*WAITING_STATUSES, MatchStatus.RUNNING)
ENDED_STATUSES: Final = frozenset(MatchStatus) - frozenset(LIVE_STATUSES)


@dataclass(frozen=True, slots=True)
class GameVersion:
    """Rules of a game, by content.

    Attributes:
        sha256: of the rules' text.
        about: the game's TOML text, None where it has none.
        verdict: what the validator says in a word.
        report: what it says at length.
        is_library: whether the game came with this program.
    """

    name: str
    sha256: str
    rules: str
    roles: tuple[str, ...]
    is_gdl2: bool
    created_ms: int
    about: str | None = None
    verdict: str = ""
    report: dict[str, Any] | None = None
    uploaded_by: str = ""
    is_library: bool = False

    @property
    def played_roles(self) -> tuple[str, ...]:
        """The roles that players play: not `random` where that is chance."""
        return tuple(role for role in self.roles if not (self.is_gdl2 and role == RANDOM))

    @property
    def fingerprint(self) -> str:
        """A hash of all that a picture depends on: the name, the rules and the description, in hexadecimal digits."""
        return hashlib.sha256(repr((self.name, self.sha256, self.about)).encode()).hexdigest()

    def called(self, name: str) -> GameVersion:
        """Return the same rules under another name."""
        return replace(self, name=name)


CLOCK_SLACK_MS: Final = 1_000
"""How far the clocks of servers that share a database may be apart."""


@dataclass(frozen=True, slots=True)
class PlayerRow:
    """A registered player.

    Attributes:
        kind: `http` (at `url`) or `dial-in`.
        status: whether it gets matches; if it is paused, for the `pause_reason`.
        n_failures: how often it failed since it last did well.
        max_matches: how many matches it plays at once.
        info: what it last answered to INFO, at `seen_ms`.
        version: what it is called since its owner last changed it.
        allows_challenges: whether others may order practice matches with it.
        joins_ladder: whether it plays matches of the ladder.
    """

    name: str
    kind: SeatKind
    owner: str
    created_ms: int
    url: str | None = None
    status: PlayerStatus = PlayerStatus.OK
    pause_reason: str = ""
    n_failures: int = 0
    max_matches: int = 1
    info: Any = None
    seen_ms: int | None = None
    version: str | None = None
    allows_challenges: bool = False
    joins_ladder: bool = True

    def was_registered(self, at_ms: int) -> bool:
        """Return whether this is the player that had its name at *at_ms*, and not one that took the name later."""
        return self.created_ms <= at_ms + CLOCK_SLACK_MS


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token of a caller; of its secret only the SHA-256 is kept."""

    id: str
    name: str
    role: str
    hash: str
    created_ms: int
    expires_ms: int | None = None
    revoked_ms: int | None = None
    used_ms: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class MatchRow:
    """A match as lists show it.

    Attributes:
        sha256: the version of the game.
        order: the JSON of what was ordered.
        is_hidden: whether some viewers may not know everything before the end (GDL-II, scrambled names).
        goals: by role order, once it is completed.
        holder: the process that plays it; it is its own until `lease_until_ms`.
        epoch: how many processes have begun or gone on with it.
        abort_reason: why its end was requested, or why it failed where the journal does not say.
        purpose: what it is for, where no host or tournament ordered it.
        damage: what of the row is damaged; few other values are known then.
        is_set_open: whether it is hidden, and a match with the same seeds waits or is played: one of its set in a
            tournament. What could help there is withheld until that is over, too.
    """

    id: str
    game: str
    sha256: str
    order: Any
    created_ms: int
    status: MatchStatus = MatchStatus.QUEUED
    ordered_by: str = ""
    tournament: str | None = None
    is_hidden: bool = False
    started_ms: int | None = None
    ended_ms: int | None = None
    n_steps: int = 0
    n_errors: int = 0
    goals: tuple[int | None, ...] | None = None
    holder: str | None = None
    lease_until_ms: int | None = None
    epoch: int = 0
    abort_reason: str | None = None
    purpose: MatchPurpose | None = None
    damage: str = ""
    is_set_open: bool = False

    def columns(self) -> dict[str, Any]:
        """Return what the table holds of it."""
        return {name: getattr(self, name) for name in self.__slots__ if name not in ("damage", "is_set_open")}

    @property
    def has_ended(self) -> bool:
        """Whether the match is over, however it ended."""
        return self.status in ENDED_STATUSES


@dataclass(frozen=True, slots=True)
class SeatRow:
    """Who plays a role in a match, and how it went: `position` is the role's place in the rules' order.

    `came_ms` is when the person came who plays it, `version` that of a registered player when the match began.
    """

    match_id: str
    role: str
    position: int
    player: str
    kind: SeatKind
    goal: int | None = None
    n_errors: int = 0
    thinking_ms: int = 0
    n_moves: int = 0
    came_ms: int | None = None
    version: str | None = None

    @property
    def is_missing(self) -> bool:
        """Whether a person plays it who has not come."""
        return self.kind == SeatKind.HUMAN and self.came_ms is None


@dataclass(frozen=True, slots=True)
class SeatResult:
    """How a match went for one role."""

    goal: int | None
    n_errors: int
    thinking_ms: int
    n_moves: int


@dataclass(frozen=True, slots=True)
class MatchSummary:
    """How a match ended, for its row and the rows of its seats: `seats` by role."""

    status: MatchStatus
    ended_ms: int
    n_steps: int
    n_errors: int
    goals: tuple[int | None, ...] | None
    seats: dict[str, SeatResult]


@dataclass(frozen=True, slots=True)
class RatedResult:
    """The result of a match between programs.

    Attributes:
        ended_ms: when it ended. *Units*: milliseconds since 1970.
        versions: the version of each player then, None where it has none; empty where no player has one.
        purpose: what the match was for, where that is kept.
        names: what the players are called without their versions, where `by_version` has added these.
        forfeit_errors: how many errors lose the match, where its tournament says so.
    """

    result: MatchResult
    ended_ms: int
    versions: tuple[str | None, ...] = ()
    purpose: MatchPurpose | None = None
    names: tuple[str, ...] = ()
    forfeit_errors: int | None = None

    @property
    def rules(self) -> ScoringRules:
        """What counts in the match."""
        return ScoringRules(forfeit_errors=self.forfeit_errors)

    @property
    def lost(self) -> frozenset[str]:
        """The players who have lost the match by their errors, whatever the goals are."""
        return losers(self.result, self.rules)

    @property
    def goals(self) -> tuple[int, ...]:
        """The goals that count, in the order of the roles."""
        return counted_goals(self.result, self.rules)

    @property
    def rated(self) -> MatchResult | None:
        """The result as ratings read it; None where all players have lost, which tells nothing of strength."""
        return rated_result(self.result, self.rules)
