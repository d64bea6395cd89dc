"""Ratings: right on simulated leagues, equal to those of choix, and sound where there is little to go by."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from benchmarks.ratings import FAIR, GAMES, SimulatedGame, disagreement_with_choix, measured_coverage, simulated_league
from server.tournament.fixtures import MatchResult
from server.tournament.plackett_luce import MOST_ROLES
from server.tournament.ratings import Ratings, RoleEffect, elo_range, fit_ratings, fit_ratings_by_game, rating_history


def matches(first: str, second: str, won: int, drawn: int, lost: int, game: str = "chess") -> list[MatchResult]:
    goals = won * [(100, 0)] + drawn * [(50, 50)] + lost * [(0, 100)]
    return [MatchResult(game, (first, second), pair) for pair in goals]


def elos(ratings: Ratings) -> dict[str, float]:
    return {rating.player: rating.elo for rating in ratings.players}


@pytest.mark.exhaustive
def test_the_intervals_cover_the_truth_in_93_to_97_of_a_hundred() -> None:
    """Of 1,600 intervals 95 % are expected; 93 and 97 are nearly four deviations away."""
    coverage = measured_coverage(np.random.default_rng(3), 200, 8, 80, 200)
    assert coverage.intervals == 1600
    assert 0.93 <= coverage.covered / coverage.intervals <= 0.97
    assert 0.93 <= coverage.roles_covered / coverage.roles <= 0.98


def test_who_is_called_superior_with_some_likelihood_is_so_as_often() -> None:
    coverage = measured_coverage(np.random.default_rng(4), 40, 10, 120, 200)
    assert coverage.superior / coverage.pairs == pytest.approx(coverage.claimed / coverage.pairs, abs=0.03)


def test_without_role_effects_ratings_are_within_one_elo_of_choix() -> None:
    assert disagreement_with_choix(np.random.default_rng(5), 20, 600) < 1


def test_a_lucky_seat_earns_nothing() -> None:
    """The first role wins 70 % between equals; that ann has it nine times in ten does not make her stronger."""
    results = matches("ann", "bob", 63, 0, 27) + matches("bob", "ann", 7, 0, 3)
    with_effects = fit_ratings(results)
    assert elos(with_effects) == pytest.approx({"ann": 1500, "bob": 1500}, abs=5)
    first, second = with_effects.roles
    assert first.elo - second.elo == pytest.approx(400 * math.log10(7 / 3), abs=5)
    assert (first.game, first.role, second.role) == ("chess", 0, 1)
    assert first.low < first.elo < first.high
    without = elos(fit_ratings(results, has_role_effects=False))
    assert without["ann"] - without["bob"] > 80


def test_roles_of_each_game_have_effects_of_their_own() -> None:
    game = SimulatedGame("odd", (200, 0, -200))
    league = simulated_league(np.random.default_rng(6), 8, 1500, [FAIR, game])
    found = {(role.game, role.role): role for role in fit_ratings(league.results).roles}
    assert list(found) == [("fair", 0), ("fair", 1), ("odd", 0), ("odd", 1), ("odd", 2)]
    assert [found["odd", role].elo for role in range(3)] == pytest.approx([200, 0, -200], abs=40)
    assert [found["fair", role].elo for role in range(2)] == pytest.approx([0, 0], abs=40)


def test_without_effects_every_role_is_worth_the_mean_of_its_game() -> None:
    results = matches("ann", "bob", 9, 0, 1, "go") + matches("ann", "bob", 9, 0, 1)
    assert fit_ratings(results, has_role_effects=False).roles == tuple(
        RoleEffect(game, role, 0.0, 0.0, 0.0) for game in ("chess", "go") for role in (0, 1)
    )


def test_elo_is_the_logarithm_of_the_odds() -> None:
    found = elos(fit_ratings(matches("ann", "bob", 3000, 0, 1000), has_role_effects=False))
    assert found["ann"] - found["bob"] == pytest.approx(400 * math.log10(3), abs=0.5)


def test_draws_bring_equals_together_and_make_intervals_shorter_than_no_matches() -> None:
    ratings = fit_ratings(matches("ann", "bob", 0, 40, 0))
    assert elos(ratings) == pytest.approx({"ann": 1500, "bob": 1500}, abs=1e-3)
    assert all(rating.high - rating.low < 2 * 1.96 * 400 for rating in ratings.players)
    assert ratings.superiority("ann", "bob") == pytest.approx(0.5, abs=1e-3)


def test_more_draws_pull_the_expected_score_of_their_game_to_a_half() -> None:
    results = matches("ann", "bob", 300, 0, 100) + matches("ann", "bob", 75, 300, 25, "draughts")
    results += [MatchResult(one.game, one.players[::-1], one.goals[::-1]) for one in results]
    ratings = fit_ratings(results)
    assert ratings.expected_score("ann", "bob") == pytest.approx(0.75, abs=0.01)
    assert ratings.expected_score("ann", "bob", "chess") == pytest.approx(0.75, abs=0.01)
    assert ratings.expected_score("ann", "bob", "draughts") == pytest.approx((75 + 150) / 400, abs=0.01)
    assert ratings.expected_score("bob", "ann", "draughts") == pytest.approx((25 + 150) / 400, abs=0.01)


def test_the_expected_score_is_the_mean_of_both_seats() -> None:
    """In chess the first role wins oftener, in go it does not; by how much ann is stronger is the same in both."""
    chess = matches("ann", "bob", 760, 0, 40) + matches("bob", "ann", 560, 0, 240)
    ratings = fit_ratings(chess + matches("ann", "bob", 74, 0, 26, "go") + matches("bob", "ann", 26, 0, 74, "go"))
    assert ratings.expected_score("ann", "bob", "chess") == pytest.approx((760 + 240) / 1600, abs=0.002)
    assert ratings.expected_score("ann", "bob", "go") == pytest.approx(0.74, abs=0.002)


def test_the_expected_score_of_a_game_needs_two_roles() -> None:
    ratings = fit_ratings([MatchResult("trio", ("ann", "bob", "cat"), (100, 50, 0))])
    with pytest.raises(ValueError, match="no ratings of matches of two roles of 'trio'"):
        ratings.expected_score("ann", "bob", "trio")


def test_the_range_of_ratings_holds_all_their_intervals() -> None:
    ann, bob = fit_ratings(matches("ann", "bob", 3, 1, 0)).players
    assert [elo_range(ratings) for ratings in ([ann, bob], [])] == [(bob.low, ann.high), (0.0, 0.0)]


def test_matches_of_four_roles_with_ties_rank_the_players() -> None:
    league = simulated_league(np.random.default_rng(7), 4, 800, [GAMES[3]])
    truth = sorted(league.strengths, key=lambda player: -league.strengths[player])
    assert [rating.player for rating in fit_ratings(league.results).players] == truth


def test_one_match_says_a_little() -> None:
    ratings = fit_ratings(matches("ann", "bob", 1, 0, 0))
    ann, bob = ratings.players
    assert (ann.player, ann.n_matches, bob.n_matches, ratings.n_matches) == ("ann", 1, 1, 1)
    assert bob.low < ann.low < bob.elo < 1500 < ann.elo < bob.high < ann.high
    assert ann.elo + bob.elo == pytest.approx(3000)
    assert 0.5 < ratings.superiority("ann", "bob") < 0.95


def test_who_wins_every_match_has_a_rating_all_the_same() -> None:
    ratings = fit_ratings(matches("ann", "bob", 50, 0, 0) + matches("bob", "ann", 0, 0, 50))
    ann, bob = ratings.players
    assert ann.player == "ann"
    assert 400 < ann.elo - bob.elo < 2000
    assert math.isfinite(ann.low)
    assert ratings.superiority("ann", "bob") > 0.99
    assert ratings.superiority("bob", "ann") == pytest.approx(1 - ratings.superiority("ann", "bob"))


def test_groups_that_never_met_are_held_together_by_the_prior() -> None:
    ratings = fit_ratings(matches("ann", "bob", 60, 0, 40) + matches("cat", "dan", 60, 0, 40), has_role_effects=False)
    assert elos(ratings)["ann"] == pytest.approx(elos(ratings)["cat"])
    assert 0.5 < ratings.superiority("ann", "dan") < 0.6 < ratings.superiority("ann", "bob")


def test_superiority_follows_from_the_posterior_of_both_together() -> None:
    """Ann and bob met each other often, and the others hardly: that all are uncertain together must not count."""
    results = matches("ann", "bob", 130, 0, 70) + matches("ann", "cat", 1, 0, 1)
    ratings = fit_ratings(results, has_role_effects=False)
    ann, bob = ratings.rating_of("ann"), ratings.rating_of("bob")
    assert bob.high > ann.low
    assert ratings.superiority("ann", "bob") > 0.999


def test_the_lead_over_another_is_the_rating_where_that_one_is_the_anchor_at_0() -> None:
    results = matches("ann", "bob", 60, 10, 30) + matches("bob", "cat", 20, 10, 10)
    anchored = fit_ratings(results, anchor=("cat", 0)).rating_of("ann")
    assert fit_ratings(results).lead("ann", "cat") == pytest.approx((anchored.elo, anchored.low, anchored.high))


def test_a_player_is_not_ahead_of_itself() -> None:
    ratings = fit_ratings(matches("ann", "bob", 60, 0, 40))
    assert (ratings.lead("ann", "ann"), ratings.superiority("ann", "ann")) == ((0, 0, 0), 0.5)


def test_a_player_against_itself_tells_of_roles_alone() -> None:
    alone = fit_ratings(matches("ann", "ann", 70, 0, 30))
    assert [(rating.player, rating.elo, rating.n_matches) for rating in alone.players] == [("ann", 1500, 0)]
    assert alone.roles[0].low > 0 > alone.roles[1].high


def test_games_of_one_role_are_left_out() -> None:
    ratings = fit_ratings([MatchResult("puzzle", ("ann",), (100,))])
    assert (ratings.players, ratings.roles, ratings.n_matches) == ((), (), 0)


@pytest.mark.parametrize("ask", [Ratings.lead, Ratings.superiority, Ratings.expected_score])
def test_without_matches_no_player_has_a_rating(ask: Callable[[Ratings, str, str], object]) -> None:
    with pytest.raises(KeyError, match="ann"):
        ask(fit_ratings([]), "ann", "bob")


def test_games_of_more_roles_than_can_be_ranked_are_left_out() -> None:
    names = [f"player {i}" for i in range(MOST_ROLES + 1)]
    results = [MatchResult(f"{n} roles", tuple(names[:n]), tuple(range(n))) for n in (MOST_ROLES, MOST_ROLES + 1)]
    assert sorted(elos(fit_ratings(results))) == names[:-1]


def test_the_anchor_has_its_elo_by_definition() -> None:
    results = matches("ann", "bob", 60, 10, 30) + matches("bob", "cat", 60, 10, 30)
    ratings = fit_ratings(results, anchor=("bob", 1000))
    bob = ratings.rating_of("bob")
    assert (bob.elo, bob.low, bob.high) == pytest.approx((1000, 1000, 1000))
    by_mean = fit_ratings(results)
    assert ratings.superiority("ann", "cat") == by_mean.superiority("ann", "cat")
    with pytest.raises(ValueError, match="the anchor 'eve' has no match"):
        fit_ratings(results, anchor=("eve", 1000))


def test_only_the_games_asked_for_count() -> None:
    results = matches("ann", "bob", 60, 0, 40) + matches("ann", "bob", 40, 0, 60, "draughts")
    by_game = fit_ratings_by_game(results)
    assert list(by_game) == ["chess", "draughts"]
    assert elos(by_game["draughts"]) == elos(fit_ratings(results, games=["draughts"]))
    assert [by_game[game].players[0].player for game in by_game] == ["ann", "bob"]


def test_in_each_game_that_it_plays_against_others_the_anchor_has_its_elo() -> None:
    results = matches("ann", "bob", 6, 0, 4) + matches("cat", "bob", 6, 0, 4, "go")
    results += [MatchResult("puzzle", ("ann",), (100,))]
    by_game = fit_ratings_by_game(results, anchor=("ann", 1000))
    assert {game: ratings.n_matches for game, ratings in by_game.items()} == {"chess": 10, "go": 10, "puzzle": 0}
    assert by_game["chess"].rating_of("ann").elo == pytest.approx(1000)
    assert elos(by_game["go"]) == elos(fit_ratings(results, games=["go"]))


def test_a_narrow_prior_keeps_all_near_the_mean() -> None:
    found = elos(fit_ratings(matches("ann", "bob", 10, 0, 0), prior_elo=0.5))
    assert found == pytest.approx({"ann": 1500, "bob": 1500}, abs=0.05)


@pytest.mark.parametrize("prior_elo", [0, -1, math.nan])
def test_the_prior_must_have_a_width(prior_elo: float) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        fit_ratings([], prior_elo=prior_elo)


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
