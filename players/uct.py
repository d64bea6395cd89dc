"""Monte Carlo tree search (UCT) for any number of roles, simultaneous moves and chance.

Each role chooses by its own statistics, whatever the others do in the same step (decoupled UCT), and chance is
sampled. Leaves are gathered, as many as the engine plays out well at once; meanwhile the plays through them count as
lost (virtual loss), so that the next leaf is sought elsewhere.

Source: Kocsis & Szepesvari, "Bandit based Monte-Carlo Planning", 2006; Finnsson & Bjornsson, "Simulation-Based
Approach to General Game Playing", 2008; Chaslot, Winands & van den Herik, "Parallel Monte-Carlo Tree Search", 2008.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log, sqrt
from random import Random
from typing import Any, Final, TypeAlias

from gdl.game import Game, Role, State
from gdl.terms import Term
from players.deadline import Budget
from players.evaluator import Evaluator, Shares, evaluator_of
from players.pace import Pace
from players.positions import Choice
from players.tree import Node, Tree

Report: TypeAlias = Callable[[Term], None]
"""Takes the best move so far."""
Path: TypeAlias = list[tuple[Node, Choice]]

EXPLORATION: Final = 0.7
MIN_LEAVES: Final = 32
NODES_PER_LEAF: Final = 4
"""A batch is small while the tree is: leaves chosen together know nothing of each other."""
BUDGET_LEAVES: Final = 1024
"""A budget of more plays than this gives each leaf several."""


def ignore(_move: Term) -> None:
    """Report to nobody."""


class TreeSearch:
    """A search with a tree that lasts for a match. `n_rounds` counts the plays of the last move."""

    def __init__(self, game: Game, random: Random, evaluator: Evaluator[Any, Any] | None = None) -> None:
        self.game = game
        self.random = random
        self.n_rounds = 0
        self.evaluator = evaluator or evaluator_of(game)
        self._tree = Tree(self.evaluator)
        self._pace = Pace()

    def think(self, state: State, role: Role, budget: Budget, report: Report = ignore) -> Term:
        """Return the best move of *role* that *budget* finds, telling *report* of the best one so far.

        Raises:
            UnknownRoleError: the game has no such role.
        """
        moves = state.legal_moves(role)
        if len(moves) == 1:
            return moves[0]
        root, me = self._tree.keep(state), self.game.roles.index(role)
        self.n_rounds = 0
        self._pace.rest()
        best = root.best_move(me)
        report(self._term(root, me, best))
        while not self._is_decided(root, me, budget):
            with self._pace.round(budget):
                self._round(root, budget)
            found = root.best_move(me)
            if found != best:
                best = found
                report(self._term(root, me, best))
        return self._term(root, me, best)

    def visits(self, state: State) -> int:
        """Return how many plays that are still remembered went through *state*."""
        node = self._tree.find(state)
        return 0 if node is None else node.visits

    def _term(self, root: Node, me: int, move: int) -> Term:
        return self.evaluator.term(root.moves[me][move])

    def _is_decided(self, root: Node, me: int, budget: Budget) -> bool:
        if root.proven is not None or budget.is_spent(self.n_rounds) or not self._pace.allows(budget):
            return True
        if budget.max_rounds is None:
            return False
        first, second = sorted(root.counts[me])[:-3:-1]
        return first - second > budget.max_rounds - self.n_rounds

    def _round(self, root: Node, budget: Budget) -> None:
        """Walk down the tree to some leaves, play on from all of them at random and count the goals."""
        n_leaves, n_each = self._batch(budget)
        waiting: list[tuple[Path, Node]] = []
        for _ in range(n_leaves):
            path, leaf = self._descend(root, n_each)
            self.n_rounds += n_each
            if leaf.proven is None:
                waiting.append((path, leaf))
                continue
            self._back_up(path, leaf, leaf.proven, n_each)
            if root.proven is not None:
                break
        if waiting:
            self._play_out(waiting, n_each, budget)

    def _batch(self, budget: Budget) -> tuple[int, int]:
        """Return how many leaves to play out together, a power of two, and how often each."""
        evaluator, n_leaves = self.evaluator, len(self._tree) // NODES_PER_LEAF
        if budget.max_rounds is None:
            n_leaves = min(max(n_leaves, MIN_LEAVES), evaluator.max_leaves)
            n_plays = evaluator.max_plays * self._pace.n_loads
        else:
            left = budget.max_rounds - self.n_rounds
            n_each = min(max(1, budget.max_rounds // BUDGET_LEAVES), left)
            n_leaves = min(max(n_leaves, 1), left // n_each, evaluator.max_leaves)
            n_plays = min(n_each * n_leaves, evaluator.max_plays)
        n_leaves = 1 << (n_leaves.bit_length() - 1)
        return n_leaves, n_plays // n_leaves

    def _descend(self, root: Node, n_plays: int) -> tuple[Path, Node]:
        """Walk down to a node that is new, proven, or met before on the way; count plays that are to go there."""
        path: Path = []
        met: set[Node] = set()
        node = root
        while node.proven is None and node not in met and (node.visits or node is root):
            met.add(node)
            choice = self._select(node)
            path.append((node, choice))
            node.count(choice, n_plays)
            node = self._tree.after(node, choice)
        if node not in met:
            node.visits += n_plays
        return path, node

    def _play_out(self, waiting: list[tuple[Path, Node]], n_each: int, budget: Budget) -> None:
        goals: Sequence[Shares] | None = None
        try:
            with self._pace.plays(budget):
                goals = self.evaluator.play_out([leaf.spot for _, leaf in waiting], n_each, self.random, budget)
        finally:
            if goals is None:
                for path, leaf in waiting:
                    self._take_back(path, leaf, n_each)
        for (path, leaf), mean in zip(waiting, goals or (), strict=False):
            self._back_up(path, leaf, mean, n_each)

    def _take_back(self, path: Path, leaf: Node, n_plays: int) -> None:
        """Forget plays that were counted but not made."""
        for walked, choice in path:
            walked.count(choice, -n_plays)
        if all(leaf is not walked for walked, _ in path):
            leaf.visits -= n_plays

    def _back_up(self, path: Path, leaf: Node, goals: Shares, n_plays: int) -> None:
        """Add the mean *goals* of plays to the nodes that they went through, and prove what they prove."""
        below = leaf
        for walked, choice in reversed(path):
            walked.add(choice, goals, n_plays)
            if below.proven is not None and walked.proven is None:
                walked.settle(choice, below.proven, self.evaluator.chance)
            below = walked

    def _select(self, node: Node) -> Choice:
        choice = [0] * len(node.counts)
        for i in node.choosing:
            choice[i] = self._select_move(node, i)
        return tuple(choice)

    def _select_move(self, node: Node, i: int) -> int:
        counts, totals = node.counts[i], node.totals[i]
        if i == self.evaluator.chance:
            return self.random.randrange(len(counts))
        if 0 in counts:
            return self.random.choice([move for move, count in enumerate(counts) if not count])
        log_visits = EXPLORATION**2 * log(node.visits)
        bounds = [total / count + sqrt(log_visits / count) for total, count in zip(totals, counts, strict=True)]
        if i == node.decider:
            for move, goal in node.settled.items():
                bounds[move] = goal
        return bounds.index(max(bounds))
