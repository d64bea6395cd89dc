"""Proof search: its values and moves are those of a plain minimax, which makes each state by itself."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Final

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
from players.search.proof.prover import Prover, goal_sum
from players.search.proof.solver import ProofSearch, Solution
from players.search.tree.search import CompiledSearch
from players.search.tree.settings import SearchSettings

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
"""Whoever takes the last of five wins; multiples of three are lost."""
ENDLESS: Final = """
(role a) (role b) (init n) (legal a wait) (legal a stop) (legal b wait)
(<= (next n) (does a wait)) (<= (next z) (does a stop)) (<= terminal (true z))
(goal a 0) (<= (goal b 100) (true z)) (<= (goal b 0) (not (true z)))
"""
"""B wins if A ever stops."""


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


def states(game: Game, n: int, least: int, most: int) -> Iterator[State]:
    random = Random(7)
    while n:
        state = played(game, random, random.randint(least, most))
        if state is not None:
            n -= 1
            yield state


@pytest.mark.parametrize(("name", "least", "most"), [("tictactoe", 0, 8), ("nim", 0, 6), ("connectfour", 35, 40)])
def test_values_are_those_of_minimax_and_moves_keep_them(name: str, least: int, most: int) -> None:
    game = compiled(name)
    search = ProofSearch(game, 4)
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
        for move, words, goal in search.settled():
            after = state.next_state([move if one == mine else state.legal_moves(one)[0] for one in game.roles])
            assert goal == plain.value(after)
            here = game.state(after.facts)
            assert isinstance(here, CompiledState)
            assert words.tolist() == words_of(here.packed, len(game.fluents)).tolist()


def test_a_prover_solves_tictactoe_in_the_start_clock_and_plays_what_it_proves() -> None:
    game = compiled("tictactoe")
    prover, (x, o) = Prover(game), game.roles
    prover.begin(Deadline.after(600.0))
    known = SearchBudget(max_rounds=200)
    assert [prover.search.solve(game.initial_state, role, known) is not None for role in (x, o)] == [True, True]
    found = prover.think(game.initial_state, x, Deadline.after(60.0))
    assert (found.value, found.move in game.initial_state.legal_moves(x)) == (50, True)


def test_a_prover_that_finds_nothing_takes_less_and_one_that_does_takes_more() -> None:
    game = compiled("connectfour")
    prover = Prover(game)
    first = prover.share
    prover.think(game.initial_state, game.roles[0], Deadline.after(0.1))
    assert prover.share < first
    late = next(states(game, 1, 37, 37))
    mine = next(role for role in game.roles if len(late.legal_moves(role)) > 1)
    prover.think(late, mine, Deadline.after(600.0))
    assert prover.share == first


def test_proofs_are_left_where_the_goals_have_no_common_sum() -> None:
    assert goal_sum(compiled("connectfour")) == 100
    assert goal_sum(of_text(COUNTDOWN)) == 100
    assert goal_sum(of_text(COUNTDOWN.replace("(goal ?p 30)", "(goal ?p 20)"))) == 90
    assert goal_sum(of_text(ENDLESS)) is None


def test_a_tree_takes_over_what_is_proven() -> None:
    game = compiled("tictactoe")
    tree, prover, x = CompiledSearch(game, 1, SearchSettings(memory_mb=8.0)), Prover(game), game.roles[0]
    state = next(states(game, 1, 4, 4))
    prover.search.solve(state, x, UNLIMITED)
    for move, words, goal in prover.search.settled():
        tree.settle(words, (goal, 100 - goal))
        after = state.next_state([move if one == x else state.legal_moves(one)[0] for one in game.roles])
        assert tree.is_solved(tree.keep(after))


def test_tictactoe_is_solved_from_its_first_position() -> None:
    game = compiled("tictactoe")
    search = ProofSearch(game, 4)
    for role in game.roles:
        found = search.solve(game.initial_state, role, UNLIMITED)
        assert found is not None
        assert found.value == 50
    assert search.n_nodes > 0


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
