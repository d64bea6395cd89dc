"""Proof search: its values and moves are those of a plain minimax, which makes each state by itself."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Final

import numpy as np
import pytest

from gdl.compiler.compiled import CompiledGame, CompiledState
from gdl.compiler.kernels.packing import words_of
from gdl.engines import make_game
from gdl.game import Game, Role, State
from gdl.games.library import find_game
from gdl.language.rules import read_rules
from gdl.language.terms import Constant
from players.deadline import Deadline, SearchBudget
from players.search.positions import Positions, SearchPosition
from players.search.proof.solver import ProofSearch, Solution

UNLIMITED: Final = SearchBudget()
COUNTDOWN: Final = """
(role a) (role b)
(init (left 5)) (init (control a))
(other a b) (other b a)
(less 5 1 4) (less 4 1 3) (less 3 1 2) (less 2 1 1) (less 1 1 0)
(less 5 2 3) (less 4 2 2) (less 3 2 1) (less 2 2 0)
(<= (legal ?p (take ?k)) (true (control ?p)) (true (left ?n)) (less ?n ?k ?m))
(<= (legal ?p wait) (other ?p ?q) (true (control ?q)))
(<= (next (left ?m)) (does ?p (take ?k)) (true (left ?n)) (less ?n ?k ?m))
(<= (next (control ?q)) (true (control ?p)) (other ?p ?q))
(<= terminal (true (left 0)))
(<= (goal ?p 70) (true (left 0)) (other ?p ?q) (true (control ?q)))
(<= (goal ?p 30) (true (left 0)) (true (control ?p)))
"""
"""The player that takes the last of five wins; multiples of three are lost."""
ENDLESS: Final = """
(role a) (role b) (init n) (legal a wait) (legal a stop) (legal b wait)
(<= (next n) (does a wait)) (<= (next z) (does a stop)) (<= terminal (true z))
(goal a 0) (<= (goal b 100) (true z)) (<= (goal b 0) (not (true z)))
"""
"""B wins if A ever stops."""

WIDE_LATER: Final = """
(role a) (role b)
(init (step 1))
(succ 1 2) (succ 2 3) (succ 3 4)
(digit 0) (digit 1) (digit 2) (digit 3) (digit 4) (digit 5) (digit 6) (digit 7) (digit 8) (digit 9)
(<= (legal a (choose left)) (true (step 1)))
(<= (legal a (choose right)) (true (step 1)))
(<= (legal b wait) (true (step 1)))
(<= (legal b (choose left)) (true (step 2)))
(<= (legal b (choose right)) (true (step 2)))
(<= (legal a wait) (true (step 2)))
(<= (legal a (pick ?i ?j)) (digit ?i) (digit ?j) (true (step 3)))
(<= (legal b wait) (true (step 3)))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= (next (chosen ?way)) (does a (choose ?way)))
(<= (next (chosen ?way)) (true (chosen ?way)))
(<= (next right) (does a (pick 9 9)) (true (chosen right)))
(<= terminal (true (step 4)))
(<= (goal a 100) (true right))
(<= (goal a 0) (not (true right)))
(<= (goal b 0) (true right))
(<= (goal b 100) (not (true right)))
"""
"""A wins by one of a hundred moves in the third step, if it goes right in the first."""


@cache
def compiled(name: str) -> CompiledGame:
    game = make_game(find_game(name).read(), "compiled")
    assert isinstance(game, CompiledGame)
    return game


def of_text(text: str) -> CompiledGame:
    game = make_game(read_rules(text), "compiled")
    assert isinstance(game, CompiledGame)
    return game


class Minimax:
    """The goal that a role can be sure of, by looking at everything."""

    def __init__(self, game: Game, role: Role) -> None:
        self.positions, self.me = Positions(game, 1_000_000), game.roles.index(role)
        self.known: dict[SearchPosition, float] = {}

    def value(self, state: State) -> int:
        return round(100 * self._value(self.positions.at(state)))

    def _value(self, position: SearchPosition) -> float:
        if position not in self.known:
            self.known[position] = self._searched(position)
        return self.known[position]

    def _searched(self, position: SearchPosition) -> float:
        if position.is_end:
            return position.goals[self.me]
        values = [self._value(position.after(choice)) for choice in position.choices()]
        return max(values) if len(position.moves[self.me]) > 1 else min(values)


def played(game: Game, random: Random, n_steps: int) -> State | None:
    state = game.initial_state
    for _ in range(n_steps):
        if state.is_terminal:
            return None
        state = state.next_state([random.choice(state.legal_moves(role)) for role in game.roles])
    return None if state.is_terminal else state


def after(game: CompiledGame, columns: str) -> State:
    """Return the state of connect four after discs in *columns*."""
    state = game.initial_state
    for column in columns:
        joint = [
            next((move for move in state.legal_moves(role) if str(move) == f"(drop {column})"), Constant("noop"))
            for role in game.roles
        ]
        state = state.next_state(joint)
    return state


def states(game: Game, n: int, least: int, most: int) -> Iterator[State]:
    random = Random(7)
    while n:
        state = played(game, random, random.randint(least, most))
        if state is not None:
            n -= 1
            yield state


@pytest.mark.sampled(7)
@pytest.mark.parametrize("n_paths", [1, 2, 8])
@pytest.mark.parametrize(("name", "least", "most"), [("tictactoe", 0, 8), ("nim", 0, 6), ("connectfour", 35, 40)])
def test_values_are_those_of_minimax_and_moves_keep_them(name: str, least: int, most: int, n_paths: int) -> None:
    game = compiled(name)
    search = ProofSearch(game, 4, n_paths)
    plain = {role: Minimax(game, role) for role in game.roles}
    for state in states(game, 12, least, most):
        for role in game.roles:
            found = search.solve(state, role, UNLIMITED)
            assert found is not None
            assert found.value == plain[role].value(state)
            if len(state.legal_moves(role)) > 1:
                assert found.move in state.legal_moves(role)
                moves = [found.move if one == role else state.legal_moves(one)[0] for one in game.roles]
                assert plain[role].value(state.next_state(moves)) == found.value


def test_what_is_proven_of_moves_is_what_minimax_says() -> None:
    game = compiled("tictactoe")
    for state in states(game, 6, 3, 5):
        mine = next(role for role in game.roles if len(state.legal_moves(role)) > 1)
        plain, search = Minimax(game, mine), ProofSearch(game, 4)
        search.solve(state, mine, UNLIMITED)
        for move, words, goal in search.proven_moves():
            after = state.next_state([move if one == mine else state.legal_moves(one)[0] for one in game.roles])
            assert goal == plain.value(after)
            here = game.state(after.facts)
            assert isinstance(here, CompiledState)
            assert words.tolist() == words_of(here.packed, len(game.fluents)).tolist()


def test_tictactoe_is_solved_from_its_first_position() -> None:
    game = compiled("tictactoe")
    search = ProofSearch(game, 4)
    for role in game.roles:
        found = search.solve(game.initial_state, role, UNLIMITED)
        assert found is not None
        assert found.value == 50
    assert search.n_nodes > 0


def test_several_paths_come_to_the_value_that_one_finds() -> None:
    game = compiled("connectfour")
    state, yellow = after(game, "2243415476246"), game.roles[1]
    found = [ProofSearch(game, 4, n).solve(state, yellow, UNLIMITED) for n in (1, 2, 4, 8)]
    assert [(solution is not None and solution.value) for solution in found] == [100, 100, 100, 100]


def test_no_path_is_left_in_the_table_after_a_search() -> None:
    game = compiled("connectfour")
    search = ProofSearch(game, 1)
    for n_nodes in (1, 100, 3_000):
        search.solve(game.initial_state, game.roles[0], SearchBudget(n_nodes))
        assert (search.table.rows[:, 1::2] >> np.uint64(56)).any() == np.False_


def test_a_state_with_more_moves_than_a_path_has_lanes_is_searched_by_fewer_paths() -> None:
    game = of_text(WIDE_LATER)
    a = game.roles[0]
    assert ProofSearch(game, 4).solve(game.initial_state, a, UNLIMITED) == Solution(
        100, game.initial_state.legal_moves(a)[1]
    )


def test_what_is_expected_says_what_is_asked_for_longer() -> None:
    game = compiled("connectfour")
    state, yellow = after(game, "2243415476246"), game.roles[1]

    def n_nodes(expected: float) -> int:
        search = ProofSearch(game, 4)
        assert search.solve(state, yellow, UNLIMITED, expected) is not None
        return search.n_nodes

    assert n_nodes(100.0) < n_nodes(50.0)


def test_what_was_proven_is_not_proven_again() -> None:
    game = compiled("tictactoe")
    search = ProofSearch(game, 4)
    first = search.solve(game.initial_state, game.roles[0], UNLIMITED)
    n_nodes = search.n_nodes
    assert search.solve(game.initial_state, game.roles[0], UNLIMITED) == first
    assert search.n_nodes < n_nodes // 10


def test_goals_are_whatever_the_rules_say() -> None:
    game = of_text(COUNTDOWN)
    search, (a, b) = ProofSearch(game, 4), game.roles
    assert [search.solve(game.initial_state, role, UNLIMITED) for role in (a, b)] == [
        Solution(70, game.initial_state.legal_moves(a)[1]),
        Solution(30, game.initial_state.legal_moves(b)[0]),
    ]


def test_equal_budgets_come_to_equal_ends() -> None:
    game = compiled("connectfour")

    def nodes(n: int) -> tuple[Solution | None, int]:
        search = ProofSearch(game, 4)
        return search.solve(game.initial_state, game.roles[0], SearchBudget(n)), search.n_nodes

    assert nodes(2_000) == nodes(2_000)
    found, n_nodes = nodes(2_000)
    assert (found, n_nodes) == (None, 2_000)


def test_a_search_ends_with_its_clock() -> None:
    game = compiled("connectfour")
    past = SearchBudget(deadline=Deadline(0.0, lambda: 1.0))
    assert ProofSearch(game, 4).solve(game.initial_state, game.roles[0], past) is None


def test_an_end_has_its_goal() -> None:
    game = compiled("tictactoe")
    state = next(one for one in iter(lambda: _ended(game), None) if one is not None)
    assert ProofSearch(game, 4).solve(state, game.roles[0], UNLIMITED) == Solution(state.goal(game.roles[0]) or 0, None)


def _ended(game: Game) -> State:
    random, state = Random(1), game.initial_state
    while not state.is_terminal:
        state = state.next_state([random.choice(state.legal_moves(role)) for role in game.roles])
    return state


def test_simultaneous_moves_are_not_solved() -> None:
    game = compiled("rockpaperscissors")
    assert ProofSearch(game, 4).solve(game.initial_state, game.roles[0], UNLIMITED) is None


def test_plays_without_an_end_are_not_solved() -> None:
    game = of_text(ENDLESS)
    assert ProofSearch(game, 4).solve(game.initial_state, Constant("b"), UNLIMITED) is None


def test_a_state_that_cannot_be_reached_is_not_solved() -> None:
    game = compiled("tictactoe")
    odd = game.state(frozenset({*game.initial_state.facts, Constant("odd")}))
    assert ProofSearch(game, 4).solve(odd, game.roles[0], UNLIMITED) is None


LARGE_GOALS: Final = """
(role x) (role y) (init (step 0)) (pick 0) (pick 1) (pick 2) (succ 0 1) (succ 1 2) (succ 2 3)
(turn x 0) (turn y 1) (turn x 2)
(<= (legal ?r (choose ?k)) (true (step ?s)) (turn ?r ?s) (pick ?k))
(<= (legal ?r wait) (role ?r) (true (step ?s)) (not (turn ?r ?s)))
(<= (next (step ?t)) (true (step ?s)) (succ ?s ?t))
(<= (next (chosen ?s ?k)) (true (step ?s)) (does ?r (choose ?k)))
(<= (next (chosen ?s ?k)) (true (chosen ?s ?k)))
(<= terminal (true (step 3)))
(worth 0 0 151) (worth 1 101 50) (worth 2 151 0)
(beats 0 1) (beats 1 2) (beats 2 0)
(<= (goal x ?g) (end ?k) (worth ?k ?g ?h))
(<= (goal y ?h) (end ?k) (worth ?k ?g ?h))
(<= (end ?k) (true (chosen 2 ?k)) (true (chosen 1 ?j)) (not (beats ?j ?k)))
(<= (end 0) (true (chosen 2 ?k)) (true (chosen 1 ?j)) (beats ?j ?k))
"""


def test_goals_above_100_of_one_role_are_not_taken_for_those_of_another() -> None:
    game = make_game(read_rules(LARGE_GOALS), "compiled")
    assert isinstance(game, CompiledGame)
    search = ProofSearch(game, 4)
    found = [search.solve(game.initial_state, role, UNLIMITED) for role in game.roles]
    assert [None if each is None else each.value for each in found] == [101, 50]
