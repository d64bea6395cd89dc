"""The family of the towers of Hanoi: any number of disks on three pegs."""

from string import Template
from typing import Final

from gdl.games.families import GeneratedGame, chain, check_size, fact, lines_of, unary

MAX_DISKS: Final = 10
MAX_HANOI_STEPS: Final = 5_000

_RULES: Final = Template("""\
; The towers of Hanoi with $disks disks. Made by `$command`.

(role player)

; fluents and moves: disk 1 is the smallest

(<= (base (on ?disk ?peg))
    (disk ?disk)
    (peg ?peg))
(<= (base (step ?n))
    (step_number ?n))
(<= (input player (move ?from ?to))
    (peg ?from)
    (peg ?to)
    (distinct ?from ?to))

$disk_facts
(peg a) (peg b) (peg c)

$successors

(step_number 0)
(<= (step_number ?m)
    (succ ?n ?m))
(last_step $steps)

(<= (smaller ?n ?m)
    (disk ?n)
    (succ ?n ?m)
    (disk ?m))
(<= (smaller ?n ?k)
    (smaller ?n ?m)
    (succ ?m ?k)
    (disk ?k))

; first position: all disks on peg a

(<= (init (on ?disk a))
    (disk ?disk))
(init (step 0))

; legal moves: the top disk of a peg goes to one without a smaller disk

(<= (covered ?disk ?peg)
    (true (on ?disk ?peg))
    (smaller ?other ?disk)
    (true (on ?other ?peg)))
(<= (top ?disk ?peg)
    (true (on ?disk ?peg))
    (not (covered ?disk ?peg)))
(<= (closed ?disk ?to)
    (true (on ?other ?to))
    (smaller ?other ?disk)
    (disk ?disk))
(<= (legal player (move ?from ?to))
    (top ?disk ?from)
    (peg ?to)
    (distinct ?from ?to)
    (not (closed ?disk ?to)))

; what a move does

(<= (moved ?disk)
    (does player (move ?from ?to))
    (top ?disk ?from))
(<= (next (on ?disk ?to))
    (does player (move ?from ?to))
    (top ?disk ?from))
(<= (next (on ?disk ?peg))
    (true (on ?disk ?peg))
    (not (moved ?disk)))
(<= (next (step ?m))
    (true (step ?n))
    (succ ?n ?m))

; end and goals: the disks on peg c count, from the largest one on

(<= (placed $disks)
    (true (on $disks c)))
(<= (placed ?smaller)
    (placed ?disk)
    (succ ?smaller ?disk)
    (true (on ?smaller c)))

(<= terminal
    (placed 1))
(<= terminal
    (true (step ?n))
    (last_step ?n))

$scores

(<= (goal player ?goal)
    (placed ?disk)
    (not_placed ?smaller ?disk)
    (score ?disk ?goal))
(<= (goal player 100)
    (placed 1))
(<= (goal player 0)
    (not (placed $disks)))
(<= (not_placed ?smaller ?disk)
    (disk ?disk)
    (succ ?smaller ?disk)
    (disk ?smaller)
    (not (placed ?smaller)))
""")

_METADATA: Final = Template("""\
# Made by `$command`.
title = "Towers of Hanoi with $disks disks"
authors = ["the ggp project"]
roles = ["player"]
players = 1
tags = ["puzzle"]
source = "Edouard Lucas, 1883"
summary = \"\"\"
There are three pegs, and $disks disks of different sizes on the first one, the smallest on top. Bring all
of them to the third peg, one at a time, and never put a disk on a smaller one. It takes $least moves, and
the play ends after $steps. Solved, it is worth 100; else each disk that is in its place counts, from the
largest one on.
\"\"\"

[[decisions]]
unclear = "How long may it take?"
decided = "$steps moves; $least are needed."

[board]
kind = "grid"
columns = ["a", "b", "c"]
rows = "1..$disks"
y = "down"

[[board.pieces]]
fluent = "(on ?y ?x)"
symbol = "="
colour = "yellow"
shape = "block"

[[board.captions]]
fluent = "(step ?n)"
text = "step ?n of $steps"

[counts]
perft = [2]
shortest_play = $least
longest_play = $steps

[counts.legal]
player = 2
""")


def hanoi_game(disks: int, steps: int | None = None) -> GeneratedGame:
    """Return the towers of Hanoi with so many *disks*, within *steps* moves: by default twice what is needed.

    Raises:
        SizeError: a number is out of range.
    """
    check_size("Hanoi", "disks", disks, 2, MAX_DISKS)
    least = 2**disks - 1
    limit = 2 * least if steps is None else steps
    check_size("the puzzle", "steps", limit, least, MAX_HANOI_STEPS)
    values = {
        "command": f"ggp generate hanoi --disks {disks} --steps {limit}",
        "disks": disks,
        "least": least,
        "steps": limit,
        "disk_facts": unary("disk", range(1, disks + 1)),
        "successors": chain("succ", range(limit + 1)),
        "scores": lines_of(fact("score", disk, 100 * (disks + 1 - disk) // disks) for disk in range(2, disks + 1)),
    }
    return GeneratedGame(_RULES.substitute(values), _METADATA.substitute(values))
