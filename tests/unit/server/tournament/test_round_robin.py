"""Round robin, gauntlet and score tables: known tables, equal meetings, equal roles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.tournament.competition import Competition
from server.tournament.fixtures import Entrant, derived_seed
from server.tournament.grouping import partitions
from server.tournament.round_robin import Gauntlet, RoundRobin, ScoreTable, balanced_groups, berger_table
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


def rounds(competition: Competition) -> list[tuple[int, tuple[str, ...]]]:
    return [(pairing.round, pairing.players) for pairing in competition.pairings]


def test_groups_of_nine_meet_once_each_in_four_rounds() -> None:
    competition = schedule_next(RoundRobin(), competition_of(9, 3))
    assert Counter(number for number, _ in rounds(competition)) == {1: 3, 2: 3, 3: 3, 4: 3}
    assert set(competition.meetings.values()) == {1}


def test_a_late_entrant_meets_all_in_groups_that_are_added() -> None:
    competition = schedule_next(RoundRobin(), competition_of(4, 3))
    assert rounds(competition) == [(1, ("p1", "p2", "p3")), (2, ("p4", "p1", "p2")), (3, ("p3", "p4", "p1"))]
    late = replace(competition, entrants=(*competition.entrants, Entrant("late", since_round=2)))
    assert rounds(schedule_next(RoundRobin(), late))[3:] == [(4, ("late", "p2", "p3")), (5, ("late", "p4", "p1"))]


@settings(max_examples=60)
@given(st.integers(3, 4), st.integers(0, 5), st.integers(0, 2**32))
def test_those_play_who_have_played_least_and_meet_whom_they_have_met_least(size: int, n_more: int, seed: int) -> None:
    names = [f"p{i}" for i in range(size + n_more)]
    n_played = Counter({name: derived_seed(seed, name) % 3 for name in names})
    met = Counter({frozenset(two): derived_seed(seed, *two) % 4 for two in combinations(names, 2)})
    rarest = min(combinations(names, 2), key=lambda two: (met[frozenset(two)], sum(n_played[name] for name in two)))
    found = balanced_groups(names, size, met, n_played)

    playing = [name for group in found for name in group]
    assert len(set(playing)) == len(playing) == len(names) - len(names) % size
    for name in set(names).difference(playing):
        others = [n_played[other] for other in playing if name not in rarest or other not in rarest]
        assert max(others) <= n_played[name] - (name in rarest)

    def cost(groups: Iterable[Sequence[str]]) -> tuple[bool, int]:
        counts = [met[frozenset(two)] for group in groups for two in combinations(group, 2)]
        is_parted = set(rarest) <= set(playing) and not any(set(rarest) <= set(group) for group in groups)
        return is_parted, sum((count + 1) ** 2 for count in counts)

    parts = partitions(tuple(range(len(playing))), size)
    assert cost(found) == min(cost([[playing[i] for i in group] for group in groups]) for groups in parts)


def test_seats_are_exchanged_from_cycle_to_cycle() -> None:
    competition = schedule_next(RoundRobin(3, single=True), competition_of(2))
    assert [match.players for match in competition.scheduled] == [("p1", "p2"), ("p2", "p1"), ("p1", "p2")]


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


def test_challengers_meet_a_late_entrant_in_each_game_whom_they_have_met_least_beside_it() -> None:
    schedule = Gauntlet(("p1", "p2"))
    competition = schedule_next(schedule, competition_of(5, 2, 3))
    assert rounds(competition) == [
        (1, ("p1", "p3")), (1, ("p2", "p3")), (1, ("p1", "p3", "p4")), (1, ("p2", "p3", "p4")),
        (2, ("p1", "p4")), (2, ("p2", "p4")), (2, ("p1", "p5", "p3")), (2, ("p2", "p5", "p3")),
        (3, ("p1", "p5")), (3, ("p2", "p5")),
    ]  # fmt: skip
    late = replace(competition, entrants=(*competition.entrants, Entrant("late", since_round=2)))
    assert rounds(schedule_next(schedule, late))[10:] == [
        (3, ("p1", "late", "p4")), (3, ("p2", "late", "p4")), (4, ("p1", "late")), (4, ("p2", "late")),
    ]  # fmt: skip


def test_each_attempt_of_a_score_table_is_at_all_games() -> None:
    competition = schedule_next(ScoreTable(2), competition_of(1, 1, 1))
    assert [(match.round, match.game) for match in competition.scheduled] == [
        (1, "g1"), (1, "g2"), (2, "g1"), (2, "g2"),
    ]  # fmt: skip
    assert len({match.seed for match in competition.scheduled}) == 4


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
