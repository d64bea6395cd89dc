"""What is agreed before a match begins: clocks, seeds, seats, and how the server speaks with each player."""

import base64
import difflib
import hashlib
import math
import secrets
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from gdl.errors import UnknownNameError
from gdl.game import Role
from gdl.language.terms import Term
from gdl.wire.messages import Dialect
from server.errors import ProfileWordError


def move_by_chance(moves: Sequence[Term], seed: int, step: int, role: Role) -> Term:
    """Return one of *moves*, which must be in the order of `State.legal_moves`.

    It depends on nothing but the arguments: neither on time, nor on which reply came first, nor on Python's version.
    """
    digest = hashlib.sha256(f"{seed} {step} {role}".encode()).digest()
    return moves[int.from_bytes(digest) % len(moves)]


class Case(StrEnum):
    """In which case rules, roles, moves and percepts are sent; the match id always goes as it is."""

    AS_IS = "as is"
    UPPER = "upper"
    LOWER = "lower"

    def apply(self, text: str) -> str:
        """Return *text* in this case."""
        if self is Case.AS_IS:
            return text
        return text.upper() if self is Case.UPPER else text.lower()


@dataclass(frozen=True, slots=True)
class Profile:
    """What one player needs to be spoken to.

    `dialect` matters in GDL-II alone: games of GDL-I have one form of PLAY. `grace_s` is added to every clock of the
    player; `is_scrambled` renames the constants of the game for it. `gets_legal_moves` sends a line
    `(LEGAL <match id> (<move> ...))` before PLAY, for child processes that cannot read rules; it has no reply.

    *Units*: seconds.
    """

    dialect: Dialect = Dialect.GDL2
    case: Case = Case.AS_IS
    grace_s: float = 1.0
    is_scrambled: bool = False
    gets_legal_moves: bool = False


MAX_CLOCK_S: Final = 86_400
MAX_ROLES: Final = 16
MAX_GRACE_S: Final = 60.0
SEED_BITS: Final = 63
"""How long a seed may be: it fits into the integers of most JSON readers."""
_GRACE: Final = "grace:"
_WORDS: Final[Mapping[str, Mapping[str, Any]]] = {
    Dialect.GDL2.value: {"dialect": Dialect.GDL2},
    Dialect.GDL2_PERCEPTS.value: {"dialect": Dialect.GDL2_PERCEPTS},
    "upper": {"case": Case.UPPER},
    "lower": {"case": Case.LOWER},
    "as-is": {"case": Case.AS_IS},
    "scrambled": {"is_scrambled": True},
    "unscrambled": {"is_scrambled": False},
}
PROFILE_WORDS: Final = (*_WORDS, f"{_GRACE}SECONDS")
"""The words that there are."""


def changed_profile(profile: Profile, text: str) -> Profile:
    """Return *profile* with what the words of *text* change, separated by commas.

    Raises:
        UnknownNameError: a word that is none; it suggests the nearest.
        ProfileWordError: a grace that is none.

    Example:
        >>> changed_profile(Profile(), "upper,grace:2.5").grace_s
        2.5
    """
    for word in map(str.strip, text.split(",")):
        profile = replace(profile, **_change(word))
    return profile


def _change(word: str) -> Mapping[str, Any]:
    if word.startswith(_GRACE):
        return {"grace_s": _grace_s(word)}
    if word not in _WORDS:
        raise UnknownNameError("word of a profile", word, difflib.get_close_matches(word, _WORDS) or [*PROFILE_WORDS])
    return _WORDS[word]


def _grace_s(word: str) -> float:
    try:
        found = float(word.removeprefix(_GRACE))
    except ValueError:
        found = math.nan
    if not 0 <= found <= MAX_GRACE_S:
        raise ProfileWordError(word, MAX_GRACE_S)
    return found


MAX_FAREWELL_S: Final = 10


class Substitute(StrEnum):
    """Which legal move takes the place of one that is illegal, late, garbled or missing."""

    RANDOM = "random"
    FIRST = "first"


def new_match_id(prefix: str = "match") -> str:
    """Return an unguessable id: *prefix*, a dot, then twelve letters and digits.

    Players name files after it and old servers take bare digits for a number, so it is never only digits.
    """
    kept = "".join(c for c in prefix if c.isascii() and (c.isalnum() or c == "."))
    return f"{kept or 'match'}.{secrets.choice(string.ascii_lowercase)}{_drawn(11)}"


def new_seed() -> int:
    """Return an unpredictable seed."""
    return secrets.randbits(SEED_BITS)


def new_random_token() -> str:
    """Return 32 unguessable letters and digits, as public hosts put into a record's address."""
    return _drawn(32)


def _drawn(n: int) -> str:
    """Return *n* unguessable letters and digits, five bits each, from one call of the system."""
    return base64.b32encode(secrets.token_bytes(n)).decode("ascii").lower()[:n]


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
