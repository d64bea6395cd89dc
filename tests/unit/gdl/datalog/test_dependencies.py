"""Components, shortest chains and cycles through a negation of graphs of numbers."""

from __future__ import annotations

from gdl.datalog.dependencies import Dependencies

# 0 -> 1 -> 2 -> 0 is a cycle, on which 1 negates 2; 3 stands outside and negates 0; 4 negates itself
GRAPH = Dependencies([{1: False}, {2: True}, {0: False}, {0: True}, {4: True}])


def test_components_come_after_all_that_they_need() -> None:
    assert GRAPH.components == [(0, 1, 2), (3,), (4,)]
    assert GRAPH.component_of == (0, 0, 0, 1, 2)


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
