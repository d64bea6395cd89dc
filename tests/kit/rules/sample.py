"""Games of the library for tests that take seconds for each: a sample of all kinds, or all of them."""

from __future__ import annotations

import os
from typing import Final

from gdl.games.library import game_names

_SAMPLE: Final = frozenset(
    [
        "breakthrough",
        "connectfour",
        "darkhex",
        "draughts",
        "eightpuzzle",
        "hex",
        "kuhnpoker",
        "mastermind",
        "montyhall",
        "mummymaze",
        "nim",
        "phantomtictactoe",
        "pig",
        "rockpaperscissors",
        "tictactoe",
        "tronfour",
        "twentyfortyeight",
        "zionsmall",
        "zombies",
    ]
)


def is_whole() -> bool:
    """Return whether tests leave nothing out (GGP_CONFORM=all, as `make conform` has it)."""
    return os.environ.get("GGP_CONFORM") == "all"


def sampled_games() -> tuple[str, ...]:
    """Return the names of a fixed sample, or with GGP_CONFORM=all of all games."""
    return tuple(name for name in game_names() if is_whole() or name in _SAMPLE)
