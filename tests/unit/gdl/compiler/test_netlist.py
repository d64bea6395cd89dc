"""Netlists: what gates read and what reads them, against walks of one node at a time."""

from __future__ import annotations

import numpy as np

from gdl.compiler.netlist import InputLists, NodeQueue, Readers, cone_of, each_once, ranges, starts

GATES = (None, None, None, (2, 4), (5, 6), (4, 8, 6))


def test_ranges_are_listed_one_after_the_other() -> None:
    assert ranges(np.array([7, 3, 5]), np.array([2, 0, 3])).tolist() == [7, 8, 5, 6, 7]


def test_groups_begin_where_those_before_end() -> None:
    assert starts(np.array([0, 0, 2, 2, 2]), 4).tolist() == [0, 2, 2, 5, 5]


def test_each_node_is_kept_once_where_it_stands_last() -> None:
    place = np.full(5, -1)
    assert (each_once(np.array([4, 1, 4, 3, 1]), place).tolist(), place.tolist()) == ([4, 3, 1], [-1, 4, -1, 3, 2])


def test_a_cone_has_all_that_roots_depend_on() -> None:
    assert (cone_of(GATES, [9]), cone_of(GATES, [2, 5]), cone_of(GATES, [])) == ({1, 2, 3, 4}, {1, 2}, set())


def test_inputs_of_several_nodes_are_listed_in_their_order() -> None:
    assert InputLists(GATES).of(np.array([5, 1, 3])).tolist() == [4, 8, 6, 2, 4]


def test_readers_are_known_and_what_they_reach() -> None:
    readers, reached = Readers(GATES), np.zeros(6, np.bool_)
    readers.reach([4], reached)
    assert ([readers.of(node) for node in range(6)], reached.nonzero()[0].tolist()) == (
        [[], [3], [3, 4, 5], [4, 5], [5], []],
        [4, 5],
    )


def test_a_queue_yields_nodes_in_order_once_with_those_added_on_the_way() -> None:
    queue, found = NodeQueue(), []
    queue.add([3, 1, 3])
    for node in queue:
        found.append(node)
        queue.add([node + 2] if node < 5 else [])
    assert found == [1, 3, 5]
