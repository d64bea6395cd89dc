"""The family of Hex: a rhombus of any side."""

from string import Template
from typing import Final

from gdl.games.families import GeneratedGame, chain, check_size, unary

MAX_HEX_SIDE: Final = 19

_RULES: Final = Template("""\
; Hex on $side by $side cells. Made by `$command`.
;
; A cell is a pair of x and y; its neighbours are the cells beside and above or below it, and on one diagonal.

(role red)
(role blue)

; fluents and moves

(<= (base (cell ?x ?y ?player))
    (role ?player)
    (index ?x)
    (index ?y))
(<= (base (control ?player))
    (role ?player))

(<= (input ?player (place ?x ?y))
    (role ?player)
    (index ?x)
    (index ?y))
(<= (input ?player noop)
    (role ?player))

$indices
$successors

(edge red 1 first)
(edge red $side last)
(edge blue 1 first)
(edge blue $side last)

; (beside x y u v)
(<= (step ?x ?y ?u ?y)
    (succ ?x ?u)
    (index ?y))
(<= (step ?x ?y ?x ?v)
    (index ?x)
    (succ ?y ?v))
(<= (step ?u ?y ?x ?v)
    (succ ?x ?u)
    (succ ?y ?v))
(<= (beside ?x ?y ?u ?v)
    (step ?x ?y ?u ?v))
(<= (beside ?u ?v ?x ?y)
    (step ?x ?y ?u ?v))

; first position

(init (control red))

; legal moves

(<= (taken ?x ?y)
    (true (cell ?x ?y ?player)))
(<= (legal ?player (place ?x ?y))
    (true (control ?player))
    (index ?x)
    (index ?y)
    (not (taken ?x ?y)))
(<= (legal red noop)
    (true (control blue)))
(<= (legal blue noop)
    (true (control red)))

; what a move does

(<= (next (cell ?x ?y ?player))
    (does ?player (place ?x ?y)))
(<= (next (cell ?x ?y ?player))
    (true (cell ?x ?y ?player)))
(<= (next (control blue))
    (true (control red)))
(<= (next (control red))
    (true (control blue)))

; end and goals: red joins the left to the right side, blue the lower to the upper one

(<= (joined red ?x ?y)
    (edge red ?x first)
    (true (cell ?x ?y red)))
(<= (joined blue ?x ?y)
    (edge blue ?y first)
    (true (cell ?x ?y blue)))
(<= (joined ?player ?u ?v)
    (joined ?player ?x ?y)
    (beside ?x ?y ?u ?v)
    (true (cell ?u ?v ?player)))

(<= (wins red)
    (edge red ?x last)
    (joined red ?x ?y))
(<= (wins blue)
    (edge blue ?y last)
    (joined blue ?x ?y))

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
title = "Hex on $side x $side cells"
authors = ["the ggp project"]
roles = ["red", "blue"]
players = 2
tags = ["connection"]
source = "Piet Hein, 1942, and John Nash, 1948"
summary = \"\"\"
Two players place stones in turn, red first, in the $cells cells of a rhombus. A cell has up to six
neighbours: those beside, above and below it, and those to the upper left and the lower right. Red wins with
a chain of neighbouring stones from the left to the right side, blue with one from the lower to the upper
side; there is no draw.
\"\"\"

[[decisions]]
unclear = "May blue take over red's first stone?"
decided = "No, there is no swap; red, who begins, has the advantage."

[board]
kind = "grid"
columns = "1..$side"
rows = "1..$side"
y = "up"
turn = "(control ?role)"

[[board.pieces]]
fluent = "(cell ?x ?y ?piece)"
symbols = { red = "R", blue = "B" }
colours = { red = "red", blue = "blue" }
shape = "disc"

[counts]
perft = [$cells]
shortest_play = $shortest
longest_play = $cells

[counts.legal]
red = $cells
blue = 1
""")


def hex_game(side: int) -> GeneratedGame:
    """Return Hex on *side* times *side* cells.

    Raises:
        SizeError: *side* is out of range.
    """
    check_size("Hex", "cells a side", side, 2, MAX_HEX_SIDE)
    numbers = range(1, side + 1)
    values = {
        "command": f"ggp generate hex --side {side}",
        "side": side,
        "cells": side**2,
        "shortest": 2 * side - 1,
        "indices": unary("index", numbers),
        "successors": chain("succ", numbers),
    }
    return GeneratedGame(_RULES.substitute(values), _METADATA.substitute(values))
