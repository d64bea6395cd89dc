"""Games for the tests of environments: those of the library that compile in no time, compiled once."""

from __future__ import annotations

from functools import cache
from typing import Final

from gdl import find_game, make_game
from gdl.game import Game

SMALL_GAMES: Final = (
    "tictactoe", "connectfour", "breakthrough", "nim", "rockpaperscissors", "kuhnpoker", "leducpoker",
    "phantomtictactoe", "darkhex", "eightpuzzle", "montyhall", "mummymaze", "zombies", "amazons",
)  # fmt: skip


@cache
def prepared(name: str) -> Game:
    """Return a game of the library, compiled."""
    return make_game(find_game(name).read(), "compiled")
