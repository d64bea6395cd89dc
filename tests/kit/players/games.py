"""Games for the tests of players: those of the library, made once, and tiny ones written where they are used."""

from __future__ import annotations

from functools import cache

from gdl.diagnostics import Source
from gdl.engines import make_game
from gdl.game import Game, Role, State
from gdl.games.library import find_game
from gdl.language.kif import read_forms, term_of
from gdl.language.rules import read_rules
from gdl.language.terms import Constant
from players.deadline import SearchBudget

FOUR_WAYS = """
(role player)
(init (step 0))
(next_step 0 1) (next_step 1 2)
(<= (next (step ?n)) (true (step ?m)) (next_step ?m ?n))
(way a) (way b) (way c) (way d)
(<= (legal player ?way) (way ?way))
(<= (next (went ?way)) (does player ?way))
(<= (next (went ?way)) (true (went ?way)))
(<= terminal (true (step 2)))
(<= (goal player 100) (true (went c)) (true (went d)))
(<= (goal player 30) (not (goal player 100)))
"""
"""A puzzle of two steps: c and d, in any order, are worth 100, all else 30."""

SPARED_OR_HURT = (
    "\n".join(f"(succ {i} {i + 1})" for i in range(24))
    + """
(role x) (role y) (init (at root)) (init (step 0)) (bit a) (bit b)
(way x root go asked) (way x root safe kept)
(way y asked take taken) (way y asked fight fight) (way y taken hurt hurt) (way y taken spare spared)
(<= (legal ?role ?move) (true (at ?here)) (way ?role ?here ?move ?next))
(<= (legal x noop) (true (at ?here)) (way y ?here ?move ?next))
(<= (legal y noop) (true (at root)))
(<= (legal y ?bit) (true (at fight)) (bit ?bit))
(<= (legal x noop) (true (at fight)))
(<= (next (at ?next)) (does ?role ?move) (true (at ?here)) (way ?role ?here ?move ?next))
(<= (next (at fight)) (true (at fight)))
(<= (next (step ?j)) (true (at fight)) (true (step ?i)) (succ ?i ?j))
(<= (next (step 0)) (not (true (at fight))))
(<= (next (made ?i ?bit)) (true (at fight)) (true (step ?i)) (does y ?bit))
(<= (next (made ?i ?bit)) (true (made ?i ?bit)))
(<= lost (true (made ?i b)))
(<= fought (true (at fight)) (true (step 24)))
(<= terminal (true (at ?end)) (worth ?end ?x ?y))
(<= terminal fought)
(worth kept 40 40) (worth hurt 0 50) (worth spared 100 50)
(<= (goal x ?x) (true (at ?end)) (worth ?end ?x ?y))
(<= (goal y ?y) (true (at ?end)) (worth ?end ?x ?y))
(<= (goal x 0) fought (not lost))
(<= (goal y 100) fought (not lost))
(<= (goal x 100) fought lost)
(<= (goal y 0) fought lost)
"""
)
"""One role keeps 40 or goes on; then the other takes 50 and hurts or spares it, or fights and mostly loses."""

KINGMAKER = """
(role a) (role b) (role c)
(init (at first))
(way first go asked) (way first keep kept) (way asked help helped) (way asked harm harmed)
(<= (legal a ?move) (true (at first)) (way first ?move ?next))
(<= (legal b ?move) (true (at asked)) (way asked ?move ?next))
(<= (legal a noop) (not (true (at first))))
(<= (legal b noop) (not (true (at asked))))
(<= (legal c noop) (role c))
(<= (next (at ?next)) (does ?role ?move) (true (at ?here)) (way ?here ?move ?next))
(<= terminal (true (at ?end)) (worth ?end ?goal))
(worth kept 60) (worth helped 100) (worth harmed 0)
(<= (goal a ?goal) (true (at ?end)) (worth ?end ?goal))
(<= (goal b 50) terminal)
(<= (goal c 40) (role c) terminal)
"""
"""One role keeps 60, or lets another choose what it gets, to whom all ends are worth the same."""

COIN = """
(role player) (role random)
(init start)
(<= (legal player safe) (true start))
(<= (legal player bold) (true start))
(<= (legal random noop) (true start))
(<= (legal player noop) (true tossing))
(<= (legal random heads) (true tossing))
(<= (legal random tails) (true tossing))
(<= (next safe) (does player safe))
(<= (next tossing) (does player bold))
(<= (next (shows ?side)) (does random ?side) (distinct ?side noop))
(<= (sees player ?move) (does player ?move))
(<= (sees player ?move) (does random ?move))
(<= terminal (true safe))
(<= terminal (true (shows ?side)))
(<= (goal player 60) (true safe))
(<= (goal player 100) (true (shows heads)))
(<= (goal player 0) (true (shows tails)))
(<= (goal player 20) (not terminal))
(goal random 0)
"""
"""A safe 60, or 100 or 0 by the toss of a coin; the player sees everything."""
UNSEEN_CARD = """
(role player) (role random)
(init start)
(card ace) (card king) (card queen)
(<= (legal player wait) (true start))
(<= (legal random (deal ?card)) (true start) (card ?card))
(<= (legal player (keep ?card)) (true (dealt ?card)))
(<= (legal player (fold ?card)) (true (dealt ?card)))
(<= (legal random rest) (true (dealt ?card)))
(<= (next (dealt ?card)) (does random (deal ?card)))
(<= (next done) (does random rest))
(<= (sees player dealt) (true start))
(<= terminal (true done))
(goal player 50) (goal random 0)
"""
"""The card decides which moves the player has, who never sees it."""


@cache
def game(name: str) -> Game:
    """Return the game of the library that has that name."""
    return make_game(find_game(name).read())


@cache
def interpreted(name: str) -> Game:
    """Return the game of the library that has that name, always interpreted."""
    return make_game(find_game(name).read(), "interpreter")


@cache
def compiled(name: str) -> Game:
    """Return the game of the library that has that name, compiled."""
    return make_game(find_game(name).read(), "compiled")


@cache
def game_of(rules: str) -> Game:
    """Return the game that a rule text defines."""
    return make_game(read_rules(rules))


@cache
def interpreted_of(rules: str) -> Game:
    """Return the game that a rule text defines, always interpreted."""
    return make_game(read_rules(rules), "interpreter")


def role(name: str) -> Role:
    return Constant(name)


def after(of: Game, *moves: str) -> State:
    """Return the state after *moves*, each made by the role that may; the others make their only move."""
    state = of.initial_state
    for move in moves:
        legal = [state.legal_moves(each) for each in of.roles]
        state = state.next_state([next((m for m in options if str(m) == move), options[0]) for options in legal])
    return state


def state_of(of: Game, facts: str) -> State:
    """Return the state in which exactly the facts written in *facts* are true."""
    return of.state(frozenset(map(term_of, read_forms(Source("test", facts)))))


def iterations(n: int) -> SearchBudget:
    return SearchBudget(max_iterations=n)
