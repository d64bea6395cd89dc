"""The ladder: which meeting tells most, of players that are free."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.tournament.ladder import Estimate, Ladder, information
from tests.kit.server.tournament import by_lot, competition_of, play_open, schedule_next

ESTIMATES = {
    "p1": Estimate(1500, 30),
    "p2": Estimate(1500, 30),
    "p3": Estimate(1500, 200),
    "p4": Estimate(1520, 200),
    "p5": Estimate(2500, 200),
}


def test_uncertain_players_of_like_strength_meet() -> None:
    given_ = Ladder(ESTIMATES, frozenset(ESTIMATES))(competition_of(5))
    assert sorted(match.players for match in given_) == [("p3", "p4"), ("p4", "p3")]


def test_only_free_players_are_picked() -> None:
    given_ = Ladder(ESTIMATES, ("p1", "p2", "p3"), n_meetings=5)(competition_of(5))
    assert {name for match in given_ for name in match.players} in ({"p1", "p3"}, {"p2", "p3"})


def test_the_pick_is_the_same_each_time_and_another_meeting_follows() -> None:
    schedule = Ladder(free=frozenset({"p1", "p2", "p3"}))
    competition = competition_of(3)
    assert schedule(competition) == schedule(competition)
    for _ in range(3):
        competition = play_open(schedule_next(schedule, competition), by_lot(1))
    assert set(competition.meetings.values()) == {1}
    assert [pairing.round for pairing in competition.pairings] == [1, 2, 3]


def test_games_take_turns_and_groups_are_filled() -> None:
    schedule = Ladder(ESTIMATES, frozenset(ESTIMATES), n_meetings=2)
    given_ = schedule(competition_of(5, 2, 3))
    assert [(match.game, len(match.players)) for match in given_] == [("g1", 2)] * 2 + [("g2", 3)] * 3


def test_too_few_free_players_get_nothing() -> None:
    assert Ladder(free=("p1",))(competition_of(2)) == ()


def test_information_is_that_of_a_coin_if_the_ratings_are_wide_apart_either_way() -> None:
    wide = information([Estimate(1500, 1e6), Estimate(1500, 1e6)])
    assert wide[0, 1] == pytest.approx(math.log(2), abs=1e-2)


def test_certain_ratings_leave_nothing_to_learn() -> None:
    assert information([Estimate(1500, 0), Estimate(1700, 0)]).max() == pytest.approx(0, abs=1e-12)


@settings(max_examples=25)
@given(st.floats(1000, 2000), st.floats(1000, 2000), st.floats(1, 400), st.floats(1, 400))
def test_information_is_symmetric_and_grows_with_uncertainty(
    one: float, other: float, small: float, more: float
) -> None:
    told = information([Estimate(one, small), Estimate(other, small)])
    assert told[0, 1] == pytest.approx(told[1, 0], abs=1e-9)
    even = information([Estimate(one, small), Estimate(one, small + more)])
    assert even[0, 1] >= information([Estimate(one, small), Estimate(one, small)])[0, 1] - 1e-9
