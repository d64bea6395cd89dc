"""Knockout: brackets, byes, ties, two lives, withdrawals, heats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.errors import ScheduleError
from server.tournament.competition import Competition, forfeits_of_withdrawn
from server.tournament.fixtures import Entrant, ScheduledMatch, derived_seed
from server.tournament.knockout import Knockout, Vacancy, seeded
from server.tournament.scoring import ScoringRules, meeting_points
from tests.kit.server.tournament import Play, by_lot, by_rank, competition_of, play_all, play_open, schedule_next


def lost_meetings(competition: Competition) -> Counter[str]:
    lost: Counter[str] = Counter()
    for pairing in competition.pairings:
        points = meeting_points(pairing, ScoringRules())
        lost.update(name for name in points if points[name] == 0)
    return lost


def equal(match: ScheduledMatch) -> tuple[int, ...]:
    return (50,) * len(match.players)


def with_goals(goals: Mapping[str, int]) -> Play:
    return lambda match: tuple(goals[name] for name in match.players)


def withdrawn(competition: Competition, name: str, after: int) -> Competition:
    entrants = (
        replace(entrant, withdrawn_after=after) if entrant.name == name else entrant for entrant in competition.entrants
    )
    return replace(competition, entrants=tuple(entrants))


def test_the_bracket_of_eight_parts_the_best() -> None:
    assert seeded([str(i) for i in range(1, 9)]) == ["1", "8", "4", "5", "2", "7", "3", "6"]


def test_the_best_ranked_have_byes() -> None:
    assert seeded(["1", "2", "3"]) == ["1", Vacancy.BYE, "2", "3"]


def test_by_rank_the_first_two_meet_in_the_last_round() -> None:
    competition = play_all(Knockout(), competition_of(6))
    assert [(pairing.round, pairing.players) for pairing in competition.pairings] == [
        (1, ("p4", "p5")), (1, ("p3", "p6")), (2, ("p1", "p4")), (2, ("p2", "p3")), (3, ("p1", "p2")),
    ]  # fmt: skip
    assert Knockout().winner(competition) == "p1"


def test_by_rank_a_double_knockout_lets_losers_go_on() -> None:
    competition = play_all(Knockout(is_double=True), competition_of(4))
    assert [(pairing.round, pairing.players) for pairing in competition.pairings] == [
        (1, ("p1", "p4")), (1, ("p2", "p3")), (2, ("p4", "p3")), (2, ("p1", "p2")),
        (3, ("p3", "p2")), (4, ("p1", "p2")),
    ]  # fmt: skip
    assert Knockout(is_double=True).winner(competition) == "p1"


@settings(max_examples=30)
@given(st.integers(2, 17), st.booleans(), st.integers(0, 2**32))
def test_all_but_the_winner_lose_as_often_as_puts_them_out(n: int, is_double: bool, seed: int) -> None:
    def play(match: ScheduledMatch) -> tuple[int, ...]:
        return tuple(derived_seed(seed, match.round, name) for name in match.players)

    schedule = Knockout(is_double)
    competition = play_all(schedule, competition_of(n), play)
    winner = schedule.winner(competition)
    lost = lost_meetings(competition)
    assert winner is not None
    assert lost[winner] <= int(is_double)
    assert [lost[name] for name in competition.names if name != winner] == [2 if is_double else 1] * (n - 1)


@pytest.mark.parametrize("n", [8, 16, 32, 64, 128])
def test_by_rank_losers_meet_again_only_in_their_last_round(n: int) -> None:
    competition = play_all(Knockout(is_double=True), competition_of(n))
    again = [set(two) for two, count in competition.meetings.items() if count > 1]
    assert sorted(map(sorted, again)) == [["p1", "p2"], ["p2", "p3"]]


def test_who_lost_once_must_win_two_finals() -> None:
    def play(match: ScheduledMatch) -> tuple[int, ...]:
        strongest = "p1" if match.round <= 1 else "p2"
        return tuple(100 if name == strongest else 0 for name in match.players)

    competition = play_all(Knockout(is_double=True), competition_of(2), play)
    assert [(pairing.round, pairing.players) for pairing in competition.pairings] == [
        (1, ("p1", "p2")), (2, ("p1", "p2")), (3, ("p1", "p2")),
    ]  # fmt: skip
    assert Knockout(is_double=True).winner(competition) == "p2"


def test_places_go_by_the_round_in_which_entrants_were_put_out() -> None:
    schedule = Knockout()
    competition = play_open(schedule_next(schedule, competition_of(6)), by_rank)
    assert schedule.winner(competition) is None
    assert schedule.places(competition) == (("p1", "p2", "p3", "p4"), ("p5", "p6"))
    competition = play_all(schedule, competition)
    assert schedule.places(competition) == (("p1",), ("p2",), ("p3", "p4"), ("p5", "p6"))
    double = Knockout(is_double=True)
    assert double.places(play_all(double, competition_of(6))) == (("p1",), ("p2",), ("p3",), ("p4",), ("p5", "p6"))
    assert schedule.places(play_all(schedule, competition_of(9, 4))) == (
        ("p1",), ("p2", "p3", "p4"), ("p5",), ("p6", "p7", "p8", "p9"),
    )  # fmt: skip


def test_ties_are_played_off_and_then_go_to_the_better_rank() -> None:
    schedule = Knockout(extra_meetings=1)
    competition = play_all(schedule, competition_of(2), equal)
    assert [match.players for match in competition.scheduled] == [("p1", "p2"), ("p2", "p1")] * 2
    assert schedule.winner(competition) == "p1"


def test_who_is_put_out_with_as_many_points_as_who_goes_on_is_out_by_its_starting_rank() -> None:
    def play(match: ScheduledMatch) -> tuple[int, ...]:
        return by_rank(match) if "p4" in match.players else equal(match)

    schedule = Knockout()
    competition = play_all(schedule, competition_of(4), play)
    assert schedule.places(competition) == (("p1",), ("p2",), ("p3", "p4"))
    assert schedule.out_by_rank(competition) == {"p2", "p3"}
    assert schedule.out_by_rank(play_all(schedule, competition_of(4))) == frozenset()


def test_who_goes_on_after_a_loss_by_its_starting_rank_is_out_by_its_last_meeting() -> None:
    schedule = Knockout(is_double=True)
    competition = schedule_next(schedule, competition_of(3))
    assert {match.players for match in competition.open_matches} == {("p2", "p3"), ("p3", "p2")}
    while {match.round for match in competition.open_matches} == {1}:
        competition = schedule_next(schedule, play_open(competition, equal))
    competition = play_all(schedule, play_open(competition, by_rank))
    assert schedule.places(competition) == (("p1",), ("p2",), ("p3",))
    assert schedule.out_by_rank(competition) == frozenset()


def test_whom_a_withdrawal_puts_out_is_not_out_by_its_starting_rank() -> None:
    competition = withdrawn(competition_of(2), "p1", 0)
    assert (Knockout().winner(competition), Knockout().out_by_rank(competition)) == ("p2", frozenset())


def test_in_heats_starting_ranks_part_those_with_equal_points_alone() -> None:
    """In heats of p1, p4, p5, p8 and p2, p3, p6, p7 the fifth and the sixth are out by rank, and in the final p2."""
    goals = with_goals(dict(zip((f"p{i}" for i in range(1, 9)), (100, 100, 50, 50, 50, 50, 0, 0), strict=True)))
    competition = play_all(Knockout(), competition_of(8, 4), goals)
    assert Knockout().places(competition) == (("p1",), ("p2", "p3", "p4"), ("p5", "p6", "p7", "p8"))
    assert Knockout().out_by_rank(competition) == {"p2", "p5", "p6"}


def test_late_entrants_have_no_meeting_and_no_place() -> None:
    competition = competition_of(4)
    late = replace(competition, entrants=(*competition.entrants, Entrant("late", since_round=2)))
    competition, late = play_all(Knockout(), competition), play_all(Knockout(), late)
    assert late.scheduled == competition.scheduled
    assert Knockout().places(late) == Knockout().places(competition)


def test_the_opponent_of_a_withdrawn_entrant_goes_on() -> None:
    competition = play_open(schedule_next(Knockout(), competition_of(4)), by_rank)
    competition = withdrawn(competition, "p1", 1)
    assert schedule_next(Knockout(), competition) == competition
    assert Knockout().winner(competition) == "p2"


def test_who_withdraws_from_heats_is_out_in_the_round_that_it_does_not_play() -> None:
    competition = play_open(schedule_next(Knockout(), competition_of(9, 3)), by_rank)
    competition = play_all(Knockout(), withdrawn(competition, "p2", 1))
    assert Knockout().places(competition) == (("p1",), ("p2", "p3", "p4"), ("p5", "p6", "p7", "p8", "p9"))


def test_heats_stay_as_they_are_when_one_of_their_entrants_withdraws() -> None:
    competition = withdrawn(schedule_next(Knockout(), competition_of(6, 3)), "p6", 0)
    competition = replace(competition, results=forfeits_of_withdrawn(competition))
    assert schedule_next(Knockout(), competition) == competition
    competition = play_all(Knockout(), play_open(competition, by_rank))
    assert [(pairing.round, pairing.players) for pairing in competition.pairings] == [
        (1, ("p1", "p4", "p5")), (1, ("p2", "p3", "p6")), (2, ("p1", "p2", "p3")),
    ]  # fmt: skip


def test_a_withdrawn_entrant_is_not_scheduled_in_a_round_that_has_begun_for_others() -> None:
    competition = schedule_next(Knockout(), competition_of(8))
    late = {match.match_id for match in competition.scheduled if "p4" in match.players}
    played = play_open(competition, by_rank)
    competition = replace(played, results=tuple(result for result in played.results if result.match_id not in late))
    competition = schedule_next(Knockout(), competition)  # p2 meets p3 in round 2
    competition = play_all(Knockout(), play_open(withdrawn(competition, "p1", 2), by_rank))
    assert [(pairing.round, pairing.players) for pairing in competition.pairings if pairing.round > 1] == [
        (2, ("p2", "p3")), (3, ("p4", "p2")),
    ]  # fmt: skip


def test_the_opponent_of_an_entrant_whose_matches_are_annulled_goes_on() -> None:
    competition = play_open(schedule_next(Knockout(), competition_of(4)), by_rank)
    competition = withdrawn(schedule_next(Knockout(), competition), "p1", 1)
    own = frozenset(match.match_id for match in competition.scheduled if "p1" in match.players)
    competition = schedule_next(Knockout(), replace(competition, annulled=own))
    assert [match.players for match in competition.open_matches] == [("p4", "p2"), ("p2", "p4")]


def test_heats_of_four_let_the_better_half_go_on() -> None:
    competition = play_all(Knockout(), competition_of(9, 4))
    assert [(pairing.round, pairing.players) for pairing in competition.pairings] == [
        (1, ("p2", "p5", "p6", "p9")), (1, ("p3", "p4", "p7", "p8")),
        (2, ("p2", "p3", "p4", "p5")), (3, ("p1", "p2", "p3", "p4")),
    ]  # fmt: skip
    assert Knockout().winner(competition) == "p1"


def test_a_heat_whose_entrants_have_met_in_a_heat_before_is_played_anew() -> None:
    competition = play_open(schedule_next(Knockout(), competition_of(4, 3)), by_rank)
    competition = play_all(Knockout(), withdrawn(competition, "p1", 1))
    assert [(pairing.round, pairing.players) for pairing in competition.pairings] == [
        (1, ("p2", "p3", "p4")), (2, ("p2", "p3", "p4")),
    ]  # fmt: skip
    assert Knockout().places(competition) == (("p2",), ("p1", "p3", "p4"))


def test_the_best_ranked_of_those_who_are_too_few_for_a_heat_has_won() -> None:
    competition = play_open(schedule_next(Knockout(), competition_of(4, 3)), by_rank)
    for name in ("p3", "p4"):
        competition = withdrawn(competition, name, 1)
    assert (schedule_next(Knockout(), competition), Knockout().winner(competition)) == (competition, "p1")
    for name in ("p1", "p2"):
        competition = withdrawn(competition, name, 1)
    assert (schedule_next(Knockout(), competition), Knockout().winner(competition)) == (competition, None)


def test_who_was_out_and_fills_the_final_is_not_out_while_it_is_played() -> None:
    competition = schedule_next(Knockout(), play_open(schedule_next(Knockout(), competition_of(4, 3)), by_rank))
    assert {match.players for match in competition.open_matches} >= {("p1", "p2", "p3")}
    assert Knockout().places(competition) == (("p1", "p2", "p3"), ("p4",))
    competition = play_open(competition, by_rank)
    assert Knockout().places(competition) == (("p1",), ("p2", "p3"), ("p4",))


def test_points_of_all_meetings_of_a_heat_decide_together() -> None:
    """There p1 and p2 have 3/4 each and play again, against p3 too, in which p1 has 0, p2 1/2 and p3 1."""
    competition = competition_of(3, 3)
    for goals in ({"p1": 100, "p2": 100, "p3": 0}, {"p1": 0, "p2": 50, "p3": 100}):
        competition = schedule_next(Knockout(), competition)
        competition = play_open(competition, with_goals(goals))
    assert Knockout().places(competition) == (("p2",), ("p1", "p3"))


def test_meetings_are_of_all_games_and_of_as_many_sets_as_are_asked_for() -> None:
    competition = schedule_next(Knockout(sets=2, all_games=True), competition_of(2, 2, 1))
    assert [(match.game, match.players) for match in competition.scheduled] == [
        ("g1", ("p1", "p2")), ("g1", ("p2", "p1")), ("g1", ("p1", "p2")), ("g1", ("p2", "p1")),
        ("g2", ("p1",)), ("g2", ("p2",)), ("g2", ("p1",)), ("g2", ("p2",)),
    ]  # fmt: skip
    assert len({match.set_id for match in competition.scheduled}) == 4


@settings(max_examples=20)
@given(st.integers(3, 8), st.integers(0, 15), st.integers(0, 2**32))
def test_heats_come_to_an_end(size: int, n_more: int, seed: int) -> None:
    competition = play_all(Knockout(), competition_of(size + n_more, size), by_lot(seed))
    assert Knockout().winner(competition) in competition.names


def test_games_that_do_not_fit_are_refused() -> None:
    for schedule, n_roles in ((Knockout(is_double=True), (3,)), (Knockout(), (2, 3))):
        with pytest.raises(ScheduleError) as refused:
            schedule(competition_of(4, *n_roles))
        assert str(refused.value) == "games of a knockout have as many roles, and of a double knockout two at most"
    with pytest.raises(ValueError, match="2 entrants are too few for a knockout in groups of 3"):
        Knockout()(competition_of(2, 3))
