"""Competitions so far: annulled and replayed matches, forfeits, resumption, ids and seeds."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.errors import ScheduleError
from server.tournament.competition import Competition, Schedule, forfeits_of_withdrawn, is_over, next_matches
from server.tournament.fixtures import (
    MatchResult,
    Meeting,
    TournamentGame,
    derived_seed,
    digest,
    matches_of,
    rotations,
)
from server.tournament.knockout import Knockout
from server.tournament.round_robin import Gauntlet, RoundRobin, ScoreTable
from server.tournament.standings import standings
from server.tournament.swiss import Swiss
from tests.kit.server.tournament import Play, by_lot, by_rank, competition_of, play_all, play_open, schedule_next

FORMATS: list[Schedule] = [RoundRobin(2), Gauntlet(("p1",)), Swiss(3), Knockout(), Knockout(is_double=True)]


@given(st.sampled_from(FORMATS), st.integers(2, 9), st.integers(0, 2**32))
@settings(max_examples=40)
def test_asking_again_gives_the_same_and_never_twice(schedule: Schedule, n: int, seed: int) -> None:
    competition = competition_of(n, seed=seed)
    while matches := next_matches(schedule, competition):
        assert next_matches(schedule, replace(competition)) == matches
        competition = replace(competition, scheduled=(*competition.scheduled, *matches))
        competition = play_open(competition, by_lot(seed))
    assert is_over(schedule, competition)


@given(st.sampled_from(FORMATS[:4]), st.integers(2, 8), st.integers(0, 4), st.integers(0, 2**32))
@settings(max_examples=30)
def test_everyone_plays_each_role_as_often_in_every_format(
    schedule: Schedule, size: int, n_more: int, seed: int
) -> None:
    competition = play_all(schedule, competition_of(size + n_more, size, seed=seed), by_lot(seed))
    seats = Counter((name, role) for match in competition.scheduled for role, name in enumerate(match.players))
    for name in competition.names:
        assert len({seats[name, role] for role in range(size)}) == 1


def by_ranks(competition: Competition, seed: int) -> Play:
    """Return a play with goals that the round, the starting ranks and *seed* decide, whatever the names are."""
    rank_of = competition.rank_of
    return lambda match: tuple(
        derived_seed(seed, match.round, match.game, rank_of[name]) % 3 * 50 for name in match.players
    )


@given(st.sampled_from([RoundRobin(2), Swiss(3), Knockout()]), st.integers(2, 4), st.integers(0, 9), st.integers())
@settings(max_examples=40)
def test_names_decide_nothing(schedule: Schedule, size: int, n_more: int, seed: int) -> None:
    """Entrants whose names come in the opposite order have the same meetings and places."""
    one = competition_of(size + n_more, size)
    other = replace(one, entrants=one.entrants[::-1])
    found = []
    for competition in (one, other):
        over = play_all(schedule, competition, by_ranks(competition, seed))
        ranks = [[over.rank_of[name] for name in pairing.players] for pairing in over.pairings]
        found.append((ranks, [(each.rank, over.rank_of[each.name], each.score) for each in standings(over)]))
    assert found[0] == found[1]


@pytest.mark.parametrize("n_roles", range(1, 9))
def test_each_entrant_has_each_role_once_in_a_set_with_the_same_opponents_and_seeds(n_roles: int) -> None:
    game = TournamentGame("g", n_roles)
    players = tuple(f"p{i}" for i in range(game.group_size))
    matches = matches_of(Meeting(players, 1, "test"), (game,), 7, n_sets=2)
    per_set = Counter(match.set_id for match in matches)
    assert list(per_set.values()) == [game.group_size] * 2
    for set_id in per_set:
        own = [match for match in matches if match.set_id == set_id]
        seats = Counter((name, role) for match in own for role, name in enumerate(match.players))
        assert seats == {(name, role): 1 for name in players for role in range(n_roles)}
        assert len({(match.seed, match.scramble_seed) for match in own}) == 1
    assert len({match.seed for match in matches}) == 2


@pytest.mark.parametrize(("schedule", "n_roles"), [*((schedule, 2) for schedule in FORMATS), (ScoreTable(2), 1)])
def test_the_ids_of_matches_which_are_public_do_not_tell_their_seeds(schedule: Schedule, n_roles: int) -> None:
    matches = schedule(competition_of(3, n_roles))
    ids = {known for match in matches for known in (match.match_id, match.set_id, match.pairing_id)}
    told = {derived_seed(known, of) for known in ids for of in ("chance", "scrambling")}
    assert matches
    assert told.isdisjoint({seed for match in matches for seed in (match.seed, match.scramble_seed)})


def test_a_competition_is_over_when_nothing_is_left_to_schedule_and_to_play() -> None:
    begun = schedule_next(RoundRobin(), competition_of(2))
    stages = (competition_of(2), begun, play_open(begun, by_rank))
    assert [is_over(RoundRobin(), competition) for competition in stages] == [False, False, True]


@pytest.mark.parametrize("schedule", [RoundRobin(3), Gauntlet(("p1",), 3), Knockout(sets=3)])
def test_a_schedule_may_have_so_many_matches_and_no_more(schedule: Schedule, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.tournament.competition.MAX_MATCHES", 6)
    assert len(schedule(competition_of(2))) == 6
    monkeypatch.setattr("server.tournament.competition.MAX_MATCHES", 5)
    with pytest.raises(ScheduleError) as refused:
        schedule(competition_of(2))
    assert str(refused.value) == "its schedule has more than 5 matches; let it have fewer rounds"


def test_an_annulled_match_is_played_again_with_equal_seats_and_seeds() -> None:
    competition = play_open(schedule_next(Swiss(2), competition_of(2)), by_rank)
    first = competition.scheduled[0]
    competition = replace(competition, replayed=frozenset({first.match_id}))
    (again,) = next_matches(Swiss(1), competition)
    assert again == replace(first, match_id=f"{first.match_id}-2", attempt=2)
    competition = schedule_next(Swiss(1), competition)
    assert [pairing.is_decided for pairing in competition.pairings] == [False]
    competition = replace(competition, replayed=competition.replayed | {again.match_id})
    assert [match.match_id for match in next_matches(Swiss(1), competition)] == [f"{first.match_id}-3"]


def test_a_round_goes_on_only_when_annulled_matches_were_played_again() -> None:
    competition = play_open(schedule_next(Swiss(2), competition_of(4)), by_rank)
    first = competition.scheduled[0]
    competition = schedule_next(Swiss(2), replace(competition, replayed=frozenset({first.match_id})))
    assert competition.last_round == 1
    competition = play_open(competition, by_rank)
    assert schedule_next(Swiss(2), competition).last_round == 2


def test_an_annulled_match_is_not_waited_for() -> None:
    competition = schedule_next(Swiss(2), competition_of(2))
    competition = replace(competition, annulled=frozenset(match.match_id for match in competition.scheduled))
    assert [(pairing.is_decided, pairing.results) for pairing in competition.pairings] == [(True, ())]


def test_open_matches_of_withdrawn_entrants_are_forfeited() -> None:
    competition = schedule_next(RoundRobin(single=True), competition_of(4))
    gone = replace(competition.entrants[0], withdrawn_after=1)
    competition = replace(competition, entrants=(gone, *competition.entrants[1:]))
    lost = [(result.players, result.goals, result.forfeited) for result in forfeits_of_withdrawn(competition)]
    assert lost == [(("p1", "p2"), (0, 100), ("p1",)), (("p3", "p1"), (100, 0), ("p1",))]


def test_what_is_played_again_is_forfeited_by_who_has_withdrawn_meanwhile() -> None:
    competition = play_open(schedule_next(RoundRobin(), competition_of(2)), by_rank)
    first = competition.scheduled[0]
    competition = schedule_next(RoundRobin(), replace(competition, replayed=frozenset({first.match_id})))
    gone = replace(competition.entrants[0], withdrawn_after=1)
    withdrawn = replace(competition, entrants=(gone, competition.entrants[1]))
    lost = [
        [(result.match_id, result.forfeited) for result in forfeits_of_withdrawn(one)]
        for one in (competition, withdrawn, play_open(withdrawn, by_rank))
    ]
    assert lost == [[], [(first.again().match_id, ("p1",))], []]


def test_what_does_not_belong_together_is_refused() -> None:
    competition = schedule_next(RoundRobin(), competition_of(2))
    unknown = frozenset({"unknown"})
    result = MatchResult("g1", ("p1", "p2"), (0, 0), match_id="unknown")
    for fields in ({"results": (result,)}, {"annulled": unknown}, {"replayed": unknown}):
        with pytest.raises(ValueError, match=r"^match unknown was not scheduled$"):
            replace(competition, **fields)
    with pytest.raises(ValueError, match=r"^a competition needs a game$"):
        Competition((), ())
    with pytest.raises(ValueError, match="g has 9 roles; competitions take games of 1 to 8"):
        TournamentGame("g", 9)
    with pytest.raises(ValueError, match="2 players cannot take 3 roles"):
        rotations(("a", "b"), 3)


@pytest.mark.parametrize(
    ("field", "what"),
    [
        ("entrants", "entrant p1"),
        ("games", "game g1"),
        ("scheduled", "match {id}"),
        ("results", "result of match {id}"),
    ],
)
def test_nothing_is_there_twice(field: str, what: str) -> None:
    competition = play_all(RoundRobin(single=True), competition_of(2))
    with pytest.raises(ValueError, match="is there twice") as refused:
        replace(competition, **{field: getattr(competition, field) * 2})
    assert str(refused.value) == f"{what} is there twice".format(id=competition.scheduled[0].match_id)


def test_seeds_of_competitions_decide_ids_and_seeds() -> None:
    one, same, other = (play_all(Swiss(2), competition_of(4, seed=seed)) for seed in (1, 1, 2))
    assert one.scheduled == same.scheduled
    assert {match.match_id for match in one.scheduled}.isdisjoint(match.match_id for match in other.scheduled)


@pytest.mark.parametrize(
    ("schedule", "size", "whole"),
    [
        (RoundRobin(2), 2, "t7cde8bf5b641824c"),
        (RoundRobin(), 3, "t87c9391d8ab9dd36"),
        (Gauntlet(("p1",)), 2, "te58a0c959a7ab305"),
        (ScoreTable(2), 1, "t12aea8cdcf4cf688"),
        (Swiss(3), 2, "t0dad98733699ef9a"),
        (Swiss(2), 3, "tfb1ac0e0bccc0f30"),
        (Knockout(), 2, "tcbdac1e2a0a911fc"),
        (Knockout(is_double=True), 2, "t5b91bd4d0e68be71"),
        (Knockout(), 3, "t2e034d53b1596282"),
    ],
)
def test_matches_of_tournaments_that_have_begun_stay_as_they_are(schedule: Schedule, size: int, whole: str) -> None:
    """Databases keep them: with other ids, the next version of the server schedules them once more."""
    competition = competition_of(5, size, seed=7)
    over = play_all(schedule, competition, by_ranks(competition, 0))
    given = ((match.match_id, match.players, match.round, match.seed, match.scramble_seed) for match in over.scheduled)
    assert digest(*given) == whole
