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
"""A Latin square of four rows, to be filled number by number; a player that stops early gets nothing."""

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

RINGS = f"""
(role player)
(home a 1) (home b 2) (home c 3) (home d 4) (home e 5) (home f 6) (home g 7) (home h 8)
(ring left) (ring right)
(shift left 1 2) (shift left 2 3) (shift left 3 4) (shift left 4 5) (shift left 5 1)
(shift right 4 6) (shift right 6 7) (shift right 7 8) (shift right 8 5) (shift right 5 4)
(turned up down) (turned down up)
(init (at a 7)) (init (at b 2)) (init (at c 5)) (init (at d 6)) (init (at e 3)) (init (at f 1)) (init (at g 4))
(init (at h 8))
(init (side a down)) (init (side b up)) (init (side c down)) (init (side d down)) (init (side e up))
(init (side f down)) (init (side g up)) (init (side h up))
(init (step 0))
{" ".join(f"(after {n} {n + 1})" for n in range(40))}
(legal player wait)
(<= (legal player (turn ?r)) (ring ?r))
(<= (legal player (back ?r)) (ring ?r))
(<= (moved ?p ?q) (does player (turn ?r)) (shift ?r ?p ?q))
(<= (moved ?q ?p) (does player (back ?r)) (shift ?r ?p ?q))
(<= (moved ?p) (moved ?p ?q))
(<= (next (at ?t ?q)) (true (at ?t ?p)) (moved ?p ?q))
(<= (next (at ?t ?p)) (true (at ?t ?p)) (not (moved ?p)))
(<= (next (side ?t ?d)) (true (at ?t ?p)) (moved ?p) (true (side ?t ?c)) (turned ?c ?d))
(<= (next (side ?t ?c)) (true (at ?t ?p)) (not (moved ?p)) (true (side ?t ?c)))
(<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
(<= (in_place ?t) (home ?t ?p) (true (at ?t ?p)) (true (side ?t up)))
(<= open (home ?t ?p) (not (in_place ?t)))
(<= terminal (not open))
(<= terminal (true (step 40)))
(<= (goal player 100) (not open))
(<= (goal player 0) open)
"""
"""Two rings of five places that share two, and a token with two sides in each place; a ring turns its tokens over."""

DIALS = """
(role player)
(dial 1) (dial 2) (dial 3)
(up 0 1) (up 1 2) (up 2 3) (up 3 4)
(init (shows 1 4)) (init (shows 2 2)) (init (shows 3 0)) (init open)
(<= (legal player (raise ?d)) (true (shows ?d ?m)) (up ?m ?n))
(<= (legal player (clear ?d)) (dial ?d))
(<= (next (shows ?d ?n)) (does player (raise ?d)) (true (shows ?d ?m)) (up ?m ?n))
(<= (next (shows ?d 0)) (does player (clear ?d)))
(<= (changed ?d) (does player (raise ?d)))
(<= (changed ?d) (does player (clear ?d)))
(<= (next (shows ?d ?n)) (true (shows ?d ?n)) (not (changed ?d)))
(<= set (true (shows 1 3)) (true (shows 2 2)) (true (shows 3 1)))
(<= terminal set)
(<= (goal player 100) set)
(<= (goal player 0) (not set))
"""
"""Three dials, each of which is raised by one or cleared, to be brought from 4 2 0 to 3 2 1."""

FENCE = f"""
(role player)
{" ".join(f"(by {n} {(n + 1) % 14})" for n in range(14))}
(init (white 3)) (init (step 0))
(after 0 1) (after 1 2) (after 2 3)
(<= (legal player (paint ?x)) (by ?x ?y))
(<= (next (white ?x)) (does player (paint ?x)))
(<= (next (white ?y)) (by ?x ?y) (true (white ?x)) (not (true (white ?y))))
(<= (next (white ?x)) (by ?x ?y) (true (white ?y)) (not (true (white ?x))))
(<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
(<= open (by ?x ?y) (not (true (white ?x))))
(<= terminal (true (step 3)))
(<= (goal player 100) (not open))
(<= (goal player 0) open)
"""
"""Fourteen boards round a yard, each of which takes its colour from its neighbours: all depend on all."""
