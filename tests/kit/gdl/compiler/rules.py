"""A small game that makes the compiler do all that it can."""

from typing import Final

GAME: Final = """
(role white) (role black) (init (control white))
(succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8) (succ 8 9)
(<= (adj ?x ?y) (succ ?x ?y)) (<= (adj ?x ?y) (succ ?y ?x)) (<= (index ?x) (adj ?x ?y))
(<= (next (control white)) (true (control black))) (<= (next (control black)) (true (control white)))
(<= (legal ?r (mark ?x)) (true (control ?r)) (index ?x) (not (taken ?x)))
(<= (legal ?r noop) (role ?r) (not (true (control ?r))))
(<= (taken ?x) (true (cell ?x ?r)))
(<= (next (cell ?x ?r)) (does ?r (mark ?x)))
(<= (next (cell ?x ?r)) (true (cell ?x ?r)) (not (swept ?x)))
(<= (swept ?x) (does ?r (mark ?y)) (adj ?x ?y) (reach ?x))
(<= (reach ?x) (true (cell ?x ?r)) (true (cell 5 ?r)))
(<= (reach ?x) (reach ?y) (adj ?x ?y) (taken ?x))
(<= (sees ?r (lost ?x)) (true (cell ?x ?r)) (true (cell 5 ?r)) (swept ?x))
(<= terminal (reach 1) (reach 9)) (<= terminal (not open)) (<= open (index ?x) (not (taken ?x)))
(<= upper (reach 3) (not (reach 7)))
(<= (goal white 100) upper) (<= (goal white 0) (not upper))
(<= (goal black 100) (not upper)) (<= (goal black 0) upper)
"""
"""Two players in turn, recursion, percepts, goals that share gates with what is next, and two blocks of moves."""
