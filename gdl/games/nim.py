"""The family of Nim: heaps of any sizes, in normal or misère play."""

from collections.abc import Sequence
from functools import reduce
from operator import xor
from string import Template
from typing import Final

from gdl.games.families import GeneratedGame, chain, check_size, fact, lines_of

MAX_HEAPS: Final = 26
MAX_HEAP_SIZE: Final = 100

_RULES: Final = Template("""\
; Nim with heaps of $sizes. Made by `$command`.

(role left)
(role right)

; fluents and moves

(<= (base (heap ?heap ?size))
    (start ?heap ?most)
    (at_most ?size ?most))
(<= (base (control ?player))
    (role ?player))

(<= (input ?player (take ?heap ?number))
    (role ?player)
    (start ?heap ?most)
    (minus ?most ?number ?rest))
(<= (input ?player noop)
    (role ?player))

$starts

$successors

; (minus a b c): a - b = c, with b at least 1
(<= (minus ?size 1 ?rest)
    (succ ?rest ?size))
(<= (minus ?size ?number ?rest)
    (minus ?size ?less ?more)
    (succ ?less ?number)
    (succ ?rest ?more))

(<= (at_most ?size ?size)
    (start ?heap ?size))
(<= (at_most ?rest ?size)
    (minus ?size ?number ?rest))

; first position

(<= (init (heap ?heap ?size))
    (start ?heap ?size))
(init (control left))

; legal moves

(<= (legal ?player (take ?heap ?number))
    (true (control ?player))
    (true (heap ?heap ?size))
    (minus ?size ?number ?rest))
(<= (legal left noop)
    (true (control right)))
(<= (legal right noop)
    (true (control left)))

; what a move does

(<= (next (heap ?heap ?rest))
    (does ?player (take ?heap ?number))
    (true (heap ?heap ?size))
    (minus ?size ?number ?rest))
(<= (next (heap ?heap ?size))
    (true (heap ?heap ?size))
    (not (touched ?heap)))
(<= (next (control right))
    (true (control left)))
(<= (next (control left))
    (true (control right)))

(<= (touched ?heap)
    (does ?player (take ?heap ?number)))

; end and goals: who is to move when nothing is left has $has

(<= something_left
    (true (heap ?heap ?size))
    (distinct ?size 0))

(<= terminal
    (not something_left))

(<= (goal ?player $to_move)
    (true (control ?player)))
(<= (goal ?player $waiting)
    (role ?player)
    (not (true (control ?player))))
""")

_METADATA: Final = Template("""\
# Made by `$command`.
title = "Nim with heaps of $sizes"
authors = ["the ggp project"]
roles = ["left", "right"]
players = 2
tags = ["heaps", "theory"]
source = "Charles Bouton, Nim, a game with a complete mathematical theory, 1901"
summary = \"\"\"
There are heaps of $sizes things. Two players take in turn, left first, as many as they like from one heap,
at least one. The player that takes the last thing $outcome.
\"\"\"

[[decisions]]
unclear = "Does the last thing win or lose?"
decided = "The player that takes it $outcome. With perfect play $winner wins."

[[decisions]]
unclear = "What are the goals before the end?"
decided = "As if the play ended now: $to_move for the player to move, $waiting for the other one."

[board]
kind = "heaps"
turn = "(control ?role)"

[board.heaps]
fluent = "(heap ?heap ?size)"
symbol = "|"

[counts]
perft = [$things]
shortest_play = $heaps
longest_play = $things

[counts.legal]
left = $things
right = 1
""")


def nim_game(sizes: Sequence[int], *, misere: bool = False) -> GeneratedGame:
    """Return Nim with heaps of these *sizes*; in *misere* play, the player who takes the last thing loses.

    Raises:
        SizeError: there are too few or too many heaps, or one is empty or too large.
    """
    check_size("Nim", "heaps", len(sizes), 1, MAX_HEAPS)
    for size in sizes:
        check_size("a heap", "things", size, 1, MAX_HEAP_SIZE)
    values = {
        "command": f"ggp generate nim {' '.join(map(str, sizes))}{' --misere' if misere else ''}",
        "sizes": _enumeration(sizes),
        "starts": lines_of(fact("start", chr(ord("a") + i), size) for i, size in enumerate(sizes)),
        "successors": chain("succ", range(max(sizes) + 1)),
        "heaps": len(sizes),
        "things": sum(sizes),
        "has": "won" if misere else "lost",
        "outcome": "loses" if misere else "wins",
        "to_move": 100 if misere else 0,
        "waiting": 0 if misere else 100,
        "winner": "left" if first_wins(sizes, misere=misere) else "right",
    }
    return GeneratedGame(_RULES.substitute(values), _METADATA.substitute(values))


def first_wins(sizes: Sequence[int], *, misere: bool = False) -> bool:
    """Return whether the first player wins with perfect play.

    Source: Charles Bouton, Nim, a game with a complete mathematical theory, 1901.
    """
    nim_sum = reduce(xor, sizes, 0)
    return (nim_sum == 0) if misere and max(sizes) <= 1 else nim_sum != 0


def _enumeration(sizes: Sequence[int]) -> str:
    *others, last = map(str, sizes)
    return f"{', '.join(others)} and {last}" if others else last
