"""The family of the m,n,k games: k in a line on m columns and n rows, with discs that fall or without."""

from dataclasses import dataclass
from string import Template
from typing import Final

from gdl.errors import SizeError
from gdl.games.families import GeneratedGame, chain, check_size, unary

MAX_CONNECT_SIDE: Final = 20

_RULES: Final = Template("""\
; $line in a line on $columns columns and $rows rows$falling. Made by `$command`.

(role first)
(role second)

; fluents and moves

(<= (base (cell ?x ?y ?player))
    (role ?player)
    (column ?x)
    (row ?y))
(<= (base (control ?player))
    (role ?player))

$columns_facts
$rows_facts
$successors

(other first second)
(other second first)

$moves

(<= (legal ?player noop)
    (other ?player ?other)
    (true (control ?other)))

(<= (next (cell ?x ?y ?player))
    (true (cell ?x ?y ?player)))
(<= (next (control ?other))
    (true (control ?player))
    (other ?player ?other))

(init (control first))

; the next cell in one of the four directions of a line

(<= (after level ?x ?y ?u ?y)
    (column ?x)
    (column ?u)
    (succ ?x ?u)
    (row ?y))
(<= (after upright ?x ?y ?x ?v)
    (column ?x)
    (row ?y)
    (row ?v)
    (succ ?y ?v))
(<= (after rising ?x ?y ?u ?v)
    (after level ?x ?y ?u ?y)
    (after upright ?u ?y ?u ?v))
(<= (after falling ?x ?v ?u ?y)
    (after level ?x ?v ?u ?v)
    (after upright ?u ?y ?u ?v))

; end and goals

(<= (in_line ?player)
$conditions)
(<= decided
    (in_line ?player))

(<= terminal
    decided)
(<= terminal
    (not open))

(<= (goal ?player 100)
    (in_line ?player))
(<= (goal ?player 0)
    (other ?player ?other)
    (in_line ?other))
(<= (goal ?player 50)
    (role ?player)
    (not decided))
""")

_FREE: Final = """\
; a stone may be placed in any empty cell

(<= (input ?player (place ?x ?y))
    (role ?player)
    (column ?x)
    (row ?y))
(<= (input ?player noop)
    (role ?player))

(<= (taken ?x ?y)
    (true (cell ?x ?y ?player)))
(<= (empty ?x ?y)
    (column ?x)
    (row ?y)
    (not (taken ?x ?y)))
(<= (legal ?player (place ?x ?y))
    (true (control ?player))
    (empty ?x ?y))
(<= (next (cell ?x ?y ?player))
    (does ?player (place ?x ?y)))
(<= open
    (empty ?x ?y))"""

_FALLING: Final = Template("""\
; a disc falls on those below it; (height x y): the next one of the column comes to rest in row y

(<= (base (height ?x ?y))
    (column ?x)
    (row ?y))
(<= (base (height ?x $full))
    (column ?x))
(<= (input ?player (drop ?x))
    (role ?player)
    (column ?x))
(<= (input ?player noop)
    (role ?player))

(<= (init (height ?x 1))
    (column ?x))

(<= (legal ?player (drop ?x))
    (true (control ?player))
    (true (height ?x ?y))
    (distinct ?y $full))
(<= (next (cell ?x ?y ?player))
    (does ?player (drop ?x))
    (true (height ?x ?y)))
(<= (next (height ?x ?above))
    (does ?player (drop ?x))
    (true (height ?x ?y))
    (succ ?y ?above))
(<= (next (height ?x ?y))
    (true (height ?x ?y))
    (not (dropped ?x)))
(<= (dropped ?x)
    (does ?player (drop ?x)))
(<= open
    (true (height ?x ?y))
    (distinct ?y $full))""")

_METADATA: Final = Template("""\
# Made by `$command`.
title = "$line in a line on $columns x $rows cells$falling"
authors = ["the ggp project"]
roles = ["first", "second"]
players = 2
tags = ["alignment"]
source = "traditional"
summary = \"\"\"
Two players put pieces on a board of $columns columns and $rows rows in turn$how. The player that first
has $line of them in a line, upright, level or slanting, wins; a full board without such a line is a
draw.
\"\"\"

[[decisions]]
unclear = "Do longer lines count?"
decided = "Yes: $line or more win."

[board]
kind = "grid"
columns = "1..$columns"
rows = "1..$rows"
y = "up"
turn = "(control ?role)"

[[board.pieces]]
fluent = "(cell ?x ?y ?piece)"
symbols = { first = "X", second = "O" }
colours = { first = "red", second = "yellow" }
shape = "disc"

[counts]
perft = [$options]
shortest_play = $shortest
longest_play = $cells

[counts.legal]
first = $options
second = 1
""")


@dataclass(frozen=True, slots=True)
class ConnectGame:
    """Which m,n,k game it is: *line* pieces win; with *gravity* they fall to the lowest empty cell of a column.

    *Raises*: SizeError, if a number is out of range or no such line fits on the board.
    """

    columns: int
    rows: int
    line: int
    gravity: bool = False

    def __post_init__(self) -> None:
        check_size("a board", "columns", self.columns, 1, MAX_CONNECT_SIDE)
        check_size("a board", "rows", self.rows, 1, MAX_CONNECT_SIDE)
        longest = max(self.columns, self.rows)
        if not 2 <= self.line <= longest:
            family = f"a line on {self.columns} x {self.rows} cells"
            raise SizeError(family, "pieces", self.line, 2, longest)

    @property
    def command(self) -> str:
        """The command line that makes this game."""
        gravity = " --gravity" if self.gravity else ""
        return f"ggp generate connect --columns {self.columns} --rows {self.rows} --line {self.line}{gravity}"

    @property
    def shortest_play(self) -> int:
        """The steps of the shortest play; in a single column with falling discs nothing but its end ends a play."""
        cells = self.columns * self.rows
        return cells if self.gravity and self.columns == 1 else min(2 * self.line - 1, cells)


def connect_game(game: ConnectGame) -> GeneratedGame:
    """Return the rules and the description of *game*."""
    values = {
        "command": game.command,
        "columns": game.columns,
        "rows": game.rows,
        "line": game.line,
        "cells": game.columns * game.rows,
        "options": game.columns if game.gravity else game.columns * game.rows,
        "shortest": game.shortest_play,
        "falling": ", with falling discs" if game.gravity else "",
        "how": ", and they fall on those below them" if game.gravity else "",
        "columns_facts": unary("column", range(1, game.columns + 1)),
        "rows_facts": unary("row", range(1, game.rows + 1)),
        "successors": chain("succ", range(1, max(game.columns, game.rows + 1) + 1)),
        "moves": _FALLING.substitute(full=game.rows + 1) if game.gravity else _FREE,
        "conditions": "\n".join(_in_line(game.line)),
    }
    return GeneratedGame(_RULES.substitute(values), _METADATA.substitute(values))


def _in_line(length: int) -> list[str]:
    """Return the conditions that *length* cells after one another are the player's."""
    found = ["    (true (cell ?x1 ?y1 ?player))"]
    for i in range(1, length):
        found.append(f"    (after ?direction ?x{i} ?y{i} ?x{i + 1} ?y{i + 1})")
        found.append(f"    (true (cell ?x{i + 1} ?y{i + 1} ?player))")
    return found
