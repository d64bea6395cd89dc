"""Alpha-beta: exact values of small games, pessimism, chance, budgets."""

from __future__ import annotations

from functools import reduce
from operator import xor
from random import Random

import pytest

from gdl.language.terms import Term
from players.deadline import Deadline, SearchBudget
from players.search.alphabeta.minimax import AlphaBeta
from tests.kit.players.games import COIN, FOUR_WAYS, after, game, game_of, iterations, role, state_of

THREE = """
(role a) (role b) (role c)
(init start)
(<= (legal a left) (true start)) (<= (legal a right) (true start))
(<= (legal b noop) (true start)) (<= (legal c noop) (true start))
(<= (next left) (does a left)) (<= (next right) (does a right))
(<= (legal b kind) (true left)) (<= (legal b cruel) (true left)) (<= (legal a noop) (true left))
(<= (legal c noop) (true left))
(<= (legal ?r noop) (role ?r) (true right))
(<= (next (end ?what)) (does b ?what) (distinct ?what noop))
(<= (next (end right)) (true right))
(<= terminal (true (end ?what)))
(<= (goal a 100) (true (end kind))) (<= (goal a 0) (true (end cruel))) (<= (goal a 40) (true (end right)))
(goal b 50) (goal c 10)
"""
"""After left, b decides whether a has 100 or 0, and has the same itself; after right a has 40."""


def test_tictactoe_is_a_draw_and_known_to_be() -> None:
    tictactoe = game("tictactoe")
    search = AlphaBeta(tictactoe, role("x"), Random(1))
    search.think(tictactoe.initial_state, SearchBudget())
    assert search.value == 0.0


@pytest.mark.parametrize("heaps", [(1, 1, 0), (1, 2, 3), (0, 2, 2), (3, 4, 5), (3, 1, 1), (2, 0, 5), (1, 3, 2)])
def test_nim_is_won_exactly_where_the_sum_without_carry_is_not_zero(heaps: tuple[int, ...]) -> None:
    """Bouton, "Nim, a Game with a Complete Mathematical Theory", 1901."""
    nim = game("nim")
    state = state_of(
        nim, " ".join(f"(heap {name} {n})" for name, n in zip("abc", heaps, strict=True)) + "(control left)"
    )
    search = AlphaBeta(nim, role("left"), Random(1))
    search.think(state, SearchBudget())
    assert search.value == (1.0 if reduce(xor, heaps) else -1.0)


def test_all_moves_are_equal_where_the_other_answers_at_the_same_time() -> None:
    """Each move of rock-paper-scissors loses against an other role that is feared to see it."""
    rockpaperscissors = game("rockpaperscissors")
    search = AlphaBeta(rockpaperscissors, rockpaperscissors.roles[0], Random(1))
    search.think(rockpaperscissors.initial_state, SearchBudget())
    assert search.value == -1.0


def test_the_others_are_feared_to_play_against_the_role() -> None:
    three = game_of(THREE)
    search = AlphaBeta(three, role("a"), Random(1))
    assert str(search.think(three.initial_state, SearchBudget())) == "right"
    assert search.value == pytest.approx(0.4 - (0.5 + 0.1) / 2)


def test_chance_counts_with_its_mean() -> None:
    coin = game_of(COIN)
    search = AlphaBeta(coin, role("player"), Random(1))
    assert (str(search.think(coin.initial_state, SearchBudget())), search.value) == ("safe", 0.6)


def test_a_puzzle_of_one_role_is_solved() -> None:
    puzzle = game_of(FOUR_WAYS)
    search = AlphaBeta(puzzle, role("player"), Random(1))
    assert str(search.think(puzzle.initial_state, SearchBudget())) in ("c", "d")
    assert search.value == 1.0


def test_a_win_in_one_is_preferred_to_a_later_one() -> None:
    connectfour = game("connectfour")
    state = after(connectfour, *(f"(drop {column})" for column in "121213"))
    search = AlphaBeta(connectfour, role("red"), Random(1))
    assert str(search.think(state, SearchBudget())) == "(drop 1)"
    assert search.n_iterations < 20


def test_positions_bound_the_search() -> None:
    connectfour = game("connectfour")
    search = AlphaBeta(connectfour, role("red"), Random(1))
    search.think(connectfour.initial_state, iterations(150))
    assert search.n_iterations == 150


def test_no_time_still_gives_a_legal_move_and_reports_it() -> None:
    connectfour = game("connectfour")
    reports: list[Term] = []
    over = SearchBudget(deadline=Deadline(0.0, lambda: 1.0))
    move = AlphaBeta(connectfour, role("red"), Random(1)).think(connectfour.initial_state, over, reports.append)
    assert move in connectfour.initial_state.legal_moves(role("red"))
    assert reports[-1] == move


def test_equal_seeds_choose_equal_moves() -> None:
    breakthrough = game("breakthrough")
    first, second = (
        AlphaBeta(breakthrough, breakthrough.roles[0], Random(5)).think(breakthrough.initial_state, iterations(300))
        for _ in range(2)
    )
    assert first == second
