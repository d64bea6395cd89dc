"""What players may be called."""

from __future__ import annotations

import re
from typing import Final

from players.registry import PLAYERS
from server.registry.errors import PlayerNameError

MAX_NAME: Final = 64
RESERVED: Final = frozenset(("nobody", "new", *PLAYERS))
"""Names that mean something else wherever a player is named; `human` is one of them."""
_NAME: Final = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{MAX_NAME - 1}}}")


def check_player_name(name: str) -> str:
    """Return *name* if a registered player may be called so.

    Raises:
        PlayerNameError: it may not.
    """
    if _NAME.fullmatch(name) is None:
        raise PlayerNameError(name, f"a name has 1 to {MAX_NAME} letters, digits, dots, dashes and underscores")
    if name.lower() in RESERVED:
        raise PlayerNameError(name, "that name means something else already")
    return name
