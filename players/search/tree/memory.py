"""The tree of a search in its memory: nodes by their states, what is known of them, and how the tree is recycled."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.compiled import CompiledGame
from gdl.compiler.kernels.packing import words_of
from gdl.game import Role, State
from gdl.language.terms import Term
from players.search.tree import nodes
from players.search.tree.collection import collect
from players.search.tree.figures import MoveFigures, chosen_among
from players.search.tree.leaves import insert
from players.search.tree.nodes import TreeSize, empty_tree, rule_facts

_S_A_PLACE: Final = 2e-8
_S_A_NODE: Final = 3e-7
"""How long recycling takes, for each node that there is room for, and for each that is kept."""


@dataclass(frozen=True, slots=True)
class ProvenState:
    """A state, as words, and the goals of all roles that it is proven to lead to."""

    words: NDArray[np.uint64]
    goals: tuple[int, ...]


class TreeMemory:
    """The tree of a search of a *game*, of some *size*, where roles choose at once by a *rule*.

    *has_joint_moves* says that they do so from the first states on, so that the tables of joint moves are needed soon.
    `arrays` are nodes and edges, which have other numbers after recycling, for which no thread may be at work. That
    `is_due` where there is no room any more.
    """

    def __init__(self, game: CompiledGame, size: TreeSize, rule: int, *, has_joint_moves: bool) -> None:
        self.game, self.rule, self.size = game, rule, size
        self.facts = rule_facts(game.rules, game.roles, is_opposed=game.goal_sum is not None)
        self._has_joint_moves = has_joint_moves
        self.arrays = empty_tree(game.rules, size, rule)
        self.is_due = False
        self._prefault_tables()

    def forget(self, size: TreeSize) -> None:
        """Begin anew with a tree of some *size*."""
        # Without the memory for it all stays as it was.
        self.arrays = empty_tree(self.game.rules, size, self.rule)
        self.size, self.is_due = size, False
        self._prefault_tables()

    def _prefault_tables(self) -> None:
        """Have the system give the tables their memory, all of which a search needs as soon as it begins.

        Where it does so at the first walks, the first moves of a match have hardly any: a page of two megabytes takes
        up to two milliseconds.
        """
        self.arrays.table.fill(0)
        if self._has_joint_moves:
            self.arrays.joint_key.fill(0)
            self.arrays.joint_edge.fill(0)

    def find(self, state: State) -> int | None:
        """Return the node of *state*, a new one where there is none; None where there is no room.

        Raises:
            ValueError: the state cannot be reached from the first one.
        """
        return self._node_of(words_of(self.game.pack(state), len(self.game.fluents)))

    def _node_of(self, words: NDArray[np.uint64]) -> int | None:
        node = int(insert(self.arrays, self.facts, words[None]))
        return None if node < 0 else node

    def keep(self, state: State, *, has_time: bool = False) -> int:
        """Return the node of *state*; where there is time, and the tree is half full, forget what cannot follow it.

        Raises: as `find`.
        """
        root = self.find(state)
        if root is None:
            self.clear()
            root = self.find(state)
        assert root is not None, "an empty tree has room for a node"
        n_nodes, n_edges, _ = self.arrays.size.tolist()
        is_half_full = 2 * n_nodes > self.size.n_nodes or 2 * n_edges > self.size.n_edges
        return self.recycle(root) if has_time and is_half_full else root

    def take_proof(self, proven: ProvenState) -> None:
        """Take over what a state is worth, which was proven elsewhere."""
        node = self._node_of(proven.words)
        if node is not None:
            bounds = [goal | goal << 8 for goal in map(nodes.bounded, proven.goals)]
            self.arrays.node[node, nodes.BOUNDS : nodes.BOUNDS + len(bounds)] = bounds
            self.arrays.node[node, nodes.SOLVED] = 1

    def reopen(self, node: int, role: Role) -> bool:
        """Forget what a node is worth where no move of *role* is known that keeps it; return whether that was so."""
        row = self.arrays.node[node]
        if not self.is_solved(node) or (row[nodes.FIRST] >= 0 and not self.is_decision(node, role)):
            return False
        best = self.best_move(node, role)
        if any(each.move == best and each.is_proven for each in self.figures(node, role)):
            return False
        row[nodes.SOLVED] = 0
        row[nodes.BOUNDS : nodes.BOUNDS + len(self.game.roles)] = self.facts.low | self.facts.high << 8
        return True

    @property
    def recycling_s(self) -> float:
        """The least time that recycling takes, on a core without other work."""
        return _S_A_PLACE * self.size.n_nodes

    def recycle(self, root: int, seconds: float = inf) -> int:
        """Keep what of the tree is below *root*, as much as was visited most; return the root's new number.

        Less is kept where there are but few *seconds* for it.
        """
        self.is_due = False
        try:
            return collect(self.arrays, self.facts, root, max(1.0, (seconds - self.recycling_s) / _S_A_NODE))
        except MemoryError:
            words = self.arrays.words[root : root + 1].copy()
            self.clear()
            return int(insert(self.arrays, self.facts, words))

    def clear(self) -> None:
        """Forget all, in the room that there is."""
        self.is_due = False
        self.arrays.size[:] = (0, 1, 0)
        self.arrays.table.fill(0)
        self.arrays.joint_edge.fill(0)

    def is_solved(self, node: int) -> bool:
        """Return whether what a node is worth is proven."""
        return bool(self.arrays.node[node, nodes.SOLVED])

    def is_known(self, node: int, role: Role) -> bool:
        """Return whether what a node is worth to *role* is proven; what it is worth to others may be open."""
        bounds = int(self.arrays.node[node, nodes.BOUNDS + self.game.roles.index(role)])
        return bounds & nodes.LOW == bounds >> 8 & nodes.LOW

    def is_decision(self, node: int, role: Role) -> bool:
        """Return whether *role* alone chooses at a node."""
        return bool(self.arrays.node[node, nodes.DECIDER] == self.game.roles.index(role))

    def edges(self, node: int, role: Role) -> range:
        """Return the edges of *role* at a node; none where it has not been opened, or the role's move is forced."""
        row, n_roles, number = self.arrays.node[node], len(self.game.roles), self.game.roles.index(role)
        if row[nodes.FIRST] < 0:
            return range(0)
        counts = row[nodes.BOUNDS + n_roles : nodes.BOUNDS + 2 * n_roles]
        first = int(row[nodes.FIRST] + counts[:number].sum())
        return range(first, first + int(counts[number]))

    def after(self, node: int, role: Role, move: Term) -> int:
        """Return the node after *move* where *role* alone chooses and the move was searched; else *node* itself."""
        if self.is_decision(node, role):
            for edge in self.edges(node, role):
                child = int(self.arrays.edge[edge, nodes.CHILD])
                if self.game.moves[self.arrays.move[edge]] == move and child >= 0:
                    return child
        return node

    def figures(self, node: int, role: Role) -> list[MoveFigures]:
        """Return what is known of the moves of *role* at a node; nothing where it has no edges, or one is forced."""
        number, facts = self.game.roles.index(role), self.facts
        limits = None if self.is_decision(node, role) else int(facts.low[number] | facts.high[number] << 8)
        edges = self.edges(node, role)
        rows, moves = (array[edges.start : edges.stop].tolist() for array in (self.arrays.edge, self.arrays.move))
        return [self._figures_of(row, move, limits) for row, move in zip(rows, moves, strict=True)]

    def _figures_of(self, row: Sequence[int], move: int, limits: int | None) -> MoveFigures:
        """Return what is known of an edge, which has its own bounds unless there are *limits* for it."""
        n_walks, bounds = row[nodes.VISITS], row[nodes.LIMITS] if limits is None else limits
        mean = row[nodes.TOTAL] / n_walks if n_walks else 0.0
        return MoveFigures(self.game.moves[move], n_walks, mean, bounds & nodes.LOW, bounds >> 8 & nodes.LOW)

    def best_move(self, node: int, role: Role) -> Term | None:
        """Return the most promising move, as `chosen_among` has it; None where nothing is known."""
        return chosen_among(self.figures(node, role), is_decision=self.is_decision(node, role))

    def line(self, node: int, n_steps: int) -> Iterator[tuple[Term, bool]]:
        """Yield the moves of the best line from a node on, each with whether its role had a choice."""
        for _ in range(n_steps):
            decider = int(self.arrays.node[node, nodes.DECIDER])
            if decider < 0:
                return
            role = self.game.roles[decider]
            move = self.best_move(node, role)
            if move is None:
                return
            yield move, len(self.edges(node, role)) > 1
            following = self.after(node, role, move)
            if following == node:
                return
            node = following
