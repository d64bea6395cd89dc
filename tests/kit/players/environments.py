"""Games for the tests of environments, compiled once: those of the library that compile in no time, and small ones."""

from __future__ import annotations

from functools import cache
from typing import Final

from gdl import make_game, read_rules
from gdl.game import Game

SMALL_GAMES: Final = (
    "tictactoe", "connectfour", "breakthrough", "nim", "rockpaperscissors", "kuhnpoker", "leducpoker",
    "phantomtictactoe", "darkhex", "eightpuzzle", "montyhall", "mummymaze", "zombies", "amazons",
)  # fmt: skip

LONER: Final = """
(role hiker) (init (at 0))
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4)
(<= (legal hiker walk) (true (at ?x)))
(<= (legal hiker noop) (true (at ?x)) (distinct ?x 1))
(<= (next (at ?y)) (true (at ?x)) (does hiker walk) (succ ?x ?y))
(<= (next (at ?x)) (true (at ?x)) (does hiker noop))
(<= (next (rested ?x)) (true (at ?x)) (does hiker noop))
(<= (next (rested ?x)) (true (rested ?x)))
(<= terminal (true (at 4)))
(<= (goal hiker 100) (true (rested 2)))
(<= (goal hiker 0) (not (true (rested 2))))
"""
"""A game of one role, which may wait where it has a choice, but not everywhere."""

RACE: Final = """
(role red) (role blue)
(init (at red 0)) (init (at blue 0)) (init (control red))
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
(other red blue) (other blue red)
(<= (legal ?r (go ?x ?y)) (true (control ?r)) (true (at ?r ?x)) (succ ?x ?y))
(<= (legal red noop) (true (control red)))
(<= (legal blue noop) (true (control blue)) (true (at blue 2)))
(<= (legal ?r noop) (true (control ?s)) (other ?s ?r))
(<= (next (at ?r ?y)) (does ?r (go ?x ?y)))
(<= (next (at ?r ?x)) (true (at ?r ?x)) (does ?r noop))
(<= (next (control ?r)) (true (control ?s)) (other ?s ?r) (not again))
(<= (next (control ?r)) (true (control ?r)) again)
(<= terminal (true (at ?r 5)))
(<= (goal ?r 100) (role ?r) (true (at ?r 5)))
(<= (goal ?r 0) (role ?r) (not (true (at ?r 5))))
"""
"""A game of turns in which the role to move may wait as well as move, red everywhere and blue somewhere."""

AGAIN: Final = "(<= again (does ?r (go 1 2)))"
"""A rule by which the state says whose turn it is, not the number of the step."""
NEVER: Final = "(<= again (does ?r (go 5 5)))"
HIDDEN: Final = "(<= (sees ?r moved) (does ?s (go ?x ?y)) (role ?r))"
"""A rule by which roles see only that a move was made."""


@cache
def made(rules: str) -> Game:
    """Return the game of *rules*, compiled."""
    return make_game(read_rules(rules), "compiled")
