"""What a walk came to is added up on its way, and what is proven of a node follows from what is below it."""

from __future__ import annotations

from itertools import product
from typing import Any, Final, NamedTuple

import numba
import numpy as np
import pytest

from gdl.compiler.kernels.words import addresses
from players.search.tree import nodes
from players.search.tree.backup import back_up
from players.search.tree.bandits import UCB
from players.search.tree.nodes import RuleFacts, Tree, empty_tree, tree_size
from players.search.tree.walks import Walks, walks_for
from tests.integration.players.search.test_compiled_search import search_of, thought
from tests.kit.players.games import compiled
from tests.kit.players.weights import breakthrough

njit: Any = numba.njit  # whose types do not know what functions become
FIRST: Final = 4
"""The first edge of the node; its children are those from 0 on, and it is the one after them."""
LOW: Final = (10, 20, 50)
HIGH: Final = (80, 90, 50)
"""The limits of the goals of two roles, which add up to 100 where one wins what the other loses, and of chance."""
GOALS: Final = ((10, 30, 55, 80), (20, 45, 70, 90), (50,))
CHANCE: Final = 2


class Bounds(NamedTuple):
    """What is proven of a goal."""

    low: int
    high: int


class Proven(NamedTuple):
    """What is known of a node: each role's bounds, and whether it is solved."""

    bounds: tuple[Bounds, ...]
    is_solved: bool


class Edge(NamedTuple):
    """An edge; `child` is None where recycling has taken it."""

    total: int
    visits: int
    child: Proven | None
    limits: Bounds
    is_closed: bool


class Case(NamedTuple):
    """A node at which a role chooses, and a walk along one of its edges."""

    decider: int
    is_opposed: bool
    node: Proven
    edges: tuple[Edge, ...]
    number: int
    goals: tuple[int, ...]


def proven_below(random: np.random.Generator, *, is_opposed: bool) -> Proven:
    """Return what may be known of a child."""
    goals = [sorted(map(int, random.choice(each, 2))) for each in GOALS]
    bounds = [Bounds(low, high) for low, high in goals]
    if random.integers(2):
        bounds[0] = Bounds(bounds[0].low, bounds[0].low)
    if is_opposed:
        bounds[1] = Bounds(100 - bounds[0].high, 100 - bounds[0].low)
    return Proven(tuple(bounds), all(each.low == each.high for each in bounds))


def a_case(seed: int, decider: int, *, is_opposed: bool) -> Case:
    """Return a node of which nothing is known yet but what its edges say, one of which has a child that says more."""
    random = np.random.default_rng(seed)
    edges = []
    number = int(random.integers(n := int(random.integers(1, 6))))
    for i in range(n):
        child = proven_below(random, is_opposed=is_opposed)
        visits = int(random.integers(1, 50))
        known = Bounds(LOW[decider], HIGH[decider]) if i == number else child.bounds[decider]
        is_taken = i != number and decider != CHANCE and random.integers(3) == 0
        is_closed = child.is_solved and i != number
        total = visits * int(random.integers(LOW[decider], HIGH[decider] + 1))
        edges.append(Edge(total, visits, None if is_taken else child, known, is_closed))
    goals = tuple(int(random.integers(low, high + 1)) for low, high in zip(LOW, HIGH, strict=True))
    nothing = Proven(tuple(map(Bounds, LOW, HIGH)), is_solved=False)
    return Case(decider, is_opposed, nothing, tuple(edges), number, goals)


def by_definition(case: Case) -> tuple[Proven, tuple[Edge, ...], tuple[int, ...]]:
    """Return what is known of the node after the walk, its edges, and the goals that the walk goes up with."""
    d, edges = case.decider, list(case.edges)
    walked = edges[case.number]
    assert walked.child is not None
    goals = [min(max(goal, each.low), each.high) for goal, each in zip(case.goals, walked.child.bounds, strict=True)]
    edges[case.number] = walked._replace(
        total=walked.total + goals[d], limits=walked.child.bounds[d], is_closed=walked.child.is_solved
    )
    known = case.node
    if edges[case.number][3:] != walked[3:]:  # else nothing new is proven
        bounds = tuple(_bounds_above(case, edges, r) for r in range(len(goals)))
        known = Proven(bounds, all(each.low == each.high for each in bounds))
    floor = known.bounds[d].low
    if d != CHANCE and floor > LOW[d] and edges[case.number].total < floor * walked.visits:
        best = next((each for each in edges if each.limits == (floor, floor)), None)
        if best is not None:
            goals = [floor if r == d else _goal_by_best(case, best, r, goals[r]) for r in range(len(goals))]
    return known, tuple(edges), tuple(goals)


def _bounds_above(case: Case, edges: list[Edge], r: int) -> Bounds:
    below = [Bounds(LOW[r], HIGH[r]) if each.child is None else each.child.bounds[r] for each in edges]
    d, own = case.decider, [each.limits for each in edges]
    if d == CHANCE:
        return Bounds(sum(each.low for each in below) // len(edges), -(-sum(each.high for each in below) // len(edges)))
    chosen = Bounds(max(each.low for each in own), max(each.high for each in own))
    if r == d:
        return chosen
    if case.is_opposed and r != CHANCE:
        return Bounds(100 - chosen.high, 100 - chosen.low)
    possible = [each for each, limits in zip(below, own, strict=True) if limits.high >= chosen.low]
    return Bounds(min(each.low for each in possible), max(each.high for each in possible))


def _goal_by_best(case: Case, best: Edge, r: int, goal: int) -> int:
    if case.is_opposed and r != CHANCE:
        return 100 - best.limits.low
    return goal if best.child is None else best.child.bounds[r].low


def _packed(bounds: Bounds) -> int:
    return bounds.low | bounds.high << 8


def _unpacked(limits: int) -> Bounds:
    return Bounds(limits & nodes.LOW, limits >> 8 & nodes.LOW)


def _back_up(tree: Tree, facts: RuleFacts, walks: Walks, end: int) -> None:
    back_up(addresses(tree), addresses(facts), addresses(walks), 0, end)


backed_up = njit(_back_up)


def tree_of(case: Case) -> Tree:
    """Return a tree of these nodes alone, the one that is walked after its children."""
    size = tree_size(breakthrough().rules, 1.0, 25.0, uses_amaf=False, uses_minimax=False)
    tree, n = empty_tree(breakthrough().rules, size, UCB), len(case.edges)
    rows = np.zeros((n + 1, 16), np.int32)
    rows[n, [nodes.FIRST, nodes.DECIDER, nodes.BOUNDS + 3 + case.decider]] = FIRST, case.decider, n
    for node, known in enumerate((*(each.child for each in case.edges), case.node)):
        if known is not None:
            rows[node, nodes.SOLVED] = known.is_solved
            rows[node, nodes.BOUNDS : nodes.BOUNDS + 3] = list(map(_packed, known.bounds))
    for i, edge in enumerate(case.edges):
        child = nodes.NONE if edge.child is None else i
        tree.edge[FIRST + i] = edge.total, edge.visits, child, _packed(edge.limits) | nodes.CLOSED * edge.is_closed
    return tree._replace(node=rows, width=16)


def facts_of(case: Case) -> RuleFacts:
    """Return what the kernel asks of the rules: the limits of goals."""
    nothing = np.zeros(0, np.int32)
    low, high = np.array(LOW, np.int32), np.array(HIGH, np.int32)
    known = np.zeros(0, np.uint64)
    return RuleFacts(nothing, nothing, low, high, nothing, known, 1, 3, CHANCE, int(case.is_opposed))


def by_kernel(case: Case) -> tuple[Proven, tuple[Edge, ...], tuple[int, ...]]:
    """Return the same as `by_definition`, as the kernel has it."""
    tree, walks, n = tree_of(case), walks_for(3, 8, 1, seed=1, number=0), len(case.edges)
    walks.depth[0], walks.node[0, 0], walks.edge[0, 0], walks.goals[0] = 1, n, FIRST + case.number, case.goals
    backed_up(tree, facts_of(case), walks, case.number)
    bounds = tuple(map(_unpacked, tree.node[n, nodes.BOUNDS : nodes.BOUNDS + 3].tolist()))
    edges = [
        before._replace(total=total, visits=visits, limits=_unpacked(limits), is_closed=limits >= nodes.CLOSED)
        for before, (total, visits, _, limits) in zip(case.edges, tree.edge[FIRST : FIRST + n].tolist(), strict=True)
    ]
    return Proven(bounds, bool(tree.node[n, nodes.SOLVED])), tuple(edges), tuple(walks.goals[0].tolist())


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("decider", "is_opposed"), list(product(range(3), (False, True))))
def test_what_is_proven_of_a_node_follows_from_what_is_below_it(decider: int, is_opposed: bool) -> None:
    cases = [a_case(seed, decider, is_opposed=is_opposed) for seed in range(300)]
    assert list(map(by_kernel, cases)) == list(map(by_definition, cases))


@pytest.mark.parametrize(("visits", "halvings"), [(1 << 24, 0), ((1 << 24) + 1, 1)])
def test_sums_of_goals_stay_within_32_bits(visits: int, halvings: int) -> None:
    child = Proven(tuple(map(Bounds, LOW, HIGH)), is_solved=False)
    edge = Edge(100 * visits, visits, child, child.bounds[0], is_closed=False)
    case = Case(0, False, child, (edge,), 0, (30, 45, 50))
    after = edge._replace(total=(100 * visits + 30) >> halvings, visits=visits >> halvings)
    assert by_kernel(case) == (child, (after,), case.goals)


def test_where_one_wins_what_the_other_loses_the_bounds_of_both_say_the_same() -> None:
    search = search_of(compiled("tictactoe"))
    thought(search, 5_000)
    known = search.tree.arrays.node[: search.tree.arrays.size[0], nodes.BOUNDS : nodes.BOUNDS + 2]
    assert np.array_equal(known & nodes.LOW, 100 - (known[:, ::-1] >> 8))


def test_a_tree_that_is_recycled_again_and_again_loses_no_proof() -> None:
    search = search_of(compiled("tictactoe"), memory_mb=0.3)
    assert search.tree.is_solved(thought(search, 100_000))
