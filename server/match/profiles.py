"""How the game manager speaks with one player: the dialect of GDL-II, upper or lower case, grace, scrambled names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from gdl.messages import Dialect


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

    `dialect` matters in GDL-II alone: games of GDL-I have one form of PLAY. `grace_s` is added to every clock of the
    player; `is_scrambled` renames the constants of the game for it. `is_told_legal_moves` sends a line
    `(LEGAL <match id> (<move> ...))` before PLAY, for child processes that cannot read rules; nobody answers it.

    *Units*: seconds.
    """

    dialect: Dialect = Dialect.GDL2
    case: Case = Case.AS_IS
    grace_s: float = 1.0
    is_scrambled: bool = False
    is_told_legal_moves: bool = False
