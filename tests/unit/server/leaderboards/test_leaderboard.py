"""Leaderboards from results."""

from __future__ import annotations

from server.leaderboards.leaderboard import leaderboard_of
from server.storage.rows import RatedResult
from server.tournament.fixtures import MatchResult
from tests.kit.server.leaderboards.results import RESULTS, won


def test_the_best_is_first_with_what_it_won_and_when_it_played_last() -> None:
    board = leaderboard_of(RESULTS)
    assert [(row.rank, row.rating.player, row.last_ms, row.n_errors) for row in board.rows] == [
        (1, "ada", 4, 0), (2, "bob", 4, 0), (3, "cyd", 3, 2),
    ]  # fmt: skip
    assert board.rows[1].outcomes == {"wins": 1, "losses": 2}
    assert [role.role for role in board.roles] == [0, 1]


def test_what_a_player_made_against_itself_counts_neither_as_won_nor_as_lost() -> None:
    three = RatedResult(MatchResult("trio", ("ada", "bob", "ada"), (100, 50, 0), (0, 0, 0), "m9"), 9)
    board = leaderboard_of([*RESULTS, won("ada", "ada", 5), three])
    made = {row.rating.player: (row.rating.n_matches, dict(row.outcomes)) for row in board.rows}
    assert made == {"ada": (4, {"wins": 4}), "bob": (4, {"wins": 1, "losses": 3}), "cyd": (2, {"losses": 2})}


def test_the_curves_are_kept_until_a_tenth_of_the_results_is_new() -> None:
    curves = leaderboard_of(RESULTS).curves
    assert leaderboard_of(RESULTS, curves).curves is curves
    assert leaderboard_of([*RESULTS, won("cyd", "bob", 5)], curves).curves is not curves
    many = [won("ada", "bob", 10 + n) for n in range(20)]
    curves = leaderboard_of(many).curves
    assert leaderboard_of([*many, won("bob", "ada", 50)], curves).curves is curves


def test_without_results_the_leaderboard_is_empty() -> None:
    board = leaderboard_of([])
    assert (board.rows, board.roles, board.n_matches, board.curves.points, board.last_ms) == ((), (), 0, (), 0)
