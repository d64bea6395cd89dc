"""Components, shortest chains and cycles through a negation of graphs of numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gdl.datalog.dependencies import Dependencies, components_of

# 0 -> 1 -> 2 -> 0 is a cycle, on which 1 negates 2; 3 stands outside and negates 0; 4 negates itself
GRAPH = Dependencies([{1: False}, {2: True}, {0: False}, {0: True}, {4: True}])


def test_components_come_after_all_that_they_need() -> None:
    assert GRAPH.components == [(0, 1, 2), (3,), (4,)]
    assert GRAPH.component_of == (0, 0, 0, 1, 2)


def test_nodes_on_a_common_cycle_are_mutual() -> None:
    assert [GRAPH.are_mutual(i, j) for i, j in [(0, 2), (2, 1), (3, 0), (4, 4)]] == [True, True, False, True]
    assert (GRAPH.mutual_with([1]), GRAPH.mutual_with([4, 3]), GRAPH.mutual_with([])) == ({0, 1, 2}, {3, 4}, set())


def test_distances_are_those_of_the_nearest_end() -> None:
    assert GRAPH.distances_to([2]) == {2: 0, 1: 1, 0: 2, 3: 3}
    assert GRAPH.distances_to([3, 0]) == {3: 0, 0: 0, 2: 1, 1: 2}


EDGES = st.lists(st.sets(st.integers(0, 7)), min_size=8, max_size=8)


@given(EDGES)
def test_components_are_the_nodes_that_reach_one_another(edges: list[set[int]]) -> None:
    reached = [{i, *needed} for i, needed in enumerate(edges)]
    for _ in edges:
        reached = [set().union(*(reached[j] for j in one)) for one in reached]
    found = components_of([sorted(needed) for needed in edges])
    assert sorted(found) == sorted({tuple(j for j in sorted(one) if i in reached[j]) for i, one in enumerate(reached)})
    place = {node: number for number, group in enumerate(found) for node in group}
    assert all(place[j] <= place[i] for i, needed in enumerate(edges) for j in needed)


def test_a_negative_cycle_begins_with_its_negative_edge_and_closes() -> None:
    assert list(GRAPH.negative_cycles()) == [(1, 2, 0, 1), (4, 4)]


def test_a_chain_is_a_shortest_path() -> None:
    shortcut = Dependencies([{1: False, 3: False}, {2: False}, {3: False}, {}])
    assert shortcut.chain(0, {3}) == (0, 3)
    assert shortcut.chain(1, {3}) == (1, 2, 3)
    assert shortcut.chain(3, {3}) == (3,)
    assert shortcut.chain(3, {0}) is None


def test_a_long_chain_needs_no_deep_stack() -> None:
    n = 50_000
    line = Dependencies([*({i + 1: False} for i in range(n)), {}])
    assert line.components[0] == (n,)
    assert line.chain(0, {n}) == tuple(range(n + 1))
