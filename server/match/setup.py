"""What is agreed before a match begins: its id, clocks, seeds, and who sits where."""

from __future__ import annotations

import secrets
import string
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from gdl.game import Role
from server.match.profiles import Profile

_ID_CHARACTERS: Final = string.ascii_lowercase + string.digits
MAX_FAREWELL_S: Final = 10


class Substitute(Enum):
    """Which legal move takes the place of one that is illegal, late, garbled or missing."""

    RANDOM = "random"
    FIRST = "first"


def new_match_id(prefix: str = "match") -> str:
    """Return an id that nobody can guess: *prefix*, a dot, then twelve letters and digits.

    Players name files after it and old servers take bare digits for a number, so it is never only digits.
    """
    kept = "".join(c for c in prefix if c.isascii() and (c.isalnum() or c == "."))
    first = secrets.choice(string.ascii_lowercase)
    return f"{kept or 'match'}.{first}{''.join(secrets.choice(_ID_CHARACTERS) for _ in range(11))}"


def new_seed() -> int:
    """Return an unpredictable seed of 63 bits, so that it fits into any JSON reader's integers."""
    return secrets.randbits(63)


def new_random_token() -> str:
    """Return 32 letters and digits that nobody can guess, as public hosts put into a record's address."""
    return "".join(secrets.choice(_ID_CHARACTERS) for _ in range(32))


@dataclass(frozen=True, slots=True)
class Seat:
    """Who plays a role: the name of the player, for people and for the `Receiver` header, and how to speak to it."""

    role: Role
    player_name: str = "player"
    profile: Profile = field(default_factory=Profile)
    is_human: bool = False


@dataclass(frozen=True, slots=True)
class MatchSetup:
    """The terms of a match.

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
        """The clock for STOP and ABORT: the play clock, but nobody waits long for an answer that says nothing."""
        return min(self.play_clock_s, MAX_FAREWELL_S)
