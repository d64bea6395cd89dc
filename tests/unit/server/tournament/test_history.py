"""Ratings after more and more results."""

from __future__ import annotations

from server.tournament.fixtures import MatchResult
from server.tournament.ratings import fit_ratings, rating_history


def won(winner: str, loser: str) -> MatchResult:
    return MatchResult("g", (winner, loser), (100, 0))


def test_the_history_ends_with_the_ratings_of_all_results() -> None:
    results = [won("ada", "bob"), won("bob", "cyd"), won("ada", "cyd"), won("cyd", "ada")]
    history = rating_history(results, 2)
    assert [each.n_results for each in history] == [2, 4]
    assert history[-1].ratings == {each.player: each for each in fit_ratings(results).players}
    assert history[0].ratings["bob"].n_matches == 2


def test_a_player_is_in_the_history_from_its_first_result_on() -> None:
    history = rating_history([won("ada", "bob"), won("cyd", "bob")])
    assert [sorted(each.ratings) for each in history] == [["ada", "bob"], ["ada", "bob", "cyd"]]


def test_without_results_there_is_no_history() -> None:
    assert rating_history([]) == ()
