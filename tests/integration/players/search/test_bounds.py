"""Upper confidence bounds in vector registers: they are those of the formula, and the highest is chosen."""

from __future__ import annotations

from collections import Counter
from math import log, sqrt
from typing import Any, Final

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from gdl.compiler.kernels.words import addresses
from players.search.tree import nodes
from players.search.tree.bandits import UCB, best_edge_by_amaf
from players.search.tree.bounds import MADE_BY, best_edge, n_walks_along, weigh, weigh_again
from players.search.tree.fours import ABSENT
from players.search.tree.implicit import HALF_SHARE_WALKS
from players.search.tree.nodes import Tree, empty_tree, tree_size
from players.search.tree.walks import Walks, walks_for
from tests.kit.players.weights import breakthrough

njit: Any = numba.njit  # whose types do not know what functions become
FIRST: Final = 5
FLOOR: Final = 20
EXPLORATION: Final = 0.5


def a_tree(seed: int, n: int, *, uses_amaf: bool = False) -> Tree:
    """Return a tree with *n* edges of a role that have been walked, or not, and bounds that are proven, or not."""
    random = np.random.default_rng(seed)
    size = tree_size(breakthrough().rules, 1.0, 25.0, uses_amaf=uses_amaf, uses_minimax=True)
    tree, here = empty_tree(breakthrough().rules, size, UCB), slice(FIRST, FIRST + n)
    tree.edge[FIRST + n : FIRST + n + 4] = 77  # what lies behind them is not theirs
    tree.edge[here, nodes.VISITS] = random.integers(0, 200, n) * random.integers(0, 2, n)
    tree.edge[here, nodes.TOTAL] = tree.edge[here, nodes.VISITS] * random.integers(0, 100, n)
    low = random.choice([0, 0, 50, 100], n)
    high = np.maximum(low, random.choice([0, 50, 100, 100], n))
    tree.edge[here, nodes.LIMITS] = low | high << 8 | random.integers(0, 2, n) * nodes.CLOSED
    tree.edge_minimax[here] = random.uniform(0, 100, n)
    return tree


def room(n_moves: int = 64) -> Walks:
    return walks_for(2, n_moves, 1, seed=1, number=0)


def by_formula(tree: Tree, edge: int, n_walks: int, share: float, is_judged: int) -> float:
    """Return the bound of an edge of a node through which *n_walks* went."""
    total, visits, _, limits = (int(each) for each in tree.edge[edge])
    low, high = limits & nodes.LOW, limits >> 8 & nodes.LOW
    if low == high or high <= FLOOR:
        return -1e9
    width = EXPLORATION * sqrt(log(n_walks + MADE_BY))
    if visits == 0:
        return 0.01 * float(tree.edge_minimax[edge]) + width if is_judged and share else 1e6
    share *= float(HALF_SHARE_WALKS) / (float(HALF_SHARE_WALKS) + visits)
    mean = total / visits + share * (float(tree.edge_minimax[edge]) - total / visits)
    return 0.01 * min(max(mean, low), high) + width / sqrt(visits)


def found(tree: Tree, walks: Walks, n: int, share: float, is_judged: int) -> NDArray[np.float32]:
    weighed(tree, walks, n, share, is_judged)
    return walks.bounds


def _weigh(tree: Tree, walks: Walks, n: int, share: float, is_judged: int) -> float:
    """Return the width of a bound."""
    t, w = addresses(tree), addresses(walks)
    c: float = weigh(t, w, FIRST, n, FLOOR, np.float32(EXPLORATION), np.float32(share), is_judged)
    return c


def _weigh_again(tree: Tree, walks: Walks, n: int, number: int, c: float) -> None:
    weigh_again(addresses(tree), addresses(walks), FIRST, n, number, c, FLOOR, 0.0, 0)


def _walks(tree: Tree, n: int) -> int:
    found: int = n_walks_along(addresses(tree), FIRST, n)
    return found


def _best(tree: Tree, walks: Walks, n: int) -> int:
    t, w = addresses(tree), addresses(walks)
    edge: int = best_edge(t, w, FIRST, n, FLOOR, np.float32(EXPLORATION), np.float32(0), 0)
    return edge


def _best_by_amaf(tree: Tree, walks: Walks, n: int) -> int:
    edge: int = best_edge_by_amaf(addresses(tree), addresses(walks), FIRST, n, FLOOR, np.float32(1), np.float32(0.001))
    return edge


weighed, weighed_again, walked, chosen_edge = (njit(each) for each in (_weigh, _weigh_again, _walks, _best))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("share", "is_judged"), [(0.0, 0), (0.6, 0), (0.6, 1), (0.0, 1)])
def test_bounds_are_those_of_the_formula(share: float, is_judged: int) -> None:
    for n in range(1, 23):
        tree, walks = a_tree(n, n), room()
        n_walks = int(tree.edge[FIRST : FIRST + n, nodes.VISITS].sum())
        expected = [by_formula(tree, edge, n_walks, share, is_judged) for edge in range(FIRST, FIRST + n)]
        bounds = found(tree, walks, n, share, is_judged)
        assert bounds[:n].tolist() == pytest.approx(expected, rel=1e-5)
        assert set(bounds[n : -(-n // 4) * 4].tolist()) <= {np.float32(ABSENT)}


def test_walks_are_those_of_a_node_alone() -> None:
    for n in range(1, 23):
        tree = a_tree(n, n)
        assert walked(tree, n) == tree.edge[FIRST : FIRST + n, nodes.VISITS].sum()


def test_a_walk_changes_the_bound_of_its_edge_alone() -> None:
    tree, walks, n = a_tree(1, 7), room(), 7
    c = weighed(tree, walks, n, 0.0, 0)
    before = walks.bounds.copy()
    tree.edge[FIRST + 5, [nodes.TOTAL, nodes.VISITS, nodes.LIMITS]] = (100, 4, 100 << 8)
    weighed_again(tree, walks, n, 5, c)
    assert walks.bounds[5] == pytest.approx(0.25 + c / 2)
    assert np.delete(walks.bounds, 5).tolist() == np.delete(before, 5).tolist()


def test_the_edge_with_the_highest_bound_is_chosen() -> None:
    for n in range(1, 23):
        tree, walks = a_tree(100 + n, n), room()
        edge = chosen_edge(tree, walks, n)
        assert walks.bounds[edge - FIRST] == walks.bounds[:n].max()


@pytest.mark.parametrize("n", [2, 4, 7, 13])
def test_of_equal_edges_each_is_chosen_sometimes(n: int) -> None:
    tree, walks = a_tree(1, n), room()
    tree.edge[FIRST : FIRST + n] = (0, 0, nodes.NONE, 100 << 8)
    chosen = Counter(chosen_edge(tree, walks, n) - FIRST for _ in range(100 * n))
    assert set(chosen) == set(range(n))
    assert min(chosen.values()) > 25
