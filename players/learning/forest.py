"""Searches in many trees at once: walks by a kernel, steps by the vector engine, a network asked for all leaves."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from players.environments.kernels.plans import Copies
from players.environments.vector import Snapshot, VectorGame
from players.learning.kernels import trees as kernels
from players.learning.kernels.trees import MAX_DEPTH, LaneWalks, Leaves, Trees

Evaluate: TypeAlias = Callable[[NDArray[np.bool_]], tuple[NDArray[np.float32], NDArray[np.float32]]]
"""Returns what players may expect (B, R), from -1 to 1, and logits of actions (B, A), by the bits of states (B, F)."""

_STEPS_AHEAD: Final = 2

BY_NETWORK: Final = -1
"""The target of a walk whose first move is chosen as all others are."""


class Forest:
    """Search trees of the states of *lanes*, each with its walk of a batch; *n_trees* is 1, or one for each lane.

    *lanes* must be an environment of turns that does not begin anew by itself.
    """

    def __init__(
        self, lanes: VectorGame, evaluate: Evaluate, n_trees: int, max_nodes: int, edges_a_node: int = 0
    ) -> None:
        self.lanes, self.evaluate, self.n_trees = lanes, evaluate, n_trees
        self._blank = lanes.save()
        copies, n_actions, n_players = self._blank.copies, len(lanes.actions[0]), len(lanes.players)
        n_edges = max_nodes * min(edges_a_node or n_actions, n_actions) + n_actions
        is_opposed = lanes.game.goal_sum is not None
        self.trees = _trees(copies, max_nodes, n_edges, n_players, is_opposed=is_opposed)
        self.walks = _walks(copies)
        self.roots: NDArray[np.int32] = np.zeros(n_trees, np.int32)
        self._targets = np.full(lanes.n, BY_NETWORK, np.int32)
        self._values = np.zeros((lanes.n, n_players), np.float32)

    @property
    def has_room(self) -> bool:
        """Whether every lane can make a node."""
        nodes, edges = self.trees.used.tolist()
        n_actions, n = len(self.lanes.actions[0]), self.lanes.n
        return bool(nodes + n <= len(self.trees.phase) and edges + (n + 1) * n_actions <= len(self.trees.action))

    def plant(self, snapshot: Snapshot) -> None:
        """Begin trees of the states of *snapshot*, those of its first copies."""
        self.lanes.restore(snapshot)
        kernels.plant(self.trees, self._leaves(), self.roots)
        self.walks.root[:] = self.roots if self.n_trees > 1 else self.roots[0]

    def follow(self, snapshot: Snapshot) -> bool:
        """Go on with what is below the state of *snapshot*'s first copy in the first tree; return whether it is there.

        It is looked for at most two moves below the root, and not where half of all room is used.
        """
        trees, below = self.trees, self.roots[:1]
        if int(trees.used[0]) > len(trees.phase) // 2 or int(trees.used[1]) > len(trees.action) // 2:
            return False
        for _ in range(_STEPS_AHEAD):
            edges = [np.arange(trees.first[node], trees.first[node] + trees.width[node]) for node in below]
            children = trees.child[np.concatenate(edges)] if edges else np.zeros(0, np.int32)
            below = children[children >= 0]
            found = below[(trees.states[below] == snapshot.copies.states[0]).all(axis=1)]
            if len(found):
                self.roots[0] = self.walks.root[:] = found[0]
                return True
        return False

    def perturb(self, noise: NDArray[np.float32]) -> None:
        """Have the edges of roots, one after the other, be as likely to be considered as *noise* says."""
        self.trees.noise[: len(noise)] = noise

    @property
    def n_root_edges(self) -> int:
        """How many edges the roots have, which are the first ones."""
        return int(self.trees.used[1])

    def walk(self, targets: NDArray[np.int32] | None = None) -> None:
        """Walk once in each lane, and take in what is found; *targets* as in `kernels.trees.walk`."""
        kernels.walk(self.trees, self.walks, self._targets if targets is None else targets)
        blank, walks = self._blank.copies, self.walks
        copies = blank._replace(
            states=walks.states, legal=walks.legal, phase=walks.phase, mover=walks.mover, is_over=walks.is_over
        )
        self.lanes.restore(replace(self._blank, copies=copies))
        self.lanes.step(walks.actions, checks=False)
        kernels.grow(self.trees, walks, self._leaves())

    def _leaves(self) -> Leaves:
        copies = self.lanes.save().copies
        values, logits = self.evaluate(self.lanes.bits())
        return Leaves(
            copies.states, copies.legal, copies.phase, copies.mover, copies.is_over, copies.goals, values, logits
        )

    def decide(self) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.float32]]:
        """Return for each tree its move, the target of the policy (T, A), and what players may expect (T, R)."""
        chosen = np.zeros(self.n_trees, np.int32)
        targets = np.zeros((self.n_trees, len(self.lanes.actions[0])), np.float32)
        values = np.zeros((self.n_trees, len(self.lanes.players)), np.float32)
        kernels.decide(self.trees, self.roots, chosen, targets, values)
        return chosen, targets, values

    @property
    def is_solved(self) -> bool:
        """Whether it is known for sure what the first root leads to."""
        return bool(self.trees.is_solved[self.roots[0]])

    @property
    def mean_depth(self) -> float:
        """The mean length of the walks of the last batch, in steps."""
        return float(self.walks.depth.mean())

    def value_of(self, player: int) -> float:
        """Return what a player may expect at the first root, from -1 to 1; of walks where it is to move."""
        trees, root = self.trees, int(self.roots[0])
        edges = slice(int(trees.first[root]), int(trees.first[root] + trees.width[root]))
        n = int(trees.n[edges].sum())
        if self.is_solved or n == 0 or trees.mover[root] != player:
            return float(trees.values[root, player])
        return float(np.clip(trees.total[edges].sum() / n, -1, 1))

    def best_action(self) -> int:
        """Return the action most walked from the first root, or one that is known to be best."""
        trees, root = self.trees, int(self.roots[0])
        first, mover = int(trees.first[root]), int(trees.mover[root])
        edges = slice(first, first + int(trees.width[root]))
        child = trees.child[edges]
        is_sure = (child >= 0) & trees.is_solved[child]
        worth = np.where(is_sure, trees.values[child, mover], 0.0)
        score = trees.n[edges].astype(np.float64)
        score[is_sure & (worth < -0.999)] -= 1e9
        if trees.is_solved[root]:
            score[is_sure & (worth >= trees.values[root, mover] - 1e-3)] += 2e9
        return int(trees.action[edges][int(score.argmax())])


def considered_visits(n_considered: int, n_walks: int) -> list[int]:
    """Return how often the first move of each of *n_walks* walks has been walked before, by sequential halving.

    *Source*: Danihelka et al., Policy improvement by planning with Gumbel (ICLR 2022); its implementation in mctx.
    """
    if n_considered <= 1:
        return list(range(n_walks))
    found: list[int] = []
    n_phases, visits = math.ceil(math.log2(n_considered)), [0] * n_considered
    while len(found) < n_walks:
        for _ in range(max(1, n_walks // (n_phases * n_considered))):
            found.extend(visits[:n_considered])
            visits[:n_considered] = [n + 1 for n in visits[:n_considered]]
        n_considered = max(2, n_considered // 2)
    return found[:n_walks]


def targets_of(widths: Sequence[int], n_considered: int, n_walks: int) -> NDArray[np.int32]:
    """Return the targets of each walk for roots of so many edges, (walks, roots)."""
    table = {width: considered_visits(min(width, n_considered), n_walks) for width in set(widths)}
    return np.array([table[width] for width in widths], np.int32).T.copy()


def _trees(copies: Copies, n_nodes: int, n_edges: int, n_players: int, *, is_opposed: bool) -> Trees:
    """Return room for trees of states as in *copies*; the system gives memory to what is used of it."""
    return Trees(
        states=np.zeros((n_nodes, copies.states.shape[1]), np.uint64),
        legal=np.zeros((n_nodes, copies.legal.shape[1]), np.uint64),
        phase=np.zeros(n_nodes, np.int32),
        mover=np.zeros(n_nodes, np.int32),
        is_solved=np.zeros(n_nodes, np.bool_),
        values=np.zeros((n_nodes, n_players), np.float32),
        sums=np.zeros((n_nodes, n_players), np.float32),
        first=np.zeros(n_nodes, np.int32),
        width=np.zeros(n_nodes, np.int32),
        visits=np.zeros(n_nodes, np.int32),
        action=np.zeros(n_edges, np.int32),
        prior=np.zeros(n_edges, np.float32),
        noise=np.zeros(n_edges, np.float32),
        n=np.zeros(n_edges, np.int32),
        total=np.zeros(n_edges, np.float32),
        child=np.full(n_edges, -1, np.int32),
        used=np.zeros(2, np.int64),
        is_opposed=int(is_opposed),
    )


def _walks(copies: Copies) -> LaneWalks:
    n = len(copies.phase)
    return LaneWalks(
        root=np.zeros(n, np.int32),
        node=np.zeros((n, MAX_DEPTH), np.int32),
        edge=np.zeros((n, MAX_DEPTH), np.int32),
        depth=np.zeros(n, np.int32),
        kind=np.zeros(n, np.int32),
        leaf=np.zeros(n, np.int32),
        states=copies.states.copy(),
        legal=copies.legal.copy(),
        phase=copies.phase.copy(),
        mover=copies.mover.copy(),
        is_over=np.zeros(n, np.bool_),
        actions=np.zeros(n, np.int32),
    )


def load_forest_kernels() -> None:
    """Have every kernel of trees loaded, or compiled where it is not on disk yet."""
    lanes = VectorGame("tictactoe", 1, is_flat=True, auto_reset=False)
    values, logits = np.zeros((1, len(lanes.players)), np.float32), np.zeros((1, len(lanes.actions[0])), np.float32)
    forest = Forest(lanes, lambda _: (values, logits), 1, 4)
    forest.plant(lanes.save())
    forest.walk(np.zeros(1, np.int32))
    forest.decide()
