"""Puzzles of one role for the tests of plans."""

from __future__ import annotations

LIGHTS = """
(role player)
(lamp 1) (lamp 2) (lamp 3) (lamp 4) (lamp 5)
(by 1 1) (by 1 2) (by 2 1) (by 2 2) (by 2 3) (by 3 2) (by 3 3) (by 3 4) (by 4 3) (by 4 4) (by 4 5) (by 5 4) (by 5 5)
(after 0 1) (after 1 2) (after 2 3) (after 3 4) (after 4 5) (after 5 6) (after 6 7) (after 7 8)
(init (step 0)) (init (lit 2)) (init (lit 3)) (init (lit 5))
(<= (base (step ?n)) (after ?m ?n))
(<= (legal player (press ?x)) (lamp ?x))
(<= (changes ?y) (does player (press ?x)) (by ?x ?y))
(<= (next (lit ?y)) (true (lit ?y)) (not (changes ?y)))
(<= (next (lit ?y)) (lamp ?y) (changes ?y) (not (true (lit ?y))))
(<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
(<= dark (lamp ?y) (not (true (lit ?y))))
(<= terminal (not dark))
(<= terminal (true (step 8)))
(<= (goal player 100) (not dark))
(<= (goal player 0) dark)
"""
"""Five lamps in a row, of which a press changes up to three; the play ends with all lit, or after eight steps."""

SQUARE = """
(role player)
(number 1) (number 2) (number 3) (number 4)
(<= (init (empty ?r ?c)) (number ?r) (number ?c))
(<= (legal player (put ?r ?c ?n)) (true (empty ?r ?c)) (number ?n) (not (bad ?r ?c ?n)))
(<= (legal player stop) (number 1))
(<= (bad ?r ?c ?n) (true (has ?r ?other ?n)) (number ?c))
(<= (bad ?r ?c ?n) (true (has ?other ?c ?n)) (number ?r))
(<= (next (has ?r ?c ?n)) (does player (put ?r ?c ?n)))
(<= (next (has ?r ?c ?n)) (true (has ?r ?c ?n)))
(<= (next (empty ?r ?c)) (true (empty ?r ?c)) (not (filled ?r ?c)))
(<= (filled ?r ?c) (does player (put ?r ?c ?n)))
(<= (next stopped) (does player stop))
(<= open (true (empty ?r ?c)))
(<= terminal (true stopped))
(<= terminal (not open))
(<= (goal player 100) (not open))
(<= (goal player 0) open)
"""
"""A Latin square of four rows, to be filled number by number; whoever stops early gets nothing."""

TWO_ENDS = """
(role player)
(init (at start))
(way start left) (way start right) (way left low) (way right middle) (way middle high)
(<= (legal player (go ?y)) (true (at ?x)) (way ?x ?y))
(<= (next (at ?y)) (does player (go ?y)))
(<= terminal (true (at low)))
(<= terminal (true (at high)))
(<= (goal player 30) (true (at low)))
(<= (goal player 60) (true (at high)))
(<= (goal player 100) (true (at never)))
(<= (goal player 0) (not terminal))
(<= (next (at never)) (true (at never)))
"""
"""Two ends, worth 30 and 60; a goal of 100 that no play reaches."""
