"""The prover: how much of a player's time proofs get, and what they tell it."""

from __future__ import annotations

from math import inf, log
from typing import Final

import pytest

from players.deadline import Deadline, SearchBudget
from players.search.proof.prover import Prover, goal_sum, log_effort
from players.search.tree.search import CompiledSearch
from players.search.tree.settings import SearchSettings
from tests.integration.players.test_proof import COUNTDOWN, ENDLESS, UNLIMITED, after, compiled, of_text, states

LATE: Final = "2243415476246"
"""Connect four, of which a proof takes some 30,000 states."""


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
        following = state.next_state([move if one == x else state.legal_moves(one)[0] for one in game.roles])
        assert tree.is_solved(tree.keep(following))


def shares(monkeypatch: pytest.MonkeyPatch, name: str, columns: str, seconds: float) -> list[float]:
    """Return the shares of *seconds* that a prover which finds nothing takes at three moves in the same state."""
    game = compiled(name)
    prover, found = Prover(game), list[float]()

    def solve(_state: object, _role: object, budget: SearchBudget, _expected: float | None) -> None:
        assert budget.deadline is not None
        found.append(budget.deadline.remaining_s / seconds)

    monkeypatch.setattr(prover.search, "solve", solve)
    state = after(game, columns)
    for _ in range(3):
        prover.think(state, game.roles[len(columns) % 2], Deadline(seconds, lambda: 0.0))
    return found


def test_a_proof_that_seems_possible_has_half_of_a_move(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shares(monkeypatch, "connectfour", LATE, 8.0) == [1 / 2, 1 / 2, 1 / 2]


def test_where_ends_are_far_a_prover_that_finds_nothing_takes_ever_less(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shares(monkeypatch, "connectfour", "", 8.0) == [1 / 8, 1 / 16, 1 / 32]


def test_the_effort_of_a_proof_falls_as_plays_get_shorter() -> None:
    game = compiled("connectfour")
    efforts = [log_effort(game, after(game, LATE[:n]), limit=20.0) for n in (4, 8, 12)]
    assert efforts == sorted(efforts, reverse=True)


def test_the_effort_is_half_of_the_exponent_of_all_lines() -> None:
    game = compiled("nim")
    state = next(states(game, 1, 0, 0))
    plays = game.playouts(state, 512, 1)
    n_moves = max(len(state.legal_moves(role)) for role in game.roles)
    assert log_effort(game, state, limit=30.0) == log(n_moves) / 2 * plays.n_steps / 512


def test_a_play_that_lasts_too_long_says_that_the_end_is_far() -> None:
    game = compiled("breakthrough")
    assert log_effort(game, game.initial_state, limit=10.0) == inf


def test_what_was_proven_before_is_known_at_once() -> None:
    game = compiled("connectfour")
    prover, state, yellow = Prover(game), after(game, LATE), game.roles[1]
    assert prover.known(state, yellow).move is None
    found = prover.think(state, yellow, Deadline.after(600.0))
    assert prover.known(state, yellow).value == found.value == 100
