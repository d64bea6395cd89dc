"""Perfect matchings of least cost, compared with all matchings."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from server.tournament.matching import least_cost_matching

Pairs = tuple[tuple[int, int], ...]


def all_matchings(members: tuple[int, ...]) -> Iterator[Pairs]:
    if not members:
        yield ()
        return
    for other in members[1:]:
        rest = tuple(member for member in members[1:] if member != other)
        for pairs in all_matchings(rest):
            yield ((members[0], other), *pairs)


def total(costs: Sequence[Sequence[int]], pairs: Pairs) -> int:
    return sum(costs[i][j] for i, j in pairs)


def symmetric(n: int, highest: int, seed: int) -> list[list[int]]:
    rng = random.Random(seed)
    costs = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i):
            costs[i][j] = costs[j][i] = rng.randint(0, highest)
    return costs


@pytest.mark.parametrize("seed", range(12))
def test_where_costs_are_products_small_and_large_are_paired(seed: int) -> None:
    """Blossoms hold blossoms there, as deep as can be, and many of them are dissolved."""
    factors = random.Random(seed).choices(range(41), k=36)
    costs = [[one * other for other in factors] for one in factors]
    ordered = sorted(factors)
    assert total(costs, least_cost_matching(costs)) == sum(map(int.__mul__, ordered[:18], reversed(ordered[18:])))


@settings(max_examples=80)
@given(st.sampled_from([2, 4, 6, 8]), st.sampled_from([1, 2, 5, 30, 10**30]), st.integers(0, 2**32))
def test_no_matching_costs_less(n: int, highest: int, seed: int) -> None:
    costs = symmetric(n, highest, seed)
    found = least_cost_matching(costs)
    assert sorted(i for pair in found for i in pair) == list(range(n))
    assert total(costs, found) == min(total(costs, pairs) for pairs in all_matchings(tuple(range(n))))


def least_cost_by_subsets(costs: Sequence[Sequence[int]]) -> int:
    """Return the least cost by dynamic programming over sets of indices."""
    n = len(costs)
    least = [0] + [10**9] * (2**n - 1)
    for chosen in range(2**n):
        free = [i for i in range(n) if not chosen >> i & 1]
        for j in free[1:]:
            key = chosen | 1 << free[0] | 1 << j
            least[key] = min(least[key], least[chosen] + costs[free[0]][j])
    return least[-1]


@settings(max_examples=25)
@given(st.sampled_from([1, 2, 3, 9]), st.integers(0, 2**32))
def test_blossoms_within_blossoms_are_solved(highest: int, seed: int) -> None:
    costs = symmetric(12, highest, seed)
    assert total(costs, least_cost_matching(costs)) == least_cost_by_subsets(costs)


def least_cost_by_integer_program(costs: Sequence[Sequence[int]]) -> int:
    edges = list(combinations(range(len(costs)), 2))
    ends = np.array([[i in edge for edge in edges] for i in range(len(costs))], dtype=np.float64)
    once = LinearConstraint(ends, 1, 1)
    least: float = milp([costs[i][j] for i, j in edges], integrality=1, bounds=Bounds(0, 1), constraints=once).fun
    return round(least)


def in_crowds(n: int, size: int, seed: int) -> list[list[int]]:
    """Return costs that are small within crowds of an odd *size*, of which the search makes blossoms."""
    rng = random.Random(seed)
    costs = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i):
            costs[i][j] = costs[j][i] = rng.randint(0, 50) if i // size == j // size else rng.randint(25, 400)
    return costs


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("size", [5, 7, 9])
def test_blossoms_that_are_dissolved_leave_the_least_cost(size: int, seed: int) -> None:
    """In small fields, and without crowds, hardly any blossom is dissolved before the search is over."""
    costs = in_crowds(36, size, seed)
    assert total(costs, least_cost_matching(costs)) == least_cost_by_integer_program(costs)


def test_an_odd_number_is_refused() -> None:
    with pytest.raises(ValueError, match="3 indices cannot be parted"):
        least_cost_matching(symmetric(3, 1, 0))


def test_an_empty_field_has_no_pairs() -> None:
    assert least_cost_matching([]) == ()
