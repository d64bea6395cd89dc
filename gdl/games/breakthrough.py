"""The family of Breakthrough: a board of any size, with two rows of pieces on each side."""

from string import Template
from typing import Final

from gdl.games.families import GeneratedGame, chain, check_size, unary

MAX_BREAKTHROUGH_SIDE: Final = 26

_RULES: Final = Template("""\
; Breakthrough on $columns columns and $rows rows. Made by `$command`.

(role white)
(role black)

; fluents and moves

(<= (base (cell ?x ?y ?player))
    (role ?player)
    (column ?x)
    (row ?y))
(<= (base (control ?player))
    (role ?player))

(<= (input ?player (move ?x ?y ?x ?y2))
    (column ?x)
    (ahead ?player ?y ?y2))
(<= (input ?player (move ?x ?y ?x2 ?y2))
    (beside ?x ?x2)
    (ahead ?player ?y ?y2))
(<= (input ?player noop)
    (role ?player))

$columns_facts
$rows_facts
$successors

(<= (ahead white ?y ?y2)
    (row ?y)
    (row ?y2)
    (succ ?y ?y2))
(<= (ahead black ?y2 ?y)
    (row ?y)
    (row ?y2)
    (succ ?y ?y2))

(<= (beside ?x ?x2)
    (column ?x)
    (column ?x2)
    (succ ?x ?x2))
(<= (beside ?x2 ?x)
    (column ?x)
    (column ?x2)
    (succ ?x ?x2))

(home white 1)
(home white 2)
(home black $second_last)
(home black $rows)

(far_side white $rows)
(far_side black 1)

; first position

(<= (init (cell ?x ?y ?player))
    (home ?player ?y)
    (column ?x))
(init (control white))

; legal moves: straight ahead only to an empty cell, aslant also to take a piece

(<= (legal ?player (move ?x ?y ?x ?y2))
    (true (control ?player))
    (true (cell ?x ?y ?player))
    (ahead ?player ?y ?y2)
    (not (true (cell ?x ?y2 white)))
    (not (true (cell ?x ?y2 black))))
(<= (legal ?player (move ?x ?y ?x2 ?y2))
    (true (control ?player))
    (true (cell ?x ?y ?player))
    (ahead ?player ?y ?y2)
    (beside ?x ?x2)
    (not (true (cell ?x2 ?y2 ?player))))
(<= (legal white noop)
    (true (control black)))
(<= (legal black noop)
    (true (control white)))

; what a move does

(<= (next (cell ?x2 ?y2 ?player))
    (does ?player (move ?x ?y ?x2 ?y2)))
(<= (next (cell ?x ?y ?player))
    (true (cell ?x ?y ?player))
    (not (touched ?x ?y)))
(<= (next (control black))
    (true (control white)))
(<= (next (control white))
    (true (control black)))

(<= (touched ?x ?y)
    (does ?player (move ?x ?y ?x2 ?y2)))
(<= (touched ?x2 ?y2)
    (does ?player (move ?x ?y ?x2 ?y2)))

; end and goals

(<= (through ?player)
    (far_side ?player ?y)
    (true (cell ?x ?y ?player)))

(<= (has_pieces ?player)
    (true (cell ?x ?y ?player)))

(<= (wins ?player)
    (through ?player))
(<= (wins ?player)
    (role ?player)
    (role ?other)
    (distinct ?player ?other)
    (not (has_pieces ?other)))

(<= terminal
    (wins ?player))

(<= (goal ?player 100)
    (wins ?player))
(<= (goal ?player 0)
    (role ?player)
    (not (wins ?player)))
""")

_METADATA: Final = Template("""\
# Made by `$command`.
title = "Breakthrough on $columns x $rows cells"
authors = ["the ggp project"]
roles = ["white", "black"]
players = 2
tags = ["race", "capture"]
source = "Dan Troyka, 2000"
summary = \"\"\"
Two players have two rows of pieces each on a board of $columns columns and $rows rows. A piece moves one
cell ahead, straight or aslant; it takes an enemy's piece only aslant, and goes straight only to an empty
cell. The player that first brings a piece to the far side, or takes the enemy's last piece, wins; there
is no draw.
\"\"\"

[board]
kind = "grid"
columns = "1..$columns"
rows = "1..$rows"
checkered = true
turn = "(control ?role)"

[[board.pieces]]
fluent = "(cell ?x ?y ?piece)"
symbols = { white = "W", black = "B" }
colours = { white = "white", black = "blue" }
shape = "pawn"
fills = { white = "white", black = "black" }

[counts]
perft = [$moves]

[counts.legal]
white = $moves
black = 1
""")


def breakthrough_game(columns: int, rows: int) -> GeneratedGame:
    """Return Breakthrough on that many *columns* and *rows*; on 8 by 8 it is the library's.

    Raises:
        SizeError: a number is out of range.
    """
    check_size("Breakthrough", "columns", columns, 2, MAX_BREAKTHROUGH_SIDE)
    check_size("Breakthrough", "rows", rows, 4, MAX_BREAKTHROUGH_SIDE)
    aslant = 2 * (columns - 1)
    values = {
        "command": f"ggp generate breakthrough --columns {columns} --rows {rows}",
        "columns": columns,
        "rows": rows,
        "second_last": rows - 1,
        "columns_facts": unary("column", range(1, columns + 1)),
        "rows_facts": unary("row", range(1, rows + 1)),
        "successors": chain("succ", range(1, max(columns, rows) + 1)),
        "moves": aslant + (columns if rows > 4 else 0),
    }
    return GeneratedGame(_RULES.substitute(values), _METADATA.substitute(values))
