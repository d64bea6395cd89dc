"""Profiles: how the server speaks with a player, and the words that say it on command lines."""

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from gdl.errors import UnknownNameError
from gdl.wire.messages import Dialect
from server.errors import ProfileWordError


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


MAX_GRACE_S: Final = 60.0
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
