"""What is agreed before a match begins: clocks, seeds, and seats."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from gdl.game import Role
from server.match.chance import new_match_id, new_seed
from server.match.profiles import Profile

MAX_CLOCK_S: Final = 86_400
MAX_ROLES: Final = 16
MAX_FAREWELL_S: Final = 10


class Substitute(StrEnum):
    """Which legal move takes the place of one that is illegal, late, garbled or missing."""

    RANDOM = "random"
    FIRST = "first"


@dataclass(frozen=True, slots=True)
class Seat:
    """Who plays a role: the name of the player, for people and for the `Receiver` header, and how to speak to it."""

    role: Role
    player_name: str = "player"
    profile: Profile = field(default_factory=Profile)
    is_human: bool = False


@dataclass(frozen=True, slots=True)
class MatchSetup:
    """What is agreed on for a match.

    Attributes:
        seats: one for every role but the `random` of GDL-II, in any order.
        seed: decides the moves of `random` and the substitutes; with the replies it reproduces the match.
        scramble_seed: decides the names that players with a scrambling profile see.
        preview_clock_s: sends PREVIEW before START; None, the default, sends none.

    *Units*: clocks in whole seconds, as the messages write them.
    """

    seats: tuple[Seat, ...]
    start_clock_s: int
    play_clock_s: int
    match_id: str = field(default_factory=new_match_id)
    seed: int = field(default_factory=new_seed)
    scramble_seed: int = field(default_factory=new_seed)
    substitute: Substitute = Substitute.RANDOM
    preview_clock_s: int | None = None

    @property
    def farewell_clock_s(self) -> int:
        """The clock for STOP and ABORT: the play clock, with an upper bound, for the answer says nothing."""
        return min(self.play_clock_s, MAX_FAREWELL_S)
