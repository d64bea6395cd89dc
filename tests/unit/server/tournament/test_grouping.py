"""Groups of small cost: the least of all where there are few entrants, else none that an exchange makes smaller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.tournament.fixtures import derived_seed
from server.tournament.grouping import Cost, Group, GroupCost, least_cost_groups, partitions, spread


def cost_by_lot(seed: int) -> GroupCost:
    """Return a cost of groups: of the pairs in them, by lot, and then how far apart their members are."""

    def cost(group: Group) -> Cost:
        drawn = (derived_seed(seed, *sorted(two)) % 4 for two in combinations(group, 2))
        return sum(drawn), spread(group)

    return cost


def total(groups: Sequence[Group], cost: GroupCost) -> Cost:
    return tuple(map(sum, zip(*map(cost, groups), strict=True)))


def exchanged(groups: Sequence[Group]) -> Iterator[list[Group]]:
    """Yield *groups* with two members of different groups exchanged, in all ways."""
    for (i, one), (j, other) in combinations(enumerate(groups), 2):
        for a, b in product(one, other):
            rest = [group for k, group in enumerate(groups) if k not in (i, j)]
            yield [*rest, (*(each for each in one if each != a), b), (*(each for each in other if each != b), a)]


@settings(max_examples=30)
@given(st.sampled_from([(6, 3), (8, 4), (9, 3), (12, 3), (12, 4), (12, 6)]), st.integers(0, 2**32))
def test_all_members_are_in_groups_that_no_exchange_makes_better(sizes: tuple[int, int], seed: int) -> None:
    n, size = sizes
    cost = cost_by_lot(seed)
    groups = least_cost_groups(n, size, cost)
    assert sorted(member for group in groups for member in group) == list(range(n))
    assert {len(group) for group in groups} == {size}
    assert total(groups, cost) == min([total(groups, cost), *(total(each, cost) for each in exchanged(groups))])


@settings(max_examples=30)
@given(st.sampled_from([(4, 2), (6, 3), (8, 4), (9, 3)]), st.integers(0, 2**32))
def test_up_to_nine_members_are_in_the_groups_that_cost_least_of_all(sizes: tuple[int, int], seed: int) -> None:
    n, size = sizes
    cost = cost_by_lot(seed)
    least = min(total(groups, cost) for groups in partitions(tuple(range(n)), size))
    assert total(least_cost_groups(n, size, cost), cost) == least


@given(st.integers(2, 5), st.integers(2, 60))
def test_exchanges_that_make_nothing_better_are_not_made(size: int, n_groups: int) -> None:
    groups = least_cost_groups(size * n_groups, size, lambda _: (1,))
    assert [member for group in groups for member in group] == list(range(size * n_groups))


@given(st.integers(2, 5), st.integers(2, 60))
def test_members_without_reasons_against_it_stay_in_their_order(size: int, n_groups: int) -> None:
    groups = least_cost_groups(size * n_groups, size, lambda group: (spread(group),))
    assert [member for group in groups for member in group] == list(range(size * n_groups))


def test_groups_that_are_not_filled_are_refused() -> None:
    with pytest.raises(ValueError, match="7 members do not fill groups of 3"):
        least_cost_groups(7, 3, cost_by_lot(0))


@given(st.lists(st.integers(0, 50), min_size=1))
def test_the_spread_is_that_of_neighbours_in_any_order(ranks: list[int]) -> None:
    assert spread(ranks) == sum((b - a) * (b - a) for a, b in pairwise(sorted(ranks)))
