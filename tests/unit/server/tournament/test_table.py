"""The table of a tournament."""

from __future__ import annotations

from dataclasses import replace

import pytest

from server.tournament.fixtures import MatchResult, TournamentGame
from server.tournament.plan import TournamentPlan
from server.tournament.progress import PlayedMatch, Progress
from server.tournament.ratings import fit_ratings
from server.tournament.scoring import MEETINGS_COUNT
from server.tournament.table import head_to_head, outcomes, superiority, table_of
from tests.kit.server.tournament import lopsided_progress, result_of


def test_what_players_thought_and_moved_is_added_up_for_each() -> None:
    found = lopsided_progress()
    first = replace(found.ended[0], thinking_ms=(1234, 2500), n_moves=(2, 3))
    rows = table_of(replace(found, ended=(first, *found.ended[1:])))
    assert [(row.player, row.thinking_s, row.moves) for row in rows] == [("=1+1", 6.234, 8), ("<b>", 6.5, 9)]


def test_without_matches_all_are_first_and_not_rated() -> None:
    assert [row.as_json() for row in table_of(replace(lopsided_progress(), ended=()))] == [
        {
            "rank": 1, "player": player, "matches": 0, "score": 0.0, "wins": 0, "draws": 0, "losses": 0,
            "byes": 0, "meanGoal": 0.0, "elo": None, "eloLow": None, "eloHigh": None, "los": None, "errors": 0,
            "thinkingSeconds": 0.0, "moves": 0, "decidedBy": None, "forfeits": 0,
        }
        for player in ("=1+1", "<b>")
    ]  # fmt: skip


def test_a_tie_break_that_decided_is_named() -> None:
    found = lopsided_progress()
    ended = [replace(one, result=replace(one.result, goals=(50, 50), errors=(0, 0))) for one in found.ended]
    ended[0] = replace(ended[0], result=replace(ended[0].result, errors=(1, 0)))
    rows = table_of(replace(found, ended=tuple(ended)))
    assert [(row.rank, row.player, row.decided_by) for row in rows] == [
        (1, "<b>", None), (2, "=1+1", "fewer errors"),
    ]  # fmt: skip


def test_in_a_knockout_an_order_of_entry_that_decided_is_named() -> None:
    plan = {"games": ["g"], "players": dict.fromkeys("ab", "legal"), "format": "knockout", "rounds": 1}
    found = Progress(TournamentPlan.model_validate(plan), (TournamentGame("g", 2),), (), ())
    while matches := found.next_matches():
        drawn = [PlayedMatch(result_of(match, (50, 50)), (1, 1), (1, 1)) for match in matches]
        found = replace(found, scheduled=(*found.scheduled, *matches), ended=(*found.ended, *drawn))
    assert [(row.rank, row.player, row.as_json()["decidedBy"]) for row in table_of(found)] == [
        (1, "a", None), (2, "b", "order of entry"),
    ]  # fmt: skip


def test_a_bye_counts_and_is_shown_in_a_swiss_tournament_alone() -> None:
    plan = {"games": ["g"], "players": dict.fromkeys("abc", "legal"), "format": "swiss", "rounds": 1}
    begun = Progress(TournamentPlan.model_validate(plan), (TournamentGame("g", 2),), (), ())
    swiss = replace(begun, scheduled=begun.next_matches())
    others = replace(swiss, plan=TournamentPlan.model_validate({**plan, "format": "round-robin"}))
    assert [[(row.player, row.score, row.won_drawn_lost) for row in table_of(each)] for each in (swiss, others)] == [
        [("c", 2.0, "0-0-0, 1 bye"), ("a", 0.0, "0-0-0"), ("b", 0.0, "0-0-0")],
        [("a", 0.0, "0-0-0"), ("b", 0.0, "0-0-0"), ("c", 0.0, "0-0-0")],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("players", "goals", "counted"),
    [
        ("ab", (60, 40), {"a": "wins", "b": "losses"}),
        ("ab", (50, 50), {"a": "draws", "b": "draws"}),
        ("abc", (20, 50, 50), {"a": "losses", "b": "draws", "c": "draws"}),
        ("abc", (90, 50, 50), {"a": "wins", "b": "losses", "c": "losses"}),
        ("aba", (100, 50, 0), {"a": "wins", "b": "losses"}),
        ("aba", (0, 50, 100), {"a": "wins", "b": "losses"}),
        ("aba", (0, 50, 50), {"a": "draws", "b": "draws"}),
        ("aa", (100, 0), {}),
        ("a", (100,), {}),
    ],
)
def test_the_best_goal_of_a_player_is_compared_with_the_best_of_the_others(
    players: str, goals: tuple[int, ...], counted: dict[str, str]
) -> None:
    found = outcomes([MatchResult("g", tuple(players), goals)] * 2, MEETINGS_COUNT)
    assert found == {player: {outcome: 2} for player, outcome in counted.items()}


def test_a_player_is_compared_with_the_best_of_the_others() -> None:
    results = [MatchResult("g", ("a", "b"), (100, 0)), MatchResult("g", ("b", "c"), (100, 0))] * 3
    ratings = fit_ratings(results)
    assert [superiority(name, ratings) for name in "abcd"] == [
        ratings.superiority("a", "b"), ratings.superiority("b", "a"), ratings.superiority("c", "a"), None,
    ]  # fmt: skip
    assert superiority("a", fit_ratings([MatchResult("g", ("a", "a"), (100, 0))])) is None


def test_the_cross_table_has_points_and_matches() -> None:
    found = lopsided_progress()
    assert head_to_head(found.results, ["=1+1", "<b>"], found.plan.scoring) == [["", "3.5/4"], ["0.5/4", ""]]


def test_forfeits_say_nothing_of_strength() -> None:
    absent = tuple(replace(one, result=replace(one.result, forfeited=("<b>",))) for one in lopsided_progress().ended)
    first, second = table_of(replace(lopsided_progress(), ended=absent))
    assert (first.player, first.rating, second.rating, first.wins + first.draws) == ("=1+1", None, None, 4)
    assert (first.forfeits, second.forfeits) == (0, 4)


def test_a_row_has_the_sums_of_all_matches_as_scripts_read_them() -> None:
    first, second = table_of(lopsided_progress())
    assert first.as_json() == {
        "rank": 1, "player": "=1+1", "matches": 4, "score": 3.5, "wins": 3, "draws": 1, "losses": 0, "byes": 0,
        "meanGoal": 87.5, "elo": 1736.6, "eloLow": 1421.6, "eloHigh": 2051.6, "los": 0.9295, "errors": 2,
        "thinkingSeconds": 6.0, "moves": 8, "decidedBy": None, "forfeits": 0,
    }  # fmt: skip
    assert (second.player, second.score, second.wins, second.draws, second.losses) == ("<b>", 0.5, 0, 1, 3)
    unrated = replace(second, score=1 / 3, mean_goal=1 / 3, rating=None, los=None, thinking_s=1 / 3)
    assert replace(unrated, decided_by="Buchholz").as_json() == second.as_json() | {
        "score": 0.3333, "meanGoal": 0.33, "elo": None, "eloLow": None, "eloHigh": None, "los": None,
        "thinkingSeconds": 0.333, "decidedBy": "Buchholz",
    }  # fmt: skip
