"""Leaderboards from results."""

from __future__ import annotations

from server.storage.results import RatedResult
from server.tournament.fixtures import MatchResult
from server.web.leaderboards import by_seat, leaderboard_of


def won(winner: str, loser: str, at_ms: int, errors: int = 0) -> RatedResult:
    return RatedResult(MatchResult("chess", (winner, loser), (100, 0), (0, errors), f"m{at_ms}"), at_ms)


RESULTS = [won("ada", "bob", 1), won("bob", "cyd", 2), won("ada", "cyd", 3, errors=2), won("ada", "bob", 4)]


def test_the_best_is_first_with_what_it_won_and_when_it_played_last() -> None:
    board, _ = leaderboard_of(RESULTS)
    assert [(row.rank, row.rating.player, row.last_ms, row.n_errors) for row in board.rows] == [
        (1, "ada", 4, 0), (2, "bob", 4, 0), (3, "cyd", 3, 2),
    ]  # fmt: skip
    assert board.rows[1].outcomes == {"wins": 1, "losses": 2}
    assert [role.role for role in board.roles] == [0, 1]


def test_what_a_player_made_against_itself_counts_neither_as_won_nor_as_lost() -> None:
    three = RatedResult(MatchResult("trio", ("ada", "bob", "ada"), (100, 50, 0), (0, 0, 0), "m9"), 9)
    board, _ = leaderboard_of([*RESULTS, won("ada", "ada", 5), three])
    made = {row.rating.player: (row.rating.n_matches, dict(row.outcomes)) for row in board.rows}
    assert made == {"ada": (4, {"wins": 4}), "bob": (4, {"wins": 1, "losses": 3}), "cyd": (2, {"losses": 2})}


def test_the_curves_are_kept_until_a_tenth_of_the_results_is_new() -> None:
    _, curves = leaderboard_of(RESULTS)
    assert leaderboard_of(RESULTS, curves)[1] is curves
    assert leaderboard_of([*RESULTS, won("cyd", "bob", 5)], curves)[1] is not curves
    many = [won("ada", "bob", 10 + n) for n in range(20)]
    _, curves = leaderboard_of(many)
    board, again = leaderboard_of([*many, won("bob", "ada", 50)], curves)
    assert again is curves
    assert board.chart is not None
    assert board.chart.last == "1970-01-01 00:00"


def test_without_results_the_leaderboard_is_empty() -> None:
    board, _ = leaderboard_of([])
    assert (board.rows, board.chart, board.elo_range) == ((), None, (0.0, 0.0))


def test_head_to_head_is_by_game_and_role() -> None:
    results = [each.result for each in (*RESULTS, won("bob", "ada", 6))]
    own = [result for result in results if set(result.players) == {"ada", "bob"}]
    assert [(part.game, part.role, part.wins, part.losses) for part in by_seat(own, "ada", "bob")] == [
        ("chess", 0, 2, 0), ("chess", 1, 0, 1),
    ]  # fmt: skip
