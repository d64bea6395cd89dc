"""The strength benchmark, and the bar that it holds mcts to."""

from __future__ import annotations

from itertools import repeat

import pytest
from click.testing import CliRunner

from benchmarks.strength import Outcome, Pairing, lines, main, play_match, play_matches


def test_mcts_hardly_ever_fails_to_beat_random_at_tictactoe() -> None:
    """`make strength` plays a hundred matches of connect four, CI ten of them."""
    outcomes = list(play_matches(Pairing("tictactoe", "mcts:playouts=100", "random"), range(10), 2))
    assert sum(outcome.is_win for outcome in outcomes) >= 8
    assert all(outcome.own_goal >= 50 for outcome in outcomes)


def test_roles_alternate_and_equal_seeds_play_equal_matches() -> None:
    pairing = Pairing("tictactoe", "greedy", "random")

    def played() -> list[tuple[int, str, int, int]]:
        outcomes = map(play_match, repeat(pairing), range(4))
        return [(each.seed, each.role, each.own_goal, each.n_steps) for each in outcomes]

    assert [role for _, role, _, _ in played()] == ["x", "o", "x", "o"]
    assert played() == played()


def test_figures_count_wins_draws_losses_and_roles() -> None:
    outcomes = [
        Outcome(0, "x", 100, 0, 5, 1.0),
        Outcome(1, "o", 50, 50, 9, 2.0),
        Outcome(2, "x", 0, 100, 7, 3.0),
        Outcome(3, "o", 100, 0, 7, 2.0),
    ]
    assert lines(Pairing("tictactoe", "a", "b"), outcomes) == [
        "a against b at tictactoe, seeds 0 to 3:",
        "4 matches: 2 won, 1 drawn, 1 lost (won as o 1, as x 1)",
        "mean goals 62.5 and 37.5; 7.0 steps and 2.0 s a match",
    ]


@pytest.mark.parametrize(("bar", "exit_code"), [(0, 0), (5, 1)])
def test_fewer_wins_than_the_bar_fail(bar: int, exit_code: int) -> None:
    words = ["--game", "tictactoe", "--first", "random", "--matches", "4", "--processes", "1", "--at-least", str(bar)]
    assert CliRunner().invoke(main, words).exit_code == exit_code


def test_a_game_of_another_number_of_players_is_wrong_usage() -> None:
    ended = CliRunner().invoke(main, ["--game", "eightpuzzle", "--matches", "1", "--processes", "1"])
    assert (ended.exit_code, ended.output.splitlines()[-1]) == (
        2,
        "Error: eightpuzzle is no game of two players; its roles are player",
    )
