"""Nested search: puzzles solved, lines followed, budgets kept."""

from __future__ import annotations

from random import Random

from gdl.language.terms import Term
from players.deadline import Deadline, SearchBudget
from players.search.planning.nested import NestedSearch
from tests.kit.players.games import FOUR_WAYS, game, game_of, iterations, role, state_of

NEAR = "(cell 1 1 1)(cell 2 1 2)(cell 3 1 3)(cell 1 2 4)(cell 2 2 gap)(cell 3 2 6)(cell 1 3 7)(cell 2 3 5)(cell 3 3 8)"
"""The eight puzzle two slides before its end."""


def solve(seed: int) -> list[str]:
    puzzle = game("eightpuzzle")
    state = state_of(puzzle, f"{NEAR} (step 0)")
    search = NestedSearch(puzzle, Random(seed))
    moves: list[Term] = []
    while not state.is_terminal and len(moves) < 10:
        moves.append(search.think(state, iterations(300)))
        state = state.next_state(moves[-1:])
    assert state.goal(role("player")) == 100
    return [str(move) for move in moves]


def test_an_eight_puzzle_near_its_end_is_solved_by_the_same_moves_for_the_same_seed() -> None:
    assert solve(1) == solve(1)


def test_a_line_that_wins_is_followed_without_another_playout() -> None:
    puzzle = game_of(FOUR_WAYS)
    search = NestedSearch(puzzle, Random(1), level=1)
    first = search.think(puzzle.initial_state, iterations(200))
    n_first = search.n_iterations
    second = search.think(puzzle.initial_state.next_state((first,)), iterations(200))
    assert {str(first), str(second)} == {"c", "d"}
    assert (n_first > 0, search.n_iterations) == (True, 0)


def test_a_line_is_given_up_when_the_play_leaves_it() -> None:
    puzzle = game_of(FOUR_WAYS)
    search = NestedSearch(puzzle, Random(1), level=1)
    search.think(puzzle.initial_state, iterations(200))
    elsewhere = state_of(puzzle, "(step 1) (went a)")
    search.think(elsewhere, iterations(20))
    assert (search.best_goal, len(search.best_line)) == (0.3, 1)


def test_no_time_still_gives_a_legal_move() -> None:
    puzzle = game_of(FOUR_WAYS)
    over = SearchBudget(deadline=Deadline(0.0, lambda: 1.0))
    move = NestedSearch(puzzle, Random(1)).think(puzzle.initial_state, over)
    assert move in puzzle.initial_state.legal_moves(role("player"))


def test_playouts_bound_the_search() -> None:
    puzzle = game("eightpuzzle")
    search = NestedSearch(puzzle, Random(1))
    search.think(puzzle.initial_state, iterations(15))
    assert search.n_iterations == 15
