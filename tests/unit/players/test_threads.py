"""What trees tell each other of the nodes near their roots: nothing is counted twice, and all can be taken back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from players.search.threads import Exchange
from players.search.tree.nodes import BOUNDS, CHILD, DECIDER, FIRST, TOTAL, UNOPENED, VISITS, Tree

N_ROLES = 2


@dataclass
class HandMade:
    """A tree whose root, node 0, has two edges, the first of which leads to node 1 with two edges of its own."""

    tree: Tree

    def node_of(self, words: NDArray[np.uint64]) -> int | None:
        return next((node for node, known in enumerate(self.tree.words) if (known == words).all()), None)

    def walked(self, node: int) -> tuple[int, list[list[int]]]:
        """Return the visits of a node, and those and the sums of its edges."""
        first = 2 * node
        return int(self.tree.node[node, VISITS]), self.tree.edge[first : first + 2, [VISITS, TOTAL]].tolist()

    def walk(self, node: int, edge: int, goal: int) -> None:
        self.tree.node[node, VISITS] += 1
        self.tree.edge[2 * node + edge, [VISITS, TOTAL]] += (1, goal)


def hand_made(root: list[list[int]], below: list[list[int]], *, is_joint: bool = False) -> HandMade:
    """Return a tree by the visits and sums of the edges of both nodes."""
    node, edge = np.zeros((2, 8), np.int32), np.zeros((4, 4), np.int32)
    edge[:, [VISITS, TOTAL]] = [*root, *below]
    edge[:, CHILD] = (1, UNOPENED, UNOPENED, UNOPENED)
    for number, edges in enumerate((root, below)):
        node[number, [FIRST, VISITS, DECIDER, BOUNDS + N_ROLES]] = (2 * number, sum(n for n, _ in edges), 0, 2)
    if is_joint:
        node[0, [DECIDER, BOUNDS + N_ROLES, BOUNDS + N_ROLES + 1]] = (-1, 1, 1)
    none, keys, sums = np.zeros(0, np.int32), np.zeros(0, np.uint64), np.zeros((0, 3), np.float32)
    words = np.array([[7], [9]], np.uint64)
    flat = sums.ravel()
    size = np.array([2, 4, 0])
    return HandMade(Tree(size, 8, 1, 0, 0, 2, 4, 0, 0, 0, words, node, edge, none, none, keys, none, sums, flat, flat))


def test_each_tree_gets_what_the_others_have_walked() -> None:
    a, b = hand_made([[100, 5000], [10, 100]], [[60, 600], [40, 800]]), hand_made([[80, 80], [0, 0]], [[80, 8], [0, 0]])
    exchange = Exchange(N_ROLES, growth=1.0)
    exchange.meet(0, a, 0)
    assert (a.walked(0), a.walked(1)) == ((110, [[100, 5000], [10, 100]]), (100, [[60, 600], [40, 800]]))
    exchange.meet(1, b, 0)
    assert (b.walked(0), b.walked(1)) == ((190, [[180, 5080], [10, 100]]), (180, [[140, 608], [40, 800]]))
    exchange.meet(0, a, 0)
    assert (a.walked(0), a.walked(1)) == (b.walked(0), b.walked(1))


def test_walks_count_once_however_often_trees_meet() -> None:
    trees = [hand_made([[100, 100], [1, 1]], [[100, 0], [0, 0]]) for _ in range(3)]
    exchange = Exchange(N_ROLES, growth=1.0)
    for _ in range(4):
        for number, tree in enumerate(trees):
            exchange.meet(number, tree, 0)
    trees[0].walk(0, 1, 50)
    for _ in range(2):
        for number, tree in enumerate(trees):
            exchange.meet(number, tree, 0)
    assert [tree.walked(0) for tree in trees] == [(304, [[300, 300], [4, 53]])] * 3


def test_a_tree_that_parts_keeps_what_it_has_walked_itself() -> None:
    a, b = hand_made([[100, 5000], [10, 100]], [[60, 600], [40, 800]]), hand_made([[80, 80], [0, 0]], [[80, 8], [0, 0]])
    exchange = Exchange(N_ROLES, growth=1.0)
    for _ in range(2):
        exchange.meet(0, a, 0)
        exchange.meet(1, b, 0)
    a.walk(0, 1, 100)
    b.walk(1, 0, 50)
    exchange.part(0, a)
    exchange.part(1, b)
    assert (a.walked(0), a.walked(1)) == ((111, [[100, 5000], [11, 200]]), (100, [[60, 600], [40, 800]]))
    assert (b.walked(0), b.walked(1)) == ((80, [[80, 80], [0, 0]]), (81, [[81, 58], [0, 0]]))


def test_a_tree_tells_again_when_its_walks_have_grown() -> None:
    a, b = (hand_made([[100, 100], [0, 0]], [[0, 0], [0, 0]]) for _ in range(2))
    exchange = Exchange(N_ROLES, growth=1.05)
    found = []
    for _ in range(12):
        a.walk(0, 1, 50)
        exchange.meet(0, a, 0)
        b.walk(0, 0, 0)
        exchange.meet(1, b, 0)
        found.append(b.walked(0)[0])
    assert found == [*range(202, 213), 112 + 107]


@pytest.mark.parametrize("n_walks", [63, 64])
def test_nodes_that_few_walks_lead_to_are_left_alone(n_walks: int) -> None:
    a, b = (hand_made([[n_walks, 0], [0, 0]], [[n_walks, 0], [0, 0]]) for _ in range(2))
    exchange = Exchange(N_ROLES, growth=1.0)
    exchange.meet(0, a, 0)
    exchange.meet(1, b, 0)
    assert b.walked(0)[0] == 2 * n_walks
    assert b.walked(1)[0] == (n_walks if n_walks < 64 else 2 * n_walks)


def test_of_joint_moves_only_what_roles_chose_is_told() -> None:
    """The first edge leads to the list of joint moves there, not to a node."""
    a, b = (hand_made([[100, 100], [100, 0]], [[100, 0], [0, 0]], is_joint=True) for _ in range(2))
    exchange = Exchange(N_ROLES, growth=1.0)
    exchange.meet(0, a, 0)
    exchange.meet(1, b, 0)
    assert (b.walked(0), b.walked(1)) == ((400, [[200, 200], [200, 0]]), (100, [[100, 0], [0, 0]]))


def test_what_was_forgotten_since_is_not_taken_back() -> None:
    a, b = (hand_made([[100, 100], [0, 0]], [[100, 0], [0, 0]]) for _ in range(2))
    exchange = Exchange(N_ROLES, growth=1.0)
    exchange.meet(0, a, 0)
    exchange.meet(1, b, 0)
    b.tree.node[1, FIRST] = UNOPENED
    before = b.walked(1)
    exchange.part(1, b)
    assert (b.walked(0), b.walked(1)) == ((100, [[100, 100], [0, 0]]), before)
