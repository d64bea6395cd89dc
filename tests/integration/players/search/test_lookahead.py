"""Looking a move ahead: what new nodes and their edges are worth by the weights, and where walks go."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray

from gdl.compiler.compiled import CompiledGame
from gdl.engines import make_game
from gdl.game import State
from gdl.language.rules import read_rules
from players.deadline import SearchBudget
from players.search.evaluator import compiled_game_of
from players.search.tree import nodes
from players.search.tree.nodes import Tree
from players.search.tree.search import CompiledSearch
from players.search.tree.settings import SearchSettings
from players.search.tree.weights import FluentWeights
from tests.kit.players.weights import breakthrough, learned

N_WALKS: Final = 1_000


def looking(
    game: CompiledGame, weights: FluentWeights, *, memory_mb: float = 8.0, n_threads: int = 1
) -> CompiledSearch:
    """Return a search of *game* that looks ahead by *weights*, and has not begun."""
    search = CompiledSearch(game, 1, SearchSettings(memory_mb=memory_mb), n_threads)
    search.weigh(weights, looks_ahead=True)
    return search


def walked(search: CompiledSearch, n_walks: int = N_WALKS) -> Tree:
    """Return the tree of *search* after so many walks from the first state."""
    budget = SearchBudget(n_walks)
    for _ in search.slices(search.begin(search.game.initial_state, budget), budget):
        pass
    return search.tree.arrays


@cache
def a_search() -> CompiledSearch:
    search = looking(breakthrough(), learned())
    walked(search)
    return search


def edges_of(tree: Tree, node: int) -> NDArray[np.int64]:
    """Return the edges of a node at which one of two roles chooses."""
    first, n_edges = tree.node[node, nodes.FIRST], tree.node[node, nodes.BOUNDS + 2 :].sum()
    return np.arange(first, first + n_edges)


def leaves(tree: Tree) -> list[int]:
    """Return the open nodes that have edges of which no walk has taken one."""
    opened = np.flatnonzero(
        (tree.node[: tree.size[0], nodes.FIRST] >= 0) & (tree.node[: tree.size[0], nodes.SOLVED] == 0)
    )
    return [node for node in opened.tolist() if not tree.edge[edges_of(tree, node), nodes.VISITS].any()]


def state_of(game: CompiledGame, tree: Tree, node: int) -> State:
    """Return the state of a node."""
    holds = np.unpackbits(tree.words[node].view(np.uint8), bitorder="little")[: len(game.fluents)]
    return game.state(fluent for fluent, is_true in zip(game.fluents, holds, strict=True) if is_true)


def judged(game: CompiledGame, weights: FluentWeights, state: State, decider: int) -> float:
    """Return what *state* is worth to a role, in percent: its goal if it is terminal, else by the weights."""
    if state.is_terminal:
        return float(state.goal(game.roles[decider]) or 0)
    total = sum(float(weights.values[n]) for n, fluent in enumerate(game.fluents) if fluent in state.facts)
    share = 100 / (1 + np.exp(-(total + float(weights.values[-1]))))
    return float(share if decider == 0 else 100 - share)


def test_an_edge_that_no_walk_has_taken_is_worth_what_weights_say_of_the_state_it_leads_to() -> None:
    game, tree = breakthrough(), a_search().tree.arrays
    for node in leaves(tree)[:: len(leaves(tree)) // 20]:
        state, decider = state_of(game, tree, node), int(tree.node[node, nodes.DECIDER])
        expected = []
        for edge in edges_of(tree, node):
            move = game.moves[tree.move[edge]]
            legal = [state.legal_moves(role) for role in game.roles]
            joint = tuple(move if n == decider else own[0] for n, own in enumerate(legal))
            expected.append(judged(game, learned(), state.next_state(joint), decider))
        assert tree.edge_minimax[edges_of(tree, node)] == pytest.approx(expected, abs=0.01)


def test_a_new_node_is_worth_what_its_best_edge_is() -> None:
    tree = a_search().tree.arrays
    new = leaves(tree)
    best = np.array([tree.edge_minimax[edges_of(tree, node)].max() for node in new])
    worth = np.where(tree.node[new, nodes.DECIDER] == 0, best, 100 - best)
    assert len(new) > 100
    assert tree.node_minimax[new] == pytest.approx(worth, abs=1e-3)


def test_a_walk_comes_to_what_its_leaf_is_worth() -> None:
    """Along an edge that one walk has taken it is the worth of the child, in whole percent."""
    tree = a_search().tree.arrays
    edges = np.flatnonzero(
        (tree.edge[: tree.size[1], nodes.VISITS] == 1) & (tree.edge[: tree.size[1], nodes.CHILD] > 0)
    )
    new = set(leaves(tree))
    once = [int(edge) for edge in edges if int(tree.edge[edge, nodes.CHILD]) in new]
    assert len(once) > 100
    assert tree.edge[once, nodes.TOTAL] == pytest.approx(tree.edge_minimax[once], abs=0.51)


def test_walks_may_never_take_edges_that_promise_little() -> None:
    search = looking(breakthrough(), learned())
    search.knobs = search.knobs._replace(exploration=0.05)
    tree = walked(search)
    visits = [tree.edge[edges_of(tree, node), nodes.VISITS] for node in range(tree.size[0])]
    assert any(each.sum() > 2 * len(each) and each.min() == 0 for each in visits if len(each))


def test_a_search_that_looks_ahead_makes_no_plays() -> None:
    counts = a_search().counts
    assert (counts["walks"], counts["plays"]) == (N_WALKS, 0)


def test_all_nodes_that_go_on_have_edges() -> None:
    """But those that were made when the root got its own, or while the tree was full."""
    tree = a_search().tree.arrays
    unopened = (tree.node[: tree.size[0], nodes.FIRST] < 0) & (tree.node[: tree.size[0], nodes.SOLVED] == 0)
    assert unopened.sum() <= 1


def test_the_same_seed_finds_the_same_tree() -> None:
    trees = [walked(looking(breakthrough(), learned())) for _ in range(2)]
    assert np.array_equal(trees[0].edge, trees[1].edge)


def test_a_full_tree_is_recycled_and_searched_on() -> None:
    search = looking(breakthrough(), learned(), memory_mb=1.0)
    tree = walked(search, 20_000)
    assert search.counts["walks"] == 20_000
    assert tree.size[0] < 20_000


FORCED: Final = """
    (role left) (role right)
    (init (step 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4)
    (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
    (<= (next (picked ?x)) (does left (pick ?x)))
    (<= (next (picked ?x)) (true (picked ?x)))
    (<= (legal left (pick ?x)) (true (step 0)) (option ?x))
    (option good) (option bad)
    (<= (legal left wait) (not (true (step 0))))
    (legal right wait)
    (<= terminal (true (step 4)))
    (<= (goal left 100) (true (picked good)))
    (<= (goal left 0) (not (true (picked good))))
    (<= (goal right 0) (true (picked good)))
    (<= (goal right 100) (not (true (picked good))))
"""
"""One choice, then forced moves to the end."""


def test_forced_moves_are_followed_to_the_end() -> None:
    game = compiled_game_of(make_game(read_rules(FORCED), "compiled"))
    search = looking(game, FluentWeights(np.zeros(len(game.fluents) + 1, np.float32), 8))
    walked(search, N_WALKS)
    root = search.tree.find(game.initial_state)
    assert root is not None
    assert str(search.tree.best_move(root, game.roles[0])) == "(pick good)"
    assert search.has_solved(game.initial_state)


SIMULTANEOUS: Final = """
    (role left) (role right)
    (init (step 0)) (succ 0 1) (succ 1 2) (succ 2 3)
    (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
    (<= (next (held ?r ?x)) (does ?r (hold ?x)))
    (option stone) (option paper)
    (<= (legal ?r (hold ?x)) (role ?r) (option ?x))
    (<= terminal (true (step 3)))
    (<= (goal left 100) (true (held left paper)))
    (<= (goal left 0) (not (true (held left paper))))
    (<= (goal right 0) (true (held left paper)))
    (<= (goal right 100) (not (true (held left paper))))
"""


def test_a_node_at_which_several_roles_choose_is_worth_what_weights_say_of_it() -> None:
    game = compiled_game_of(make_game(read_rules(SIMULTANEOUS), "compiled"))
    search = looking(game, FluentWeights(np.full(len(game.fluents) + 1, 0.5, np.float32), 8))
    assert not search.can_look_ahead
    tree = walked(search, 64)
    new = np.flatnonzero((tree.node[: tree.size[0], nodes.FIRST] < 0) & (tree.node[: tree.size[0], nodes.SOLVED] == 0))
    holds = np.unpackbits(tree.words[new].view(np.uint8), axis=1, bitorder="little").sum(axis=1)
    assert tree.node_minimax[new] == pytest.approx(100 / (1 + np.exp(-0.5 * (holds + 1))), abs=0.01)


def test_threads_look_ahead_together() -> None:
    search = looking(breakthrough(), learned(), n_threads=2)
    root = search.begin(breakthrough().initial_state, SearchBudget())
    search._be_helped(root)
    for _ in range(20):
        search.work(root, 200)
    search.rest()
    tree = search.tree.arrays
    new = leaves(tree)
    best = np.array([tree.edge_minimax[edges_of(tree, node)].max() for node in new])
    worth = np.where(tree.node[new, nodes.DECIDER] == 0, best, 100 - best)
    assert tree.node_minimax[new] == pytest.approx(worth, abs=1e-3)
