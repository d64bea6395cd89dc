"""Leaderboards from results."""

from __future__ import annotations

from dataclasses import replace

from server.leaderboards.leaderboard import Leaderboard, RatingCurves, leaderboard_of
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


def test_a_match_that_errors_lost_is_a_loss_and_a_forfeit_whatever_the_goals_are() -> None:
    by_substitutes = replace(won("bob", "ada", 1), result=MatchResult("chess", ("bob", "ada"), (100, 0), (3, 0), "m1"))
    rows = leaderboard_of([replace(by_substitutes, forfeit_errors=3)]).rows
    assert [(row.rating.player, row.outcomes, row.n_errors, row.n_forfeits) for row in rows] == [
        ("ada", {"wins": 1}, 0, 0), ("bob", {"losses": 1}, 3, 1),
    ]  # fmt: skip
    assert [row.rating.player for row in leaderboard_of([replace(by_substitutes, forfeit_errors=4)]).rows] == [
        "bob", "ada",
    ]  # fmt: skip


def test_a_match_that_all_have_lost_says_nothing_of_strength() -> None:
    both = RatedResult(MatchResult("chess", ("ada", "bob"), (100, 0), (2, 2), "m9"), 9, forfeit_errors=2)
    board, before = leaderboard_of([*RESULTS, both]), leaderboard_of(RESULTS)
    assert [row.rating for row in board.rows] == [row.rating for row in before.rows]
    assert [point.keys() for _, point in board.curves.points] == [point.keys() for _, point in before.curves.points]
    assert [(row.n_matches, row.outcomes.get("losses", 0), row.n_forfeits, row.last_ms) for row in board.rows] == [
        (4, 1, 1, 9), (4, 3, 1, 9), (2, 2, 0, 3),
    ]  # fmt: skip


def test_without_results_the_leaderboard_is_empty() -> None:
    assert leaderboard_of([]) == Leaderboard((), (), 0, RatingCurves(0, 0, ()), 0)


def test_a_row_tells_what_a_version_made_and_whose_it_is() -> None:
    names = "ada", "bob"
    old = [
        RatedResult(MatchResult("chess", ("ada 1.0", "bob"), (100, 0), (n, 1), f"m{n}"), n, names=names) for n in (1, 2)
    ]
    rows = leaderboard_of([*old, won("ada", "bob", 3, errors=4)]).rows
    assert [(row.rating.player, row.name, row.outcomes, row.n_errors, row.last_ms) for row in rows] == [
        ("ada 1.0", "ada", {"wins": 2}, 3, 2), ("ada", "ada", {"wins": 1}, 0, 3), ("bob", "bob", {"losses": 3}, 6, 3),
    ]  # fmt: skip


def test_a_player_is_found_by_the_name_of_its_version() -> None:
    board = leaderboard_of(RESULTS)
    assert [board.row_of(name) for name in ("bob", "nobody")] == [board.rows[1], None]


def test_a_tenth_of_new_results_is_few() -> None:
    many = [won("ada", "bob", n) for n in range(20)]
    curves = leaderboard_of(many).curves
    kept = [curves.hold_for([*many, *(won("ada", "bob", 50 + n) for n in range(n_new))]) for n_new in (2, 3)]
    assert kept == [True, False]


def test_the_curves_are_of_twenty_times_and_end_with_the_last_match() -> None:
    board = leaderboard_of([won("ada", "bob", 10 * n) for n in range(50)])
    times = [at_ms for at_ms, _ in board.curves.points]
    assert (len(times), times[0], times[-1], board.curves.n_results, board.curves.last_ms) == (20, 10, 490, 50, 490)
    assert board.last_ms == 490
