"""How the game manager speaks with one player: the dialect of GDL-II, upper or lower case, grace, scrambled names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Dialect(Enum):
    """How PLAY and STOP tell a player of a GDL-II game what it perceived; GDL-I has one form only."""

    OLDER = "older"
    CURRENT = "current"


class Case(Enum):
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

    `grace_s` is added to every clock of the player; `is_scrambled` renames the constants of the game for it.
    *Units*: seconds.
    """

    dialect: Dialect = Dialect.CURRENT
    case: Case = Case.AS_IS
    grace_s: float = 1.0
    is_scrambled: bool = False
