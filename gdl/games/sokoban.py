"""The family of Sokoban: a rule file for a level."""

from string import Template
from typing import Final

from gdl.games.families import GeneratedGame, chain, check_size, fact, lines_of, unary
from gdl.games.sokoban_level import SokobanLevel, neighbours

MAX_SOKOBAN_STEPS: Final = 5_000
DEFAULT_STEPS: Final = 300


def sokoban_game(level: SokobanLevel, steps: int = DEFAULT_STEPS) -> GeneratedGame:
    """Return the game of *level*, which ends after so many *steps*.

    Raises:
        SizeError: the number of steps is out of range.
    """
    check_size("a play", "steps", steps, 1, MAX_SOKOBAN_STEPS)
    columns, rows, n = range(1, level.columns + 1), range(1, level.rows + 1), len(level.boxes)
    values = {
        "command": f"ggp generate sokoban --steps {steps} LEVEL",
        "drawing": "\n".join(f"; {row}" for row in level.drawing()),
        "steps": steps,
        "boxes": n,
        "columns": level.columns,
        "rows": level.rows,
        "legal": len(legal_directions(level)),
        "indices": f"{unary('column', columns)}\n{unary('row', rows)}",
        "walls": lines_of(fact("wall", x, y) for x in columns for y in rows if (x, y) not in level.floor),
        "goals": lines_of(fact("target", i, *cell) for i, cell in enumerate(sorted(level.goals), 1)),
        "first_boxes": lines_of(f"(init {fact('box', *cell)})" for cell in sorted(level.boxes)),
        "player": fact("at", *level.player),
        "successors": chain("succ", range(max(steps, n, level.columns, level.rows) + 1)),
        "scores": lines_of(fact("score", k, 100 * k // n) for k in range(n + 1)),
    }
    return GeneratedGame(_RULES.substitute(values), _METADATA.substitute(values))


def legal_directions(level: SokobanLevel) -> list[str]:
    """Return the directions in which the player can go first, also by pushing a box."""
    found = []
    for direction, cell in neighbours(level.player):
        behind = dict(neighbours(cell))[direction]
        can_push = behind in level.floor and behind not in level.boxes
        if cell in level.floor and (cell not in level.boxes or can_push):
            found.append(direction)
    return found


_RULES: Final = Template("""\
; Sokoban, a level of $columns by $rows cells with $boxes boxes. Made by `$command`, with the level
;
$drawing
;
; A cell is a pair of x, from the left, and y, from the top.

(role player)

; the level: walls, as is all that is outside of them, and the goals of the boxes

$indices
$walls

$goals

$successors
(step_number 0)
(<= (step_number ?m)
    (step_number ?n)
    (not (last_step ?n))
    (succ ?n ?m))
(last_step $steps)

(<= (floor ?x ?y)
    (column ?x)
    (row ?y)
    (not (wall ?x ?y)))

; (beside direction x y u v)
(direction left) (direction right) (direction up) (direction down)
(<= (beside right ?x ?y ?u ?y)
    (floor ?x ?y)
    (succ ?x ?u)
    (floor ?u ?y))
(<= (beside left ?u ?y ?x ?y)
    (beside right ?x ?y ?u ?y))
(<= (beside down ?x ?y ?x ?v)
    (floor ?x ?y)
    (succ ?y ?v)
    (floor ?x ?v))
(<= (beside up ?x ?v ?x ?y)
    (beside down ?x ?y ?x ?v))

; fluents and moves

(<= (base (at ?x ?y))
    (floor ?x ?y))
(<= (base (box ?x ?y))
    (floor ?x ?y))
(<= (base (step ?n))
    (step_number ?n))
(<= (input player (move ?direction))
    (direction ?direction))

; first position

(init $player)
$first_boxes
(init (step 0))

; legal moves: a step to a free cell, or one that pushes a box to a free cell

(<= (walks ?direction ?u ?v)
    (true (at ?x ?y))
    (beside ?direction ?x ?y ?u ?v)
    (not (true (box ?u ?v))))
(<= (pushes ?direction ?u ?v ?s ?t)
    (true (at ?x ?y))
    (beside ?direction ?x ?y ?u ?v)
    (true (box ?u ?v))
    (beside ?direction ?u ?v ?s ?t)
    (not (true (box ?s ?t))))
(<= (legal player (move ?direction))
    (walks ?direction ?u ?v))
(<= (legal player (move ?direction))
    (pushes ?direction ?u ?v ?s ?t))

; what a move does

(<= (next (at ?u ?v))
    (does player (move ?direction))
    (true (at ?x ?y))
    (beside ?direction ?x ?y ?u ?v))
(<= (pushed ?u ?v ?s ?t)
    (does player (move ?direction))
    (pushes ?direction ?u ?v ?s ?t))
(<= (leaves ?u ?v)
    (pushed ?u ?v ?s ?t))
(<= (next (box ?s ?t))
    (pushed ?u ?v ?s ?t))
(<= (next (box ?x ?y))
    (true (box ?x ?y))
    (not (leaves ?x ?y)))
(<= (next (step ?m))
    (true (step ?n))
    (succ ?n ?m))

; end and goals: the share of boxes on goals

(<= (filled ?i)
    (target ?i ?x ?y)
    (true (box ?x ?y)))
; (count i n): n of the first i goals have a box
(count 0 0)
(<= (count ?i2 ?m)
    (count ?i ?n)
    (succ ?i ?i2)
    (filled ?i2)
    (succ ?n ?m))
(<= (count ?i2 ?n)
    (count ?i ?n)
    (succ ?i ?i2)
    (target ?i2 ?x ?y)
    (not (filled ?i2)))

(<= can_move
    (walks ?direction ?u ?v))
(<= can_move
    (pushes ?direction ?u ?v ?s ?t))

(<= terminal
    (count $boxes $boxes))
(<= terminal
    (true (step ?n))
    (last_step ?n))
(<= terminal
    (not can_move))

$scores

(<= (goal player ?goal)
    (count $boxes ?n)
    (score ?n ?goal))
""")

_METADATA: Final = Template("""\
# Made by `$command`.
title = "Sokoban: $boxes boxes on $columns x $rows cells"
authors = ["the ggp project"]
roles = ["player"]
players = 1
tags = ["puzzle", "maze"]
source = "Hiroyuki Imabayashi, Thinking Rabbit, 1982; the level as given"
summary = \"\"\"
A warehouse keeper pushes boxes to their goals: $boxes boxes on as many goals. The player walks up, down,
left and right, and pushes a single box ahead, but never pulls one. All boxes on goals are worth 100; the
play ends there, after $steps steps, or when no step is possible, and then each box on a goal counts.
\"\"\"

[[decisions]]
unclear = "How long may it take?"
decided = "$steps steps."

[keys]
u = "(move up)"
d = "(move down)"
l = "(move left)"
r = "(move right)"

[board]
kind = "grid"
columns = "1..$columns"
rows = "1..$rows"
y = "down"
labels = false
empty = " "

[[board.pieces]]
source = "rules"
fluent = "(wall ?x ?y)"
symbol = "#"
colour = "bright_black"
shape = "block"

[[board.pieces]]
source = "rules"
fluent = "(target ?goal ?x ?y)"
symbol = "."
colour = "green"
shape = "dot"

[[board.pieces]]
fluent = "(box ?x ?y)"
symbol = "$$"
colour = "yellow"
shape = "square"

[[board.pieces]]
fluent = "(at ?x ?y)"
symbol = "@"
colour = "blue"
shape = "person"

[[board.captions]]
fluent = "(step ?n)"
text = "step ?n of $steps"

[counts]
perft = [$legal]
longest_play = $steps

[counts.legal]
player = $legal
""")
