"""A tree on which several threads work: nothing that they count or make is lost, and what they prove is so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gdl.compiler.compiled import CompiledGame
from gdl.errors import StuckPlayError
from players.search.evaluator import compiled_game_of
from players.search.tree.leaves import NO_ROOM
from players.search.tree.nodes import (
    BOUNDS,
    CHILD,
    DECIDER,
    FIRST,
    LOW,
    NONE,
    SIMULTANEOUS,
    TOTAL,
    UNOPENED,
    VISITS,
)
from players.search.tree.search import CompiledSearch
from tests.integration.players.test_compiled_search import MATCHING, STUCK, of_rules, states_in, thought, value_of
from tests.kit.players.games import compiled

GAMES = ["tictactoe", "connectfour", "rockpaperscissors"]


def small_rounds(game: CompiledGame, seed: int, n_threads: int, **options: Any) -> CompiledSearch:
    """Return a search whose threads meet often: its rounds are short, and a slice has many of them."""
    search = CompiledSearch(game, seed, n_threads=n_threads, **options)
    search._knobs = search._knobs._replace(least_walks=4, most_walks=32)
    search._slice_rounds = 64
    return search


def game_of(name: str) -> CompiledGame:
    return compiled_game_of(compiled(name))


def leading_on(search: CompiledSearch, node: int) -> tuple[range, list[int]]:
    """Return the edges of the roles at a node, and those that lead on to other nodes."""
    tree, n_roles = search._tree, len(search.game.roles)
    row = tree.node[node]
    own = range(int(row[FIRST]), int(row[FIRST]) + int(row[BOUNDS + n_roles : BOUNDS + 2 * n_roles].sum()))
    if row[DECIDER] != SIMULTANEOUS:
        return own, list(own)
    joint, edge = [], int(tree.edge[own.start, CHILD])
    while edge != NONE:
        joint.append(edge)
        edge = int(tree.edge[edge, TOTAL])
    return own, joint


def opened(search: CompiledSearch) -> list[int]:
    return [int(node) for node in np.flatnonzero(search._tree.node[: search._tree.size[0], FIRST] >= 0)]


def check_made(search: CompiledSearch) -> None:
    """Check that nothing is half made or made twice, and that each edge belongs to one node."""
    tree = search._tree
    n_nodes, n_edges, n_joint = (int(n) for n in tree.size[:3])
    assert tree.size[3] == 0
    assert tree.node[:n_nodes, FIRST].min() >= UNOPENED
    assert np.count_nonzero(tree.table) == n_nodes
    assert np.count_nonzero(tree.joint_edge) == n_joint
    assert len(np.unique(tree.words[:n_nodes], axis=0)) == n_nodes
    n_owners, n_found = np.zeros(n_edges, np.int64), 0
    for node in opened(search):
        own, onward = leading_on(search, node)
        owned = {*own, *onward}
        n_owners[list(owned)] += 1
        n_found += len(onward) if onward != list(own) else 0
        assert all(NONE <= tree.edge[edge, CHILD] < n_nodes for edge in onward)
    assert (n_owners[1:] == 1).all()
    assert n_found == n_joint


def check_counts(search: CompiledSearch, root: int) -> None:
    """Check that the walks to each node are those along the edges that lead there, and each goes on at most once."""
    tree, n_roles = search._tree, len(search.game.roles)
    arrived = np.zeros(tree.size[0], np.int64)
    arrived[root] = search.counts["walks"]
    for node in opened(search):
        own, onward = leading_on(search, node)
        n_onward = int(tree.edge[onward, VISITS].sum())
        assert n_onward <= tree.node[node, VISITS]
        if tree.node[node, DECIDER] == SIMULTANEOUS:
            counts = tree.node[node, BOUNDS + n_roles : BOUNDS + 2 * n_roles]
            for begin, n in zip(own.start + np.cumsum([0, *counts[:-1]]), counts, strict=True):
                assert tree.edge[begin : begin + n, VISITS].sum() == (n_onward if n else 0)
        for edge in onward:
            child = int(tree.edge[edge, CHILD])
            assert child >= 0 or tree.edge[edge, VISITS] == 0
            if child >= 0:
                arrived[child] += tree.edge[edge, VISITS]
    assert (arrived == tree.node[: tree.size[0], VISITS]).all()


def check_goals(search: CompiledSearch) -> None:
    """Check that the sums of goals at edges are possible ones."""
    tree = search._tree
    for node in opened(search):
        for edge in leading_on(search, node)[0]:
            assert 0 <= tree.edge[edge, TOTAL] <= 100 * tree.edge[edge, VISITS]


@pytest.mark.parametrize("n_threads", [1, 2, 4])
@pytest.mark.parametrize("name", GAMES)
def test_no_walk_node_or_edge_is_lost(name: str, n_threads: int) -> None:
    for seed in range(6):
        search = small_rounds(game_of(name), seed, n_threads, memory_mb=32.0)
        root = thought(search, 6_000)
        check_made(search)
        check_counts(search, root)
        check_goals(search)


@pytest.mark.parametrize("simultaneous", ["ucb", "regret"])
def test_joint_moves_are_shared(simultaneous: str) -> None:
    for seed in range(6):
        search = small_rounds(of_rules(MATCHING), seed, 3, memory_mb=32.0, simultaneous=simultaneous)
        root = thought(search, 6_000)
        check_made(search)
        check_counts(search, root)
        check_goals(search)


def test_what_threads_prove_is_so() -> None:
    for seed in range(6):
        search = small_rounds(game_of("tictactoe"), seed, 4, memory_mb=32.0)
        root = thought(search, 1_000_000)
        assert search.is_solved(root)
        for node, state in states_in(search):
            value = value_of(state)
            for r, goal in enumerate(value):
                limits = int(search._tree.node[node, BOUNDS + r])
                assert limits & LOW <= goal <= limits >> 8
                assert limits & LOW == limits >> 8 or not search.is_solved(node)


def test_bounds_hold_while_threads_are_at_work() -> None:
    search = small_rounds(game_of("tictactoe"), 1, 4, memory_mb=32.0)
    root = search.keep(search.game.initial_state)
    for _ in range(40):
        search._call(root, 4, 1_000)
        for node, state in states_in(search):
            for r, goal in enumerate(value_of(state)):
                limits = int(search._tree.node[node, BOUNDS + r])
                assert limits & LOW <= goal <= limits >> 8


def test_a_full_tree_is_recycled_when_all_threads_stand_still() -> None:
    for seed in range(3):
        search = small_rounds(game_of("connectfour"), seed, 3, memory_mb=1.0)
        root = search.keep(search.game.initial_state)
        n_full = 0
        for _ in range(60):
            ending = search._call(root, 64, 100_000)
            check_made(search)
            if ending == NO_ROOM:
                n_full += 1
                root = search._recycled(root)
                check_made(search)
        assert n_full >= 1


def test_a_role_without_a_legal_move_is_reported_by_any_thread() -> None:
    search = small_rounds(of_rules(STUCK), 1, 3, memory_mb=32.0)
    with pytest.raises(StuckPlayError):
        thought(search, 100)
    assert search._tree.node[: search._tree.size[0], FIRST].min() >= UNOPENED
