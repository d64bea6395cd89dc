"""Results of matches: the goals of who has several seats, points of one role against another, and forfeits."""

from __future__ import annotations

import pytest

from server.tournament.fixtures import MatchResult, ScheduledMatch, forfeit

TRIO = MatchResult("trio", ("ada", "bob", "ada"), (100, 50, 49), (0, 1, 2), "m1")


def test_the_goal_of_a_player_is_the_mean_of_its_seats() -> None:
    assert [TRIO.goal_of(name) for name in ("ada", "bob")] == [74.5, 50.0]


def test_who_did_not_play_has_no_goal() -> None:
    with pytest.raises(ValueError, match="cyd did not play in the match m1"):
        TRIO.goal_of("cyd")


def test_a_role_has_a_point_for_any_goal_more_than_that_of_another() -> None:
    assert [[TRIO.points(role, other) for other in range(3)] for role in range(3)] == [
        [0.5, 1.0, 1.0], [0.0, 0.5, 1.0], [0.0, 0.0, 0.5],
    ]  # fmt: skip


def test_of_a_match_that_is_not_played_those_who_came_have_won() -> None:
    match = ScheduledMatch("m1", "trio", ("ada", "bob", "cyd"), 1, 2, 3, "pair", "set")
    assert forfeit(match, ["bob", "dan"]) == MatchResult(
        "trio", ("ada", "bob", "cyd"), (100, 0, 100), (0, 0, 0), "m1", ("bob",)
    )
