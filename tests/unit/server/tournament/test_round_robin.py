"""Round robin, gauntlet and score tables: known tables, equal meetings, equal roles."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.tournament.competition import Competition
from server.tournament.fixtures import Entrant
from server.tournament.round_robin import Gauntlet, RoundRobin, ScoreTable, berger_table
from tests.kit.server.tournament import competition_of, schedule_next


def test_the_table_of_six_is_that_of_the_handbook() -> None:
    assert berger_table(6) == (
        ((1, 6), (2, 5), (3, 4)),
        ((6, 4), (5, 3), (1, 2)),
        ((2, 6), (3, 1), (4, 5)),
        ((6, 5), (1, 4), (2, 3)),
        ((3, 6), (4, 2), (5, 1)),
    )


def test_the_table_of_four_is_that_of_the_handbook() -> None:
    assert berger_table(4) == (((1, 4), (2, 3)), ((4, 3), (1, 2)), ((2, 4), (3, 1)))


def test_tables_of_none_and_one_are_empty() -> None:
    assert (berger_table(0), berger_table(1)) == ((), ())


def role_counts(competition: Competition, game: str) -> dict[tuple[str, int], int]:
    found = Counter(
        (name, role) for match in competition.scheduled if match.game == game for role, name in enumerate(match.players)
    )
    n_roles = next(known.n_roles for known in competition.games if known.name == game)
    return {(name, role): found[name, role] for name in competition.names for role in range(n_roles)}


@settings(max_examples=25)
@given(st.integers(2, 12), st.integers(1, 3))
def test_a_single_round_robin_gives_roles_as_often(n: int, cycles: int) -> None:
    competition = schedule_next(RoundRobin(cycles, single=True), competition_of(n))
    counts = role_counts(competition, "g1")
    assert max(counts.values()) - min(counts.values()) <= 1
    met = Counter(frozenset(match.players) for match in competition.scheduled)
    assert met == {frozenset(two): cycles for two in combinations(competition.names, 2)}


@settings(max_examples=25)
@given(st.integers(2, 8), st.integers(1, 4))
def test_late_entrants_meet_everyone_and_keep_roles_equal(n: int, n_late: int) -> None:
    competition = schedule_next(RoundRobin(single=True), competition_of(n))
    for i in range(n_late):
        competition = replace(competition, entrants=(*competition.entrants, Entrant(f"late{i}", 2)))
        competition = schedule_next(RoundRobin(single=True), competition)
    counts = role_counts(competition, "g1")
    assert max(counts.values()) - min(counts.values()) <= 1
    assert len(competition.scheduled) == (n + n_late) * (n + n_late - 1) // 2


@settings(max_examples=15)
@given(st.integers(3, 8), st.integers(0, 9), st.integers(1, 2))
def test_groups_meet_everyone_and_play_each_role_as_often(n_roles: int, n_more: int, cycles: int) -> None:
    competition = schedule_next(RoundRobin(cycles), competition_of(n_roles + n_more, n_roles))
    counts = role_counts(competition, "g1")
    assert max(counts.values()) - min(counts.values()) <= 1
    assert min(competition.meetings[frozenset(two)] for two in combinations(competition.names, 2)) >= cycles
    for name in competition.names:
        assert len({counts[name, role] for role in range(n_roles)}) == 1


@settings(max_examples=15)
@given(st.integers(3, 5), st.integers(0, 6), st.integers(1, 3), st.integers(0, 2))
def test_groups_come_to_an_end_with_late_and_withdrawn_entrants(
    size: int, n_more: int, n_late: int, n_gone: int
) -> None:
    competition = schedule_next(RoundRobin(), competition_of(size + n_more, size))
    late = tuple(Entrant(f"late{i}", since_round=2) for i in range(n_late))
    gone = tuple(replace(entrant, withdrawn_after=1) for entrant in competition.entrants[:n_gone])
    competition = replace(competition, entrants=(*gone, *competition.entrants[n_gone:], *late))
    competition = schedule_next(RoundRobin(), competition)
    staying = [entrant.name for entrant in competition.entrants if entrant.withdrawn_after is None]
    if len(staying) >= size:
        assert min(competition.meetings[frozenset(two)] for two in combinations(staying, 2)) >= 1


@settings(max_examples=25)
@given(st.integers(3, 9), st.sets(st.integers(1, 9), max_size=3))
def test_who_never_came_does_not_disturb_the_roles_of_others(n: int, gone: set[int]) -> None:
    competition = competition_of(n)
    absent = {f"p{i}" for i in gone}
    entrants = [replace(e, withdrawn_after=0) if e.name in absent else e for e in competition.entrants]
    competition = schedule_next(RoundRobin(single=True), replace(competition, entrants=tuple(entrants)))
    counts = [count for (name, _), count in role_counts(competition, "g1").items() if name not in absent]
    assert max(counts, default=0) - min(counts, default=0) <= 1


def test_everything_scheduled_is_not_given_again() -> None:
    for schedule in (RoundRobin(2), Gauntlet(("p1",)), RoundRobin()):
        competition = schedule_next(schedule, competition_of(5, 2, 3))
        assert competition.scheduled
        assert schedule(competition) == ()


def test_a_round_robin_in_sets_has_each_seat_in_each_game() -> None:
    competition = schedule_next(RoundRobin(), competition_of(3, 2, 1))
    assert len(competition.pairings) == 3
    both_seats = list(permutations(competition.names, 2))
    assert sorted(match.players for match in competition.scheduled if match.game == "g1") == sorted(both_seats)
    assert Counter(match.players for match in competition.scheduled if match.game == "g2") == {
        (name,): 2 for name in competition.names
    }


def test_who_has_withdrawn_gets_no_new_meetings() -> None:
    competition = competition_of(4)
    entrants = (replace(competition.entrants[0], withdrawn_after=0), *competition.entrants[1:])
    given_ = schedule_next(RoundRobin(), replace(competition, entrants=entrants)).scheduled
    assert {name for match in given_ for name in match.players} == {"p2", "p3", "p4"}


def test_a_gauntlet_pairs_challengers_with_the_field_only() -> None:
    competition = schedule_next(Gauntlet(("p1", "p3")), competition_of(4))
    assert [match.players for match in competition.scheduled] == [
        ("p1", "p2"), ("p2", "p1"), ("p3", "p2"), ("p2", "p3"),
        ("p1", "p4"), ("p4", "p1"), ("p3", "p4"), ("p4", "p3"),
    ]  # fmt: skip


@settings(max_examples=25)
@given(st.integers(3, 8), st.integers(0, 8), st.integers(1, 3))
def test_a_challenger_meets_all_of_the_field_in_groups(n_roles: int, n_more: int, cycles: int) -> None:
    competition = schedule_next(Gauntlet(("p1",), cycles), competition_of(n_roles + n_more, n_roles))
    assert min(competition.meetings[frozenset(("p1", name))] for name in competition.names[1:]) >= cycles
    assert {len(pairing.players) for pairing in competition.pairings} == {n_roles}


def test_groups_of_a_gauntlet_stay_when_the_field_changes() -> None:
    schedule = Gauntlet(("p1",))
    competition = schedule_next(schedule, competition_of(7, 3))
    first, second, *others = competition.entrants
    changed = replace(
        competition, entrants=(first, replace(second, withdrawn_after=1), *others, Entrant("late", since_round=2))
    )
    after = schedule_next(schedule, changed)
    assert after.scheduled[: len(competition.scheduled)] == competition.scheduled
    assert [pairing.players for pairing in after.pairings][len(competition.pairings) :] == [("p1", "late", "p3")]


def test_a_score_table_gives_all_the_same_seeds() -> None:
    competition = schedule_next(ScoreTable(2), competition_of(3, 1))
    assert [(match.round, match.players) for match in competition.scheduled] == [
        (1, ("p1",)), (1, ("p2",)), (1, ("p3",)), (2, ("p1",)), (2, ("p2",)), (2, ("p3",)),
    ]  # fmt: skip
    assert len({(match.seed, match.scramble_seed) for match in competition.scheduled}) == 2
    late = replace(competition, entrants=(*competition.entrants, Entrant("late", 2)))
    assert {match.seed for match in ScoreTable(2)(late)} == {match.seed for match in competition.scheduled}


def test_a_score_table_refuses_games_of_more_roles() -> None:
    with pytest.raises(ValueError, match="g1 has 2 roles; score tables are for games of one role"):
        ScoreTable()(competition_of(3))
