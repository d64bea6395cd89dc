"""The Swiss system: its criteria, compared with all pairings; byes, late entrants, withdrawals, groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.tournament.competition import Competition
from server.tournament.fixtures import Entrant, derived_seed, digest
from server.tournament.grouping import partitions
from server.tournament.scoring import MEETINGS_COUNT
from server.tournament.swiss import Contender, Cost, Swiss, byes, groups_of, pairing_costs, pairs
from tests.kit.server.tournament import by_lot, by_rank, competition_of, play_all, play_open, schedule_next


def all_pairings(members: Sequence[int]) -> Iterator[tuple[tuple[int, int], ...]]:
    if not members:
        yield ()
        return
    for other in members[1:]:
        rest = [member for member in members[1:] if member != other]
        for found in all_pairings(rest):
            yield ((members[0], other), *found)


def total(costs: Sequence[Sequence[Cost]], pairing: Sequence[tuple[int, int]]) -> Cost:
    return tuple(map(sum, zip(*(costs[i][j] for i, j in pairing), strict=True)))


def field_by_lot(n: int, seed: int) -> tuple[Contender, ...]:
    """Return contenders with scores, byes and meetings by lot."""
    scores = sorted((derived_seed(seed, "score", i) % 7 / 2 for i in range(n)), reverse=True)
    met: dict[str, dict[str, int]] = {f"p{i}": {} for i in range(n)}
    for i, j in combinations(range(n), 2):
        if derived_seed(seed, i, j) % 3 == 0:
            met[f"p{i}"][f"p{j}"] = met[f"p{j}"][f"p{i}"] = 1
    return tuple(Contender(f"p{i}", scores[i], derived_seed(seed, "bye", i) % 2, met[f"p{i}"]) for i in range(n))


@settings(max_examples=60)
@given(st.integers(2, 8), st.integers(0, 2**32))
def test_no_pairing_meets_the_criteria_better(n: int, seed: int) -> None:
    """Of all pairings it has the least of repeated byes, repeated meetings, and so on, in this order."""
    standing = field_by_lot(n, seed)
    costs = pairing_costs(standing)
    place = {contender.name: i for i, contender in enumerate(standing)}
    found = [(place[names[0]], place[names[1]] if len(names) == 2 else n) for names in pairs(standing)]
    assert total(costs, found) == min(total(costs, pairing) for pairing in all_pairings(range(n + n % 2)))


def who_may_meet(scores: Mapping[str, float], allowed: Iterable[tuple[str, str]]) -> list[Contender]:
    """Return contenders of whom all have met but for the pairs *allowed*."""
    unmet = {frozenset(two) for two in allowed}
    return [
        Contender(name, score, met={other: 1 for other in scores if frozenset((name, other)) not in unmet})
        for name, score in sorted(scores.items(), key=lambda entry: -entry[1])
    ]


def test_entrants_of_a_score_group_meet_however_far_they_are_from_the_fold() -> None:
    """There 7 with i and 8 with j, the last with the first of the next group, would be nearer to it."""
    scores = {**dict.fromkeys("12345678", 1.0), **dict.fromkeys("ij", 0.0)}
    alike = [("1", "2"), ("3", "4"), ("5", "6"), ("7", "8"), ("i", "j")]
    assert pairs(who_may_meet(scores, [*alike, ("7", "j"), ("8", "i")])) == tuple(alike)


def test_the_distances_of_score_groups_count_squared() -> None:
    """Without a repeated meeting, six pairs are a group apart each, or one pair two groups, and the others none."""
    scores = dict(zip("abcdefghijkl", (2, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1), strict=True))
    circle = [*pairwise(scores), ("l", "a")]
    assert {frozenset(two) for two in pairs(who_may_meet(scores, circle))} == set(map(frozenset, circle[::2]))


def test_64_entrants_are_as_near_to_the_fold_as_can_be() -> None:
    """Number 15 has met all whom it would meet in its block of a larger field."""
    met = {f"p{i}": 1 for i in range(32, 48)}
    standing = [Contender(f"p{i}", 0, met=met if i == 15 else {"p15": 1} if f"p{i}" in met else {}) for i in range(64)]
    fold = {i: i + 32 for i in range(32)} | {15: 48, 16: 47}
    assert pairs(standing) == tuple((f"p{i}", f"p{j}") for i, j in fold.items())


def meetings(competition: Competition) -> Counter[frozenset[str]]:
    return Counter(frozenset(pairing.players) for pairing in competition.pairings)


@settings(max_examples=25)
@given(st.integers(2, 9), st.integers(0, 2**32))
def test_entrants_do_not_meet_again_while_that_can_be_avoided(n: int, seed: int) -> None:
    competition = competition_of(n)
    schedule = Swiss(n - 1 + n % 2)
    while (after := schedule_next(schedule, competition)) != competition:
        free = [two for two in combinations(competition.names, 2) if frozenset(two) not in meetings(competition)]
        again = sum(count - 1 for count in meetings(after).values()) - sum(
            count - 1 for count in meetings(competition).values()
        )
        rested = {name for _, name in byes(competition)}
        resting = [(name,) for name in competition.names if name not in rested] if n % 2 else []
        if can_cover(frozenset(competition.names), free, resting):
            assert again == 0
            assert max(Counter(name for _, name in byes(after)).values(), default=0) <= 1
        competition = play_open(after, by_lot(seed))


def can_cover(names: frozenset[str], free: Sequence[tuple[str, ...]], resting: Sequence[tuple[str, ...]]) -> bool:
    """Return whether disjoint pairs of *free*, and one of *resting* if there are any, contain all *names*."""
    if not names:
        return True
    first = min(names)
    for pair in free:
        if first in pair and names.issuperset(pair) and can_cover(names.difference(pair), free, resting):
            return True
    return (first,) in resting and can_cover(names - {first}, free, [])


@settings(max_examples=30)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=6))
def test_one_at_most_leaves_a_score_group_downwards_if_all_can_meet(sizes: list[int]) -> None:
    """Fields on both sides of the limit for exact pairings."""
    scores = [float(-group) for group, size in enumerate(sizes) for _ in range(size)]
    score_of = {f"p{i}": score for i, score in enumerate(scores)}
    found = pairs([Contender(name, score) for name, score in score_of.items()])
    across = [two for two in found if len(two) == 2 and score_of[two[0]] != score_of[two[1]]]
    sums = [sum(sizes[: group + 1]) for group in range(len(sizes))]
    assert len(across) == sum(total % 2 for total in sums[:-1] if total < len(scores) - len(scores) % 2)


def test_round_one_is_the_fold() -> None:
    assert pairs([Contender(f"p{i}", 0) for i in range(1, 8)]) == (("p1", "p4"), ("p2", "p5"), ("p3", "p6"), ("p7",))


def test_every_meeting_has_a_match_with_either_seat_and_equal_seeds() -> None:
    competition = schedule_next(Swiss(3), competition_of(4))
    assert [match.players for match in competition.scheduled] == [
        ("p1", "p3"),
        ("p3", "p1"),
        ("p2", "p4"),
        ("p4", "p2"),
    ]
    one, other, *_ = competition.scheduled
    assert (one.seed, one.scramble_seed, one.set_id) == (other.seed, other.scramble_seed, other.set_id)


def test_a_round_waits_for_the_one_before() -> None:
    competition = schedule_next(Swiss(3), competition_of(4))
    assert schedule_next(Swiss(3), competition) == competition


def test_the_best_wins_and_scores_are_kept_in_order() -> None:
    competition = play_all(Swiss(3), competition_of(8))
    assert Swiss(3).scores(competition) == {
        "p1": 3.0, "p2": 2.0, "p3": 2.0, "p4": 2.0, "p5": 1.0, "p6": 1.0, "p7": 1.0, "p8": 0.0,
    }  # fmt: skip


def test_scores_are_points_of_meetings_drawn_ones_half_and_of_byes() -> None:
    competition = play_open(schedule_next(Swiss(3), competition_of(5)), lambda _: (50, 50))
    competition = play_open(schedule_next(Swiss(3), competition), by_rank)
    assert [two.players for two in competition.pairings] == [("p1", "p3"), ("p2", "p4"), ("p5", "p1"), ("p2", "p3")]
    rules = replace(MEETINGS_COUNT, bye=0.75)
    assert Swiss(3, rules=rules).scores(competition) == {"p1": 1.5, "p2": 1.5, "p3": 0.5, "p4": 1.25, "p5": 0.75}


def test_those_with_like_scores_meet_whatever_their_starting_ranks() -> None:
    winners = {"p1", "p5", "p6"}
    competition = play_open(
        schedule_next(Swiss(2), competition_of(6)),
        lambda match: tuple(100 * (name in winners) for name in match.players),
    )
    assert [(one.name, one.score) for one in Swiss(2).contenders(competition, 2)] == [
        ("p1", 1.0), ("p5", 1.0), ("p6", 1.0), ("p2", 0.0), ("p3", 0.0), ("p4", 0.0),
    ]  # fmt: skip
    after = schedule_next(Swiss(2), competition)
    assert [two.players for two in after.pairings[3:]] == [("p1", "p5"), ("p6", "p2"), ("p3", "p4")]


def test_a_meeting_has_as_many_sets_as_are_asked_for() -> None:
    competition = schedule_next(Swiss(1, sets=2), competition_of(2))
    sets = Counter(match.set_id for match in competition.scheduled)
    assert ([match.players for match in competition.scheduled], sorted(sets.values())) == (
        [("p1", "p2"), ("p2", "p1")] * 2, [2, 2],
    )  # fmt: skip


def test_a_late_entrant_has_no_points_for_what_it_missed() -> None:
    competition = play_open(schedule_next(Swiss(3), competition_of(4)), by_lot(1))
    competition = replace(competition, entrants=(*competition.entrants, Entrant("late", since_round=2)))
    assert [c.score for c in Swiss(3).contenders(competition, 2) if c.name == "late"] == [0.0]
    after = schedule_next(Swiss(3), competition)
    assert ("late" in {name for match in after.scheduled for name in match.players}) != ((2, "late") in byes(after))


def test_an_entrant_who_has_withdrawn_is_not_paired() -> None:
    competition = play_open(schedule_next(Swiss(3), competition_of(5)), by_lot(1))
    first, *others = competition.entrants
    competition = replace(competition, entrants=(replace(first, withdrawn_after=1), *others))
    after = schedule_next(Swiss(3), competition)
    players = {name for match in after.scheduled if match.round == 2 for name in match.players}
    assert players == {"p2", "p3", "p4", "p5"}


@pytest.mark.parametrize("n", [65, 200])
def test_large_fields_repeat_no_meeting_and_no_bye(n: int) -> None:
    competition = play_all(Swiss(6), competition_of(n), by_lot(3))
    assert set(meetings(competition).values()) == {1}
    assert max(Counter(name for _, name in byes(competition)).values(), default=0) <= 1
    assert {pairing.round for pairing in competition.pairings} == set(range(1, 7))


def test_large_fields_meet_in_the_fold_of_each_score_group() -> None:
    groups = [[f"p{score}.{i}" for i in range(size)] for score, size in ((9, 40), (5, 74), (2, 6), (1, 6), (0, 2))]
    standing = [Contender(name, float(name[1])) for group in groups for name in group]
    fold = [two for group in groups for two in zip(group[: len(group) // 2], group[len(group) // 2 :], strict=True)]
    assert sorted(pairs(standing)) == sorted(fold)


@pytest.mark.parametrize("place", ["first", "last"])
def test_two_of_a_large_field_who_have_met_and_are_a_score_group_of_their_own_meet_others(place: str) -> None:
    score = {"first": 2.0, "last": 0.0}[place]
    two = [Contender("ada", score, met={"bob": 1}), Contender("bob", score, met={"ada": 1})]
    others = [Contender(f"p{i}", 1.0) for i in range(64)]
    standing = [*two, *others] if place == "first" else [*others, *two]
    found = pairs(standing)
    assert len({name for pair in found for name in pair}) == 66
    assert sum(bool({"ada", "bob"} & set(pair)) for pair in found) == 2


@pytest.mark.parametrize(("i", "block"), [(0, [*range(16), *range(33, 49)]), (65, [32])])
def test_an_entrant_of_a_large_field_who_has_met_all_of_its_block_meets_another(i: int, block: Sequence[int]) -> None:
    met = {j for j in block if j != i}
    standing = [
        Contender(f"p{k}", 0, met={f"p{j}": 1 for j in met} if k == i else {f"p{i}": 1} if k in met else {})
        for k in range(66)
    ]
    found = pairs(standing)
    assert sorted(chain.from_iterable(found)) == sorted(f"p{k}" for k in range(66))
    assert not any(f"p{i}" in pair and met & {int(name[1:]) for name in pair} for pair in found)


def test_a_large_field_of_which_all_have_met_meets_again() -> None:
    standing = who_may_meet({f"p{i}": 0 for i in range(66)}, ())
    assert sorted(chain.from_iterable(pairs(standing))) == sorted(contender.name for contender in standing)


def test_pairs_of_a_large_field_are_in_the_order_of_the_better_of_each() -> None:
    standing = field_by_lot(70, 1)
    place = {contender.name: i for i, contender in enumerate(standing)}
    found = [tuple(place[name] for name in pair) for pair in pairs(standing)]
    assert found == sorted(tuple(sorted(pair)) for pair in found)


def test_rounds_of_a_tournament_that_has_begun_stay_as_they_are() -> None:
    """Databases keep them: with other ids, the next version of the server schedules them once more."""
    competition = play_all(Swiss(3, sets=2), competition_of(5, 2, seed=7), by_lot(1))
    given_ = (
        (match.match_id, match.players, match.round, match.seed, match.scramble_seed) for match in competition.scheduled
    )
    assert digest(*given_) == "t2180d222301ca762"


def test_the_bye_of_a_large_field_goes_to_the_last_of_those_with_the_fewest() -> None:
    standing = [Contender(f"p{i}", 1.0, n_byes=i > 60) for i in range(67)]
    assert pairs(standing)[-1] == ("p60",)


@settings(max_examples=12)
@given(st.integers(3, 5), st.integers(6, 25), st.integers(0, 2**32))
def test_groups_rest_equally_often(size: int, n: int, seed: int) -> None:
    competition = play_all(Swiss(4), competition_of(n, size), by_lot(seed))
    rested = Counter(name for _, name in byes(competition))
    counts = [rested[name] for name in competition.names]
    assert max(counts) - min(counts) <= 1
    assert Counter(len(pairing.players) for pairing in competition.pairings) == {size: 4 * (n // size)}


def test_groups_of_nine_do_not_meet_again_while_that_can_be_avoided() -> None:
    """Nine in groups of three can play four rounds without a repeated meeting: the affine plane of order 3."""
    competition = play_all(Swiss(2), competition_of(9, 3), by_lot(5))
    assert max(competition.meetings.values()) == 1


@settings(max_examples=30)
@given(st.integers(6, 9), st.integers(0, 2**32))
def test_no_groups_repeat_fewer_meetings_or_are_more_alike(n: int, seed: int) -> None:
    standing = {contender.name: contender for contender in field_by_lot(n, seed)}
    found = [group for group in groups_of(tuple(standing.values()), 3) if len(group) == 3]
    playing = tuple(name for name in standing if any(name in group for group in found))
    levels = {score: i for i, score in enumerate(sorted({standing[name].score for name in playing}))}

    def badness(groups: Sequence[Sequence[str]]) -> tuple[int, int]:
        met = (standing[one].met.get(other, 0) ** 2 for group in groups for one, other in combinations(group, 2))
        ranks = [sorted(levels[standing[name].score] for name in group) for group in groups]
        return sum(met), sum((b - a) ** 2 for each in ranks for a, b in pairwise(each))

    all_groups = partitions(tuple(range(len(playing))), 3)
    ways = ([[playing[i] for i in group] for group in groups] for groups in all_groups)
    assert badness(found) == min(map(badness, ways))


def test_groups_keep_like_scores_together() -> None:
    standing = [Contender(f"p{i}", score) for i, score in enumerate([3, 3, 3, 1, 1, 1, 0], 1)]
    assert groups_of(standing, 3) == (("p1", "p2", "p3"), ("p4", "p5", "p6"), ("p7",))


def test_games_take_turns_or_are_all_played() -> None:
    turns = play_all(Swiss(2), competition_of(4, 2, 1))
    assert [(match.round, match.game) for match in turns.scheduled if "p1" in match.players] == [
        (1, "g1"), (1, "g1"), (2, "g2"),
    ]  # fmt: skip
    of_three = play_all(Swiss(4), competition_of(2, 2, 2, 2))
    assert [pairing.matches[0].game for pairing in of_three.pairings] == ["g1", "g2", "g3", "g1"]
    everything = schedule_next(Swiss(1, all_games=True), competition_of(2, 2, 1))
    assert [(match.game, match.players) for match in everything.scheduled] == [
        ("g1", ("p1", "p2")), ("g1", ("p2", "p1")), ("g2", ("p1",)), ("g2", ("p2",)),
    ]  # fmt: skip
    said = "^a meeting cannot have games for different numbers of players; let the games take turns$"
    with pytest.raises(ValueError, match=said):
        Swiss(1, all_games=True)(competition_of(4, 2, 3))
