"""Standings: what counts, and which tie-break decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from server.tournament.competition import Competition
from server.tournament.fixtures import MatchResult, ScheduledMatch, forfeit
from server.tournament.round_robin import RoundRobin, ScoreTable
from server.tournament.scoring import Measure, ScoringRules, counted_goals
from server.tournament.standings import TIE_BREAKS, Standing, TieBreak, standings
from server.tournament.swiss import Swiss, byes
from tests.kit.server.tournament import by_lot, by_rank, competition_of, play_all, play_open, schedule_next

Row = tuple[int, str, float, TieBreak | None]


def rows(competition: Competition, rules: ScoringRules | None = None) -> list[Row]:
    found = standings(competition, rules or ScoringRules())
    return [(standing.rank, standing.name, standing.score, standing.decided_by) for standing in found]


def single(n: int, beaten: dict[str, str]) -> Competition:
    """Return a round robin of single matches; *beaten* says whom each entrant beats, all others are equal."""

    def play(match: ScheduledMatch) -> tuple[int, ...]:
        one, other = match.players
        return (100, 0) if other in beaten.get(one, "") else (0, 100) if one in beaten.get(other, "") else (50, 50)

    competition = competition_of(n)
    names = {f"p{i}": name for i, name in enumerate("abcdefgh"[:n], 1)}
    entrants = tuple(replace(entrant, name=names[entrant.name]) for entrant in competition.entrants)
    return play_all(RoundRobin(single=True), replace(competition, entrants=entrants), play)


def test_meetings_points_and_goals_count_by_the_rules() -> None:
    competition = play_all(RoundRobin(), competition_of(3))
    assert rows(competition) == [(1, "p1", 2.0, None), (2, "p2", 1.0, None), (3, "p3", 0.0, None)]
    points = ScoringRules(Measure.POINTS, better=3, equal=1)
    assert rows(competition, points) == [(1, "p1", 12.0, None), (2, "p2", 6.0, None), (3, "p3", 0.0, None)]
    goals = ScoringRules(Measure.GOALS)
    assert rows(competition, goals) == [(1, "p1", 99.0, None), (2, "p2", 98.0, None), (3, "p3", 97.0, None)]


def test_direct_comparison_parts_two_with_equal_scores() -> None:
    assert rows(single(4, {"a": "cd", "b": "ac"})) == [
        (1, "b", 2.5, None),
        (2, "a", 2.0, None),
        (3, "d", 1.0, None),
        (4, "c", 0.5, None),
    ]
    assert rows(single(4, {"a": "cd", "b": "ac", "d": "b"})) == [
        (1, "b", 2.0, None),
        (2, "a", 2.0, TieBreak.DIRECT_COMPARISON),
        (3, "d", 1.5, None),
        (4, "c", 0.5, None),
    ]


def test_a_circle_stays_together() -> None:
    assert [row[:2] for row in rows(single(3, {"a": "b", "b": "c", "c": "a"}))] == [(1, "a"), (1, "b"), (1, "c")]


def test_sonneborn_berger_counts_whom_one_has_beaten() -> None:
    assert rows(single(4, {"a": "c", "b": "d", "c": "bd", "d": "a"})) == [
        (1, "c", 2.0, None),
        (2, "a", 1.5, None),
        (3, "b", 1.5, TieBreak.SONNEBORN_BERGER),
        (4, "d", 1.0, None),
    ]


def test_buchholz_parts_entrants_who_have_not_met() -> None:
    competition = play_all(Swiss(2), competition_of(6))
    assert rows(competition) == [
        (1, "p1", 2.0, None),
        (2, "p3", 2.0, TieBreak.BUCHHOLZ),
        (3, "p2", 1.0, None),
        (4, "p5", 1.0, TieBreak.DIRECT_COMPARISON),
        (5, "p4", 0.0, None),
        (6, "p6", 0.0, TieBreak.BUCHHOLZ),
    ]


def drawn(n: int, errors: Mapping[str, Sequence[int]]) -> Competition:
    """Return a round robin of single matches, all drawn; *errors* are those of each entrant, match by match."""
    competition = schedule_next(RoundRobin(single=True), competition_of(n))
    left = {name: list(found) for name, found in errors.items()}
    results = [
        MatchResult(
            match.game, match.players, (50, 50), tuple(left[name].pop(0) for name in match.players), match.match_id
        )
        for match in competition.scheduled
    ]
    return replace(competition, results=tuple(results))


def test_fewer_errors_in_all_matches_part_equals_and_who_has_as_many_shares_a_place() -> None:
    competition = drawn(4, {"p1": (2, 0, 1), "p2": (0, 1, 0), "p3": (1, 1, 0), "p4": (2, 0, 0)})
    assert rows(competition) == [
        (1, "p2", 1.5, None), (2, "p3", 1.5, TieBreak.FEWER_ERRORS), (2, "p4", 1.5, None),
        (4, "p1", 1.5, TieBreak.FEWER_ERRORS),
    ]  # fmt: skip


def test_a_standing_has_the_value_of_each_tie_break() -> None:
    competition = single(4, {"a": "c", "b": "d", "c": "bd", "d": "a"})
    assert standings(competition)[1:3] == (
        Standing(2, "a", 1.5, 3, 0, dict(zip(TIE_BREAKS, (0.5, 4.5, 2.75, 0.0), strict=True))),
        Standing(
            3, "b", 1.5, 3, 0, dict(zip(TIE_BREAKS, (0.5, 4.5, 1.75, 0.0), strict=True)), TieBreak.SONNEBORN_BERGER
        ),
    )  # fmt: skip


def test_the_direct_comparison_begins_anew_among_those_whom_it_leaves_together() -> None:
    """Of four with equal scores two have two points against the others, and two have one."""
    competition = single(6, {"a": "bce", "b": "cdf", "c": "def", "d": "aef", "e": "bf", "f": "a"})
    assert rows(competition) == [
        (1, "a", 3.0, None), *((rank, name, 3.0, TieBreak.DIRECT_COMPARISON) for rank, name in enumerate("bcd", 2)),
        (5, "e", 2.0, None), (6, "f", 1.0, None),
    ]  # fmt: skip


def test_in_games_of_three_roles_points_are_means_over_the_others() -> None:
    competition = play_all(RoundRobin(), competition_of(3, 3))
    assert rows(competition) == [(1, "p1", 1.0, None), (2, "p2", 0.5, None), (3, "p3", 0.0, None)]


def test_in_games_of_one_role_the_points_of_matches_compare_those_of_a_set() -> None:
    goals = {"p1": [80, 30, 50], "p2": [20, 60, 50]}
    competition = play_all(RoundRobin(3), competition_of(2, 1), lambda match: (goals[match.players[0]].pop(0),))
    assert [(row[1], row[2]) for row in rows(competition, ScoringRules(Measure.POINTS))] == [("p1", 1.5), ("p2", 1.5)]


def test_a_bye_has_the_points_of_as_many_matches_as_others_have_in_that_round() -> None:
    competition = play_open(schedule_next(Swiss(2), competition_of(3)), by_rank)
    competition = replace(competition, replayed=frozenset({competition.scheduled[0].match_id}))
    competition = play_all(Swiss(2), competition)
    assert byes(competition) == ((1, "p3"), (2, "p2"))
    points = standings(competition, ScoringRules(Measure.POINTS), byes(competition))
    assert {standing.name: standing.score for standing in points} == {"p1": 4.0, "p2": 2.0, "p3": 2.0}


def test_a_player_with_too_many_errors_has_lost_what_substitutes_won() -> None:
    competition = schedule_next(RoundRobin(single=True), competition_of(2))
    (match,) = competition.scheduled
    result = MatchResult(match.game, match.players, (100, 0), (8, 0), match.match_id)
    competition = replace(competition, results=(result,))
    assert rows(competition) == [(1, "p1", 1.0, None), (2, "p2", 0.0, None)]
    assert rows(competition, ScoringRules(forfeit_errors=8)) == [(1, "p2", 1.0, None), (2, "p1", 0.0, None)]
    by_goals = ScoringRules(Measure.GOALS, forfeit_errors=8)
    assert rows(competition, by_goals) == [(1, "p2", 100.0, None), (2, "p1", 0.0, None)]
    assert rows(competition, ScoringRules(forfeit_errors=9))[0][1] == "p1"


def test_goals_count_as_they_are_where_the_goals_alone_say_who_has_lost() -> None:
    result = MatchResult("g", ("a", "b", "c"), (100, 0, 0), (0, 7, 0))
    assert counted_goals(result, ScoringRules(forfeit_errors=8)) == (100, 0, 0)


def test_a_match_whose_errors_are_not_known_counts_without_errors() -> None:
    competition = schedule_next(RoundRobin(single=True), competition_of(2))
    (match,) = competition.scheduled
    result = MatchResult(match.game, match.players, (100, 0), match_id=match.match_id)
    found = standings(replace(competition, results=(result,)), ScoringRules(forfeit_errors=1))
    assert [(each.name, each.score, each.tie_breaks[TieBreak.FEWER_ERRORS]) for each in found] == [
        ("p1", 1.0, 0), ("p2", 0.0, 0),
    ]  # fmt: skip


def test_absent_players_lose_also_against_each_other() -> None:
    competition = schedule_next(RoundRobin(single=True), competition_of(3))
    absent = {"p2", "p3"}
    results = tuple(forfeit(match, absent.intersection(match.players)) for match in competition.scheduled)
    assert rows(replace(competition, results=results)) == [
        (1, "p1", 2.0, None), (2, "p2", 0.0, None), (2, "p3", 0.0, None),
    ]  # fmt: skip


def test_annulled_matches_do_not_count() -> None:
    competition = play_all(RoundRobin(single=True), competition_of(2))
    (match,) = competition.scheduled
    annulled = replace(competition, annulled=frozenset({match.match_id}))
    assert [(standing.score, standing.n_matches) for standing in standings(annulled)] == [(0.0, 0), (0.0, 0)]


def test_a_bye_counts_as_a_won_meeting_and_as_an_opponent_with_ones_own_score() -> None:
    competition = play_open(schedule_next(Swiss(1), competition_of(3)), by_rank)
    found = {standing.name: standing for standing in standings(competition, byes=byes(competition))}
    assert (found["p3"].score, found["p3"].n_byes, found["p3"].tie_breaks[TieBreak.BUCHHOLZ]) == (1.0, 1, 1.0)
    points = standings(competition, ScoringRules(Measure.POINTS), byes(competition))
    assert {standing.name: standing.score for standing in points} == {"p1": 2.0, "p2": 0.0, "p3": 2.0}


def test_a_score_table_ranks_by_mean_goals() -> None:
    competition = play_all(ScoreTable(2), competition_of(3, 1), lambda match: (int(match.players[0][1:]) * 10,))
    assert rows(competition, ScoringRules(Measure.GOALS)) == [
        (1, "p3", 30.0, None), (2, "p2", 20.0, None), (3, "p1", 10.0, None),
    ]  # fmt: skip


@settings(max_examples=20)
@given(st.integers(2, 9), st.integers(0, 2**32))
def test_ranks_are_in_order_of_scores_and_points_are_shared_out(n: int, seed: int) -> None:
    competition = play_all(RoundRobin(), competition_of(n), by_lot(seed))
    found = standings(competition)
    assert sorted(standing.name for standing in found) == sorted(competition.names)
    assert sum(standing.score for standing in found) == n * (n - 1) / 2
    for before, after in pairwise(found):
        assert before.score >= after.score
        assert (before.rank == after.rank) == (before.score == after.score and after.decided_by is None)
