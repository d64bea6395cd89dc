"""The strength benchmark, and the bar that it holds mcts to."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from benchmarks.strength import Outcome, Pairing, main, play_matches
from server.tournament.fixtures import MatchResult, ScheduledMatch, TournamentGame
from server.tournament.progress import PlayedMatch, Progress


@pytest.mark.exhaustive
def test_mcts_hardly_ever_fails_to_beat_random_at_tictactoe() -> None:
    outcome = play_matches(Pairing("tictactoe", "mcts:playouts=100", "random"), 10, 0, 1)
    assert (outcome.n_wins >= 8, len(outcome.progress.results)) == (True, 10)
    assert all(result.goal_of("mcts:playouts=100") >= 50 for result in outcome.progress.results)


def test_mcts_wins_nine_in_ten_matches_of_connect_four() -> None:
    """`make strength` plays a hundred of them."""
    ended = CliRunner().invoke(main, ["--matches", "4"])
    assert (ended.exit_code, ended.stdout.splitlines()[1].split(":")[0]) == (0, "4 matches")


@pytest.mark.exhaustive
def test_roles_alternate_and_equal_seeds_play_equal_matches_in_any_number_of_processes() -> None:
    def played(n_processes: int) -> dict[str, tuple[tuple[str, ...], tuple[int, ...], int]]:
        progress = play_matches(Pairing("tictactoe", "greedy", "random"), 4, 7, n_processes).progress
        return {
            each.result.match_id: (each.result.players, each.result.goals, each.n_steps) for each in progress.played
        }

    first, again = played(2), played(1)
    assert sorted(players for players, _, _ in first.values()) == 2 * [("greedy", "random")] + 2 * [
        ("random", "greedy")
    ]
    assert first == again


@pytest.mark.exhaustive
def test_a_player_meets_itself() -> None:
    outcome = play_matches(Pairing("tictactoe", "random", "random"), 2, 0, 1)
    assert outcome.lines(["x", "o"])[0] == "random against random at tictactoe, seed 0:"


def test_figures_count_wins_draws_losses_and_roles() -> None:
    pairing, ends = Pairing("tictactoe", "a", "b"), [("ab", 100, 0), ("ba", 50, 50), ("ab", 0, 100), ("ba", 0, 100)]
    scheduled = tuple(
        ScheduledMatch(f"m{i}", "tictactoe", tuple(who), 0, 0, 1, "p", "s") for i, (who, *_) in enumerate(ends)
    )
    steps = (5, 9, 7, 7)
    played = tuple(
        PlayedMatch(MatchResult("tictactoe", match.players, tuple(goals), (0, 0), match.match_id), (0, 0), (0, 0), n)
        for match, (_, *goals), n in zip(scheduled, ends, steps, strict=True)
    )
    progress = Progress(pairing.plan(4, 3), (TournamentGame("tictactoe", 2),), scheduled, played)
    found = Outcome(pairing, progress, 2.0).lines(["x", "o"])
    assert found[:3] == [
        "a against b at tictactoe, seed 3:",
        "4 matches: 2 won, 1 drawn, 1 lost (won as x 1, o 1)",
        "mean goals 62.5 and 37.5; 7.0 steps and 2.0 s a match",
    ]
    assert found[3].startswith("Elo ")


@pytest.mark.exhaustive
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
