"""Implicit minimax: what nodes and edges are worth by it, and that it is kept where the tree is recycled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from gdl.compiler.kernels.words import addresses
from players.deadline import SearchBudget
from players.search.tree import nodes
from players.search.tree.bandits import UCB
from players.search.tree.bounds import best_edge
from players.search.tree.nodes import Tree, empty_tree, tree_size
from players.search.tree.search import CompiledSearch
from players.search.tree.settings import SearchSettings
from players.search.tree.walks import Walks, walks_for
from tests.kit.players.weights import breakthrough, learned

Numbers: TypeAlias = NDArray[np.int64]
Values: TypeAlias = NDArray[np.float32]


def deep_search(*, minimax: bool = True) -> CompiledSearch:
    """Return a search of breakthrough that has made a thousand walks, with weights that were learned."""
    search = CompiledSearch(breakthrough(), 1, SearchSettings(memory_mb=8.0, minimax=minimax))
    search.weigh(learned())
    budget = SearchBudget(1_000)
    for _ in search.slices(search.begin(breakthrough().initial_state, budget), budget):
        pass
    return search


def edges_of(tree: Tree, node: int) -> slice:
    """Return the edges of a node at which one of two roles chooses."""
    first, n_edges = tree.node[node, nodes.FIRST], tree.node[node, nodes.BOUNDS + 2 :].sum()
    return slice(first, first + n_edges if first >= 0 else first)


def opened(tree: Tree) -> list[int]:
    return [node for node in range(tree.size[0]) if tree.node[node, nodes.FIRST] >= 0]


def for_decider(tree: Tree, places: Sequence[int] | Numbers, values: Values) -> Values:
    """Return what is worth *values* to the first role for the roles that choose at nodes."""
    return np.where(tree.node[places, nodes.DECIDER] == 0, values, 100 - values)


def test_a_node_is_worth_by_minimax_what_its_best_edge_is() -> None:
    tree = deep_search().tree.arrays
    decided = opened(tree)
    of_edges = [tree.edge_minimax[edges_of(tree, node)] for node in decided]
    best = [edges.max() for edges in of_edges]
    assert len(decided) > 50
    assert for_decider(tree, decided, tree.node_minimax[decided]) == pytest.approx(np.array(best), abs=1e-3)


def test_an_edge_is_worth_by_minimax_what_its_child_is() -> None:
    """Where the child has no other edge by which it can have changed since."""
    tree = deep_search().tree.arrays
    children = tree.edge[: tree.size[1], nodes.CHILD]
    n_parents = np.bincount(children[children >= 0], minlength=tree.size[0])
    parents, edges = np.array(
        [
            (node, edge)
            for node in opened(tree)
            for edge in range(edges_of(tree, node).start, edges_of(tree, node).stop)
            if children[edge] >= 0 and n_parents[children[edge]] == 1
        ]
    ).T
    assert len(edges) > 100
    of_children = for_decider(tree, parents, tree.node_minimax[children[edges]])
    assert tree.edge_minimax[edges] == pytest.approx(of_children, abs=1e-3)


def test_a_new_node_is_worth_by_minimax_what_weights_say() -> None:
    tree, weights = deep_search().tree.arrays, learned()
    new = [
        node
        for node in range(1, tree.size[0])
        if tree.node[node, nodes.FIRST] < 0 and not tree.node[node, nodes.SOLVED]
    ]
    n_fluents = len(breakthrough().fluents)
    holds = np.unpackbits(tree.words[new].view(np.uint8), axis=1, bitorder="little")[:, :n_fluents]
    sums = holds @ weights.values[:-1] + weights.values[-1]
    assert len(new) > 100
    assert tree.node_minimax[new] == pytest.approx(100 / (1 + np.exp(-sums)), abs=1e-2)


def said_by_minimax(tree: Tree) -> dict[bytes, tuple[float, list[float]]]:
    """Return what minimax says of each state of a tree, and of its edges."""
    return {
        tree.words[node].tobytes(): (float(tree.node_minimax[node]), tree.edge_minimax[edges_of(tree, node)].tolist())
        for node in range(tree.size[0])
    }


def test_recycling_keeps_what_minimax_says() -> None:
    search = deep_search()
    tree = search.tree.arrays
    before = said_by_minimax(tree)
    children = tree.edge[edges_of(tree, 0), nodes.CHILD]
    search.tree.recycle(int(children[tree.edge[edges_of(tree, 0), nodes.VISITS].argmax()]))
    after = said_by_minimax(tree)
    assert 50 < len(after) < len(before)
    assert after == {words: before[words] for words in after}


def test_minimax_can_be_done_without() -> None:
    tree = deep_search(minimax=False).tree.arrays
    assert (tree.uses_minimax, tree.node_minimax.size, tree.edge_minimax.size) == (0, 0, 0)


def _chosen(tree: Tree, walks: Walks, minimax_share: float) -> int:
    """Return which of the first two edges is chosen, without anything for those that were walked seldom."""
    t, w = addresses(tree), addresses(walks)
    found: int = best_edge(t, w, 0, 2, -1, np.float32(0), np.float32(minimax_share), 0)
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("share", "n_walks", "chosen"), [(0.6, 10, 1), (0.6, 10_000, 0), (0.0, 10, 0)])
def test_minimax_counts_where_there_are_few_walks(share: float, n_walks: int, chosen: int) -> None:
    """The mean of its walks is for the first edge, minimax for the second."""
    rules = breakthrough().rules
    size = tree_size(rules, 1.0, 25.0, uses_amaf=False, uses_minimax=True)
    tree, walks = empty_tree(rules, size, UCB), walks_for(2, 1, 1, seed=1, number=0)
    tree.edge[:2, [nodes.TOTAL, nodes.VISITS]] = [(60 * n_walks, n_walks), (50 * n_walks, n_walks)]
    tree.edge[:2, nodes.LIMITS] = 100 << 8
    tree.edge_minimax[:2] = (20, 80)
    njit: Any = numba.njit  # whose types do not know of such functions
    assert njit(_chosen)(tree, walks, share) == chosen
