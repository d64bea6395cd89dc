"""What a game manager is allowed, and how much."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from server.hosting.child_referee import RefereeLimits
from server.links.targets import Targets

MAX_RUNNING: Final = 1_000
MAX_QUEUED: Final = 10_000
MAX_OWN_MATCHES: Final = 32
LEASE_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class HostSettings:
    """The limits of a game manager.

    Attributes:
        max_running: how many matches are played at once.
        max_queued: how many more may wait.
        max_own_matches: in how many matches players of ours play at once, each of them a process.
        lease_s: after how long another manager goes on with the matches of one that is silent. *Units*: seconds.
        signing_key: signs the records.
        targets: which addresses players may have; None allows all.
        referee_limits: what rules from outside may cost.
    """

    max_running: int = MAX_RUNNING
    max_queued: int = MAX_QUEUED
    max_own_matches: int = MAX_OWN_MATCHES
    lease_s: float = LEASE_S
    signing_key: RSAPrivateKey | None = None
    targets: Targets | None = None
    referee_limits: RefereeLimits = field(default_factory=RefereeLimits)
