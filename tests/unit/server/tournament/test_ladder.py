"""The ladder: which meeting tells most, of players that are free."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import scipy  # its packages load when they are first used
from hypothesis import given, settings
from hypothesis import strategies as st

from server.tournament.fixtures import Entrant, digest
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


def test_the_next_meeting_is_of_those_who_are_left() -> None:
    given_ = Ladder(ESTIMATES, frozenset(ESTIMATES), n_meetings=3, sets=2)(competition_of(5))
    assert [(match.round, match.players) for match in given_] == [
        (1, ("p4", "p3")), (1, ("p3", "p4")), (1, ("p4", "p3")), (1, ("p3", "p4")),
        (2, ("p2", "p1")), (2, ("p1", "p2")), (2, ("p2", "p1")), (2, ("p1", "p2")),
    ]  # fmt: skip


def test_meetings_of_a_ladder_that_has_begun_stay_as_they_are() -> None:
    """Databases keep them: with other ids, the next version of the server schedules them once more."""
    schedule = Ladder(ESTIMATES, frozenset(ESTIMATES), n_meetings=2)
    competition = competition_of(5, 2, 3, seed=7)
    for _ in range(3):
        competition = play_open(schedule_next(schedule, competition), by_lot(1))
    assert [(pairing.round, pairing.players) for pairing in competition.pairings] == [
        (1, ("p3", "p4")), (2, ("p2", "p1", "p5")), (3, ("p3", "p4")), (4, ("p2", "p1", "p5")),
        (5, ("p3", "p4")), (6, ("p1", "p2", "p5")),
    ]  # fmt: skip
    given_ = (
        (match.match_id, match.players, match.round, match.seed, match.scramble_seed) for match in competition.scheduled
    )
    assert digest(*given_) == "tc92b2e6628fb7d87"


def entropy(chance: float) -> float:
    return -chance * math.log(chance) - (1 - chance) * math.log1p(-chance)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Estimate(1500, 30), Estimate(1500, 30)),
        (Estimate(1500, 350), Estimate(1500, 350)),
        (Estimate(1800, 100), Estimate(1500, 20)),
        (Estimate(1400, 200), Estimate(1900, 350)),
    ],
)
def test_information_is_the_entropy_of_results_that_ratings_leave_unexplained(one: Estimate, other: Estimate) -> None:
    """By adaptive integration over the normal distribution of the difference."""
    deviation = math.hypot(one.deviation, other.deviation)

    def chance(z: float) -> float:
        return 1 / (1 + 10 ** (-(one.rating - other.rating + deviation * z) / 400))

    def expected(value: Callable[[float], float]) -> float:
        density = math.sqrt(2 * math.pi)
        found: float = scipy.integrate.quad(lambda z: value(z) * math.exp(-z * z / 2) / density, -9, 9)[0]
        return found

    known = entropy(expected(chance)) - expected(lambda z: entropy(chance(z)))
    assert information([one, other])[0, 1] == pytest.approx(known, rel=1e-4)


@pytest.mark.parametrize("seed", range(6))
def test_a_group_is_filled_with_those_who_tell_most_about_it(seed: int) -> None:
    given_ = Ladder({**ESTIMATES, "p2": Estimate(1500, 100)}, frozenset(ESTIMATES))(competition_of(5, 3, seed=seed))
    assert {name for match in given_ for name in match.players} == {"p2", "p3", "p4"}


def test_players_meet_others_where_nothing_is_left_to_learn() -> None:
    certain = {name: Estimate(1500, 0) for name in ESTIMATES}
    (pairing,) = schedule_next(Ladder(certain, frozenset(certain)), competition_of(5)).pairings
    assert len(pairing.players) == 2


def test_a_late_entrant_is_not_picked_before_its_round() -> None:
    competition = competition_of(2)
    late = replace(competition, entrants=(*competition.entrants, Entrant("late", since_round=2)))
    schedule = Ladder(ESTIMATES, ("p1", "p2", "late"))
    begun = schedule_next(schedule, late)
    assert {name for match in begun.scheduled for name in match.players} == {"p1", "p2"}
    assert "late" in {name for match in schedule(play_open(begun, by_lot(1))) for name in match.players}


def test_a_game_that_was_played_less_has_the_next_turns() -> None:
    free = [f"p{i}" for i in range(1, 7)]
    begun = schedule_next(Ladder(free=free, n_meetings=2), competition_of(6))
    both = replace(play_open(begun, by_lot(1)), games=competition_of(6, 2, 2).games)
    after = schedule_next(Ladder(free=free, n_meetings=3), both)
    assert [pairing.matches[0].game for pairing in after.pairings] == ["g1", "g1", "g2", "g2", "g1"]


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
