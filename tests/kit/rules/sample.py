"""Games of the library for tests that take seconds for each: a sample of all kinds, or all of them."""

from __future__ import annotations

from typing import Final

from gdl.games.library import game_names
from tests.kit.exhaustive import IS_CONFORM

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


def sampled_games() -> tuple[str, ...]:
    """Return the names of a fixed sample, or with GGP_CONFORM=all of all games."""
    return tuple(name for name in game_names() if IS_CONFORM or name in _SAMPLE)
