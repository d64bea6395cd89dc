"""Tree search: wins, blocks, proofs, budgets, chance, simultaneous moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import pytest

from gdl.game import Game
from gdl.language.terms import Term
from players.deadline import Deadline, SearchBudget
from players.search.evaluator import LaneEvaluator, Shares, compiled_game_of
from players.search.uct import TreeSearch
from tests.kit.players.games import (
    COIN,
    FOUR_WAYS,
    KINGMAKER,
    after,
    compiled,
    game,
    game_of,
    interpreted,
    iterations,
    role,
)

WIN_OR_BLOCK = {
    "red wins in one": (("1", "2", "1", "2", "1", "3"), "red", "(drop 1)"),
    "red blocks a loss in one": (("1", "2", "1", "2", "7", "2"), "red", "(drop 2)"),
    "yellow wins in one rather than block": (("1", "2", "1", "2", "1", "2", "7"), "yellow", "(drop 2)"),
    "yellow blocks a row": (("1", "1", "2", "2", "3"), "yellow", "(drop 4)"),
}


class NoTime(LaneEvaluator):
    """Never has the time to play anything out."""

    def play_out(
        self, node_keys: Sequence[bytes], n_each: int, random: Random, budget: SearchBudget
    ) -> Sequence[Shares] | None:
        return None


def search(of: Game, seed: int = 1) -> TreeSearch:
    return TreeSearch(of, Random(seed))


both_engines = pytest.mark.parametrize("engine", [interpreted, compiled])


@pytest.mark.sampled(7)
@both_engines
@pytest.mark.parametrize("name", WIN_OR_BLOCK)
def test_wins_in_one_are_taken_and_losses_in_one_blocked(name: str, engine: Callable[[str], Game]) -> None:
    drops, mover, expected = WIN_OR_BLOCK[name]
    connectfour = engine("connectfour")
    state = after(connectfour, *(f"(drop {column})" for column in drops))
    assert str(search(connectfour).think(state, role(mover), iterations(200))) == expected


def test_a_proven_win_ends_the_search_early() -> None:
    connectfour = game("connectfour")
    state = after(connectfour, *(f"(drop {column})" for column in "121213"))
    tree = search(connectfour)
    tree.think(state, role("red"), iterations(10_000))
    assert tree.n_iterations < 100


@both_engines
def test_a_small_game_is_proven_to_the_end(engine: Callable[[str], Game]) -> None:
    tictactoe = engine("tictactoe")
    state = after(tictactoe, "(mark 1 1)", "(mark 2 1)")
    tree = search(tictactoe)
    tree.think(state, role("x"), iterations(20_000))
    assert tree.n_iterations < 20_000


@pytest.mark.parametrize("roles", ["", "(role c)"])
@pytest.mark.parametrize("seed", range(4))
def test_what_a_role_to_which_all_is_the_same_will_choose_is_not_proven(roles: str, seed: int) -> None:
    kingmaker = game_of(KINGMAKER.replace("(role c)", roles, 1))
    tree = search(kingmaker, seed)
    move = tree.think(kingmaker.initial_state, role("a"), iterations(500))
    told = tree.insight(kingmaker.initial_state, role("a"))
    assert told is not None
    assert (str(move), told.value, told.is_proven) == ("keep", 60, True)


def test_a_forced_move_costs_nothing() -> None:
    tictactoe = game("tictactoe")
    tree = search(tictactoe)
    assert str(tree.think(tictactoe.initial_state, role("o"), iterations(100))) == "noop"
    assert tree.n_iterations == 0


@pytest.mark.sampled(2)
@both_engines
def test_equal_seeds_choose_equal_moves_and_report_the_same(engine: Callable[[str], Game]) -> None:
    connectfour = engine("connectfour")

    def told(seed: int) -> tuple[Term, list[Term]]:
        reports: list[Term] = []
        return search(connectfour, seed).think(
            connectfour.initial_state, role("red"), iterations(60), reports.append
        ), reports

    assert told(3) == told(3)


def test_the_last_report_is_the_move() -> None:
    connectfour = game("connectfour")
    reports: list[Term] = []
    move = search(connectfour).think(connectfour.initial_state, role("red"), iterations(60), reports.append)
    assert reports[-1] == move


def test_no_time_still_gives_a_legal_move() -> None:
    connectfour = game("connectfour")
    over = SearchBudget(deadline=Deadline(0.0, lambda: 1.0))
    move = search(connectfour).think(connectfour.initial_state, role("red"), over)
    assert move in connectfour.initial_state.legal_moves(role("red"))


def test_time_bounds_the_playouts() -> None:
    """The clock advances by one at each look, so that the search sees exactly so many looks."""
    ticks = iter(range(10**6))
    connectfour = interpreted("connectfour")
    tree = search(connectfour)
    tree.think(connectfour.initial_state, role("red"), SearchBudget(deadline=Deadline(500, lambda: next(ticks))))
    assert 0 < tree.n_iterations < 500


@pytest.mark.sampled(2)
@both_engines
def test_what_stays_reachable_is_kept_for_the_next_move(engine: Callable[[str], Game]) -> None:
    tictactoe = engine("tictactoe")
    tree = search(tictactoe)
    tree.think(tictactoe.initial_state, role("x"), iterations(400))
    state = after(tictactoe, "(mark 2 2)", "(mark 1 1)")
    visits_before = tree.visits(state)
    tree.think(state, role("x"), iterations(10))
    assert visits_before > 5
    assert tree.visits(state) == visits_before + tree.n_iterations


def test_a_budget_of_plays_is_kept_to_the_play_however_many_leaves_there_are_at_once() -> None:
    connectfour = compiled("connectfour")
    tree = search(connectfour)
    for n in (1, 7, 300, 5_000):
        tree.think(connectfour.initial_state, role("red"), iterations(n))
        assert n // 2 <= tree.n_iterations <= n


def test_plays_that_time_ran_out_for_count_nothing() -> None:
    connectfour = compiled("connectfour")
    tree = TreeSearch(connectfour, Random(1), NoTime(compiled_game_of(connectfour)))
    tree.think(connectfour.initial_state, role("red"), iterations(64))
    assert (tree.n_iterations, tree.visits(connectfour.initial_state)) == (64, 0)


def test_chance_counts_with_its_mean() -> None:
    coin = game_of(COIN)
    assert str(search(coin).think(coin.initial_state, role("player"), iterations(300))) == "safe"


def test_a_puzzle_of_one_role_is_solved() -> None:
    puzzle = game_of(FOUR_WAYS)
    assert str(search(puzzle).think(puzzle.initial_state, role("player"), iterations(300))) in ("c", "d")


@both_engines
def test_simultaneous_moves_are_played_evenly(engine: Callable[[str], Game]) -> None:
    """In rock-paper-scissors no move may be neglected: each is best against one that the other tries."""
    rockpaperscissors = engine("rockpaperscissors")
    moves = {
        str(search(rockpaperscissors, seed).think(rockpaperscissors.initial_state, each, iterations(30)))
        for seed in range(30)
        for each in rockpaperscissors.roles
    }
    assert moves == {"rock", "paper", "scissors"}
