"""The limits within which a game manager plays matches, and what may be set of practice and of the ladder."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from players.kit.worker import WorkerLimits
from server.hosting.cores import n_cores_here
from server.hosting.referees import RefereeLimits
from server.links.addresses import AllowedAddresses
from server.match.setup import MAX_ROLES
from server.spectating.broadcast import NO_DELAY, Delay
from server.storage.writer import RETRIES_S

MAX_RUNNING: Final = 1_000
MAX_QUEUED: Final = 10_000
PLAYER_MEMORY_MB: Final = 4096
NICENESS: Final = 5
"""What players of ours think about waits for whatever has to be in time."""
LEASE_S: Final = 10.0
LOBBY_S: Final = 1_800.0


@dataclass(frozen=True, slots=True)
class PracticeLimits:
    """How many practice matches the holder of a token may order: in 24 hours, and that are not over at once."""

    per_day: int = 200
    at_once: int = 4


@dataclass(frozen=True, slots=True)
class LadderSettings:
    """The games of the ladder of idle players, none where there is no ladder, and its clocks. *Units*: seconds."""

    games: tuple[str, ...] = ()
    start_clock: int = 10
    play_clock: int = 5


@dataclass(frozen=True, slots=True)
class GameManagerSettings:
    """The limits of a game manager.

    Attributes:
        max_running: how many matches are played at once.
        max_queued: how many more may wait.
        max_roles: how many roles a game may have that is uploaded or played.
        player_cores: on how many cores players of ours think, see `server.hosting.cores`.
        player_memory_mb: what each process of theirs may use, its game included. *Units*: megabytes.
        lobby_s: how long a match waits in the lobby for its people before it is cancelled. *Units*: seconds.
        lease_s: after how long another manager goes on with the matches of one that is silent. *Units*: seconds.
        retries_s: how long to wait, each time, before what could not be written is tried again. *Units*: seconds.
        signing_key: signs the records.
        targets: which addresses players may have; None allows all.
        referee_limits: what rules from outside may cost.
        broadcast_delay: how late spectators see matches whose order says nothing of it.
        live_insight: whether they see what players think while a match is played, where nothing is hidden.
        practice: how many matches players may order by themselves.
        ladder: what idle players play.
        games_folder: whose games are kept at the start, besides the library.
    """

    max_running: int = MAX_RUNNING
    max_queued: int = MAX_QUEUED
    max_roles: int = MAX_ROLES
    player_cores: int = field(default_factory=n_cores_here)
    player_memory_mb: int = PLAYER_MEMORY_MB
    lobby_s: float = LOBBY_S
    lease_s: float = LEASE_S
    retries_s: tuple[float, ...] = RETRIES_S
    signing_key: RSAPrivateKey | None = None
    targets: AllowedAddresses | None = None
    referee_limits: RefereeLimits = field(default_factory=RefereeLimits)
    broadcast_delay: Delay = NO_DELAY
    live_insight: bool = False
    practice: PracticeLimits = field(default_factory=PracticeLimits)
    ladder: LadderSettings = field(default_factory=LadderSettings)
    games_folder: Path | None = None

    @property
    def worker_limits(self) -> WorkerLimits:
        """What each process of a player of ours may use."""
        return WorkerLimits(self.player_memory_mb, NICENESS)
