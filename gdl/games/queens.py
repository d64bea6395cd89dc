"""The family of the queens puzzle: n queens on n by n cells."""

from string import Template
from typing import Final

from gdl.games.families import GeneratedGame, chain, check_size, fact, lines_of, unary

MAX_QUEENS: Final = 40

_RULES: Final = Template("""\
; $n queens on $n by $n cells, of which none attacks another. Made by `$command`.

(role player)

; fluents and moves: a queen for each row, from row 1

(<= (base (queen ?x ?y))
    (index ?x)
    (index ?y))
(<= (base (row ?y))
    (index ?y))
(base (row $full))

; the columns and diagonals that are taken
(<= (base (taken ?line))
    (lies ?x ?y ?line))

(<= (input player (place ?x))
    (index ?x))

$indices
$successors
(succ $n $full)

; (plus x y sum)
(<= (plus ?x 1 ?sum)
    (index ?x)
    (follows ?x ?sum))
(<= (plus ?x ?y2 ?sum2)
    (plus ?x ?y ?sum)
    (index ?y2)
    (follows ?y ?y2)
    (follows ?sum ?sum2))
$sums

; (mirror y y2): the rows from the other side
(mirror 1 $n)
(<= (mirror ?y2 ?z)
    (mirror ?y ?z2)
    (index ?y2)
    (succ ?y ?y2)
    (index ?z)
    (succ ?z ?z2))

; (lies x y line): the lines along which a queen on (x, y) attacks
(<= (lies ?x ?y (column ?x))
    (index ?x)
    (index ?y))
(<= (lies ?x ?y (falling ?sum))
    (plus ?x ?y ?sum))
(<= (lies ?x ?y (rising ?sum))
    (mirror ?y ?z)
    (plus ?x ?z ?sum))

; first position: an empty board

(init (row 1))

; legal moves

(<= (attacked ?x)
    (true (row ?y))
    (lies ?x ?y ?line)
    (true (taken ?line)))
(<= (free ?x)
    (true (row ?y))
    (index ?y)
    (index ?x)
    (not (attacked ?x)))
(<= (legal player (place ?x))
    (free ?x))

; what a move does

(<= (next (queen ?x ?y))
    (does player (place ?x))
    (true (row ?y)))
(<= (next (queen ?x ?y))
    (true (queen ?x ?y)))
(<= (next (taken ?line))
    (does player (place ?x))
    (true (row ?y))
    (lies ?x ?y ?line))
(<= (next (taken ?line))
    (true (taken ?line)))
(<= (next (row ?y2))
    (true (row ?y))
    (succ ?y ?y2))

; end and goals: a share of 100 for each queen

(<= open
    (free ?x))
(<= terminal
    (not open))

$scores

(<= (goal player ?goal)
    (true (row ?y))
    (score ?y ?goal))
""")

_METADATA: Final = Template("""\
# Made by `$command`.
title = "$n queens"
authors = ["the ggp project"]
roles = ["player"]
players = 1
tags = ["puzzle"]
source = "Max Bezzel, 1848"
summary = \"\"\"
Place $n queens on a board of $n x $n cells so that none attacks another along a row, a column or a
diagonal. The player places them row by row. The play ends when all are placed, which is worth 100, or when
the next row has no free cell; then each queen that was placed counts.
\"\"\"

[[decisions]]
unclear = "In which order are the queens placed?"
decided = "From row 1 upwards, one in each."

[board]
kind = "grid"
columns = "1..$n"
rows = "1..$n"
y = "up"
checkered = true

[[board.pieces]]
fluent = "(queen ?x ?y)"
symbol = "Q"
colour = "white"
shape = "queen"

[counts]
perft = [$perft]
longest_play = $longest

[counts.legal]
player = $n
""")

_PLACEMENTS: Final = {
    4: (4, 6, 4, 2),
    5: (5, 12, 14, 12, 10),
    6: (6, 20, 36, 46, 40, 4),
    7: (7, 30, 76, 140, 164, 94, 40),
    8: (8, 42, 140, 344, 568, 550, 312, 92),
}
"""In how many ways the first 1, 2, ... rows can be filled. Source: the nodes by depth of the field's backtracking."""


def queens_game(n: int) -> GeneratedGame:
    """Return the puzzle of *n* queens.

    Raises:
        SizeError: *n* is out of range; two and three queens always attack one another.
    """
    check_size("the puzzle", "queens", n, 4, MAX_QUEENS)
    known = _PLACEMENTS.get(n, (n, (n - 1) * (n - 2)))
    values = {
        "command": f"ggp generate queens --queens {n}",
        "n": n,
        "full": n + 1,
        "indices": unary("index", range(1, n + 1)),
        "successors": chain("succ", range(1, n + 1)),
        "sums": chain("follows", range(1, 2 * n + 1)),
        "scores": lines_of(fact("score", y, 100 * (y - 1) // n) for y in range(1, n + 2)),
        "perft": ", ".join(map(str, known)),
        "longest": n,
    }
    return GeneratedGame(_RULES.substitute(values), _METADATA.substitute(values))
