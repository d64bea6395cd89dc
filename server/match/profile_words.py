"""How to speak with one player, in words: `upper,grace:2.5,scrambled`."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from gdl.errors import UnknownNameError
from gdl.messages import Dialect
from server.errors import ProfileWordError
from server.match.profiles import Case, Profile

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
