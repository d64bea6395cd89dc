"""Monte Carlo tree search (UCT) for any number of roles, simultaneous moves and chance."""

from collections.abc import Iterator, Sequence
from itertools import product
from math import log, prod, sqrt
from random import Random
from typing import Any, Final, TypeAlias

from gdl.game import Game, Role, State
from gdl.language.terms import Term
from players.deadline import SearchBudget
from players.player import Insight
from players.search.evaluator import Evaluator, Shares, evaluator_of
from players.search.kernel_calls import BatchSizer
from players.search.positions import Choice, Report, ignore

MAX_PROVABLE_CHOICES: Final = 500


class UctNode:
    """The statistics of the plays through a state: for each role and move, their number and the sum of their goals.

    `choosing` are the roles with more than one move; `decider` is the only one of them, None where there is no such
    role or it is chance. `proven_moves` has the proven goals of the decider after those of its moves known to have one.
    """

    __slots__ = (
        "choosing",
        "counts",
        "decider",
        "followers",
        "is_end",
        "moves",
        "node_key",
        "proven",
        "proven_moves",
        "totals",
        "visits",
    )

    def __init__(self, evaluator: Evaluator[Any, Any], node_key: Any) -> None:
        self.node_key = node_key
        self.moves: tuple[Sequence[Any], ...] = evaluator.moves(node_key)
        self.is_end = not self.moves or not all(self.moves)
        self.visits = 0
        self.counts = [[0] * len(moves) for moves in self.moves]
        self.totals = [[0.0] * len(moves) for moves in self.moves]
        self.followers: dict[Choice, UctNode] = {}
        self.proven: Shares | None = evaluator.goals(node_key) if self.is_end else None
        self.choosing = tuple(i for i, moves in enumerate(self.moves) if len(moves) > 1)
        is_decision = len(self.choosing) == 1 and self.choosing[0] != evaluator.chance
        self.decider = self.choosing[0] if is_decision else None
        self.proven_moves: dict[int, float] = {}

    def choice_of(self, move: int) -> Choice:
        """Return the joint move in which the deciding role takes its move number *move*."""
        return tuple(move if i == self.decider else 0 for i in range(len(self.counts)))

    def count(self, choice: Choice, n_plays: int) -> None:
        """Count plays that go through here by *choice*: until their goals are added they are as good as lost."""
        self.visits += n_plays
        for i in self.choosing:
            self.counts[i][choice[i]] += n_plays

    def add(self, choice: Choice, goals: Shares, n_plays: int) -> None:
        """Add the mean *goals* of plays that went through here by *choice* and are counted already."""
        for i in self.choosing:
            self.totals[i][choice[i]] += goals[i] * n_plays

    def note_proven(self, choice: Choice, goals: Shares, chance: int | None, *, is_opposed: bool) -> None:
        """Note that *goals* are proven after *choice*, and prove this node by it where possible.

        That takes less where the goals of one role fix those of the other, since the game *is_opposed*.
        """
        if self.decider is not None:
            self.proven_moves[choice[self.decider]] = goals[self.decider]
            self.proven = self._proven_decision(self.decider, is_opposed=is_opposed)
        elif all(i == chance for i in self.choosing):
            self.proven = self._proven_mean()

    def _proven_decision(self, decider: int, *, is_opposed: bool) -> Shares | None:
        n_moves = len(self.counts[decider])
        best = max(self.proven_moves.values())
        if not (is_opposed and best == 1.0) and len(self.proven_moves) < n_moves:
            return None
        moves = [move for move, goal in self.proven_moves.items() if goal == best]
        outcomes = {self._proven_after(self.choice_of(move)) for move in (moves[:1] if is_opposed else moves)}
        return outcomes.pop() if len(outcomes) == 1 else None

    def _proven_mean(self) -> Shares | None:
        if prod(map(len, self.moves)) > MAX_PROVABLE_CHOICES:
            return None
        outcomes = [self._proven_after(choice) for choice in product(*(range(len(moves)) for moves in self.moves))]
        known = [goals for goals in outcomes if goals is not None]
        if len(known) < len(outcomes):
            return None
        return tuple(sum(goals) / len(known) for goals in zip(*known, strict=True))

    def _proven_after(self, choice: Choice) -> Shares | None:
        follower = self.followers.get(choice)
        return None if follower is None else follower.proven

    def best_move(self, i: int) -> int:
        """Return the most visited open move of role *i*, or a proven one that is at least as good as it looks."""
        counts, totals = self.counts[i], self.totals[i]
        proven = self.proven_moves if i == self.decider else {}
        best_proven = max(proven, key=lambda move: (proven[move], counts[move], -move), default=None)
        open_moves = [move for move in range(len(counts)) if move not in proven]
        best_open = max(open_moves, key=lambda move: (counts[move], totals[move]), default=None)
        if best_proven is None or best_open is None:
            return best_open if best_open is not None else best_proven or 0
        looks = totals[best_open] / counts[best_open] if counts[best_open] else 0.0
        return best_proven if proven[best_proven] >= looks else best_open


class UctTree:
    """The nodes that a search has met, one for equal states; what stays reachable is kept from move to move.

    Beyond `max_nodes` of the evaluator no node is remembered, until `keep` has made room.
    """

    def __init__(self, evaluator: Evaluator[Any, Any]) -> None:
        self.evaluator = evaluator
        self._nodes: dict[Any, UctNode] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def find(self, state: State) -> UctNode | None:
        """Return the node of *state*, if it is remembered."""
        return self._nodes.get(self.evaluator.node_key(state))

    def after(self, node: UctNode, choice: Choice) -> UctNode:
        """Return the node that *choice* leads to from *node*."""
        found = node.followers.get(choice)
        if found is None:
            moves = [moves[i] for moves, i in zip(node.moves, choice, strict=True)]
            found = self._at(self.evaluator.after(node.node_key, moves))
            if len(self._nodes) < self.evaluator.max_nodes:
                node.followers[choice] = found
        return found

    def keep(self, state: State) -> UctNode:
        """Return the node of *state* and forget every node that cannot follow it."""
        root = self._at(self.evaluator.node_key(state))
        kept = {node.node_key: node for node in _reachable(root)}
        if len(kept) > self.evaluator.max_nodes // 2:
            root = UctNode(self.evaluator, root.node_key)
            kept = {root.node_key: root}
        self._nodes = kept
        return root

    def _at(self, node_key: Any) -> UctNode:
        found = self._nodes.get(node_key)
        if found is None:
            found = UctNode(self.evaluator, node_key)
            if len(self._nodes) < self.evaluator.max_nodes:
                self._nodes[node_key] = found
        return found


def _reachable(root: UctNode) -> Iterator[UctNode]:
    met, todo = {root}, [root]
    while todo:
        node = todo.pop()
        yield node
        fresh = [follower for follower in node.followers.values() if follower not in met]
        met.update(fresh)
        todo.extend(dict.fromkeys(fresh))


Path: TypeAlias = list[tuple[UctNode, Choice]]

EXPLORATION: Final = 0.7
MIN_LEAVES: Final = 32
NODES_PER_LEAF: Final = 4
"""A batch is small while the tree is small: the choice of a leaf ignores the results of its batch."""
BUDGET_LEAVES: Final = 1024
"""A budget of more plays than this gives each leaf several."""


class TreeSearch:
    """A search with a tree that lasts for a match.

    `n_iterations` counts the plays of the last move, `n_leaves` the leaves, `n_steps` the steps to them.
    """

    def __init__(self, game: Game, random: Random, evaluator: Evaluator[Any, Any] | None = None) -> None:
        self.game = game
        self.random = random
        self.n_iterations = self.n_leaves = self.n_steps = 0
        self.evaluator = evaluator or evaluator_of(game)
        self._tree = UctTree(self.evaluator)
        self._sizer = BatchSizer()

    def think(self, state: State, role: Role, budget: SearchBudget, report: Report = ignore) -> Term:
        """Return the best move of *role* that *budget* finds, reporting the best one so far to *report*.

        Raises:
            UnknownRoleError: the game has no such role.
        """
        moves = state.legal_moves(role)
        if len(moves) == 1:
            return moves[0]
        root, me = self._tree.keep(state), self.game.roles.index(role)
        self.n_iterations = self.n_leaves = self.n_steps = 0
        self._sizer.rest()
        best = root.best_move(me)
        report(self._term(root, me, best))
        while not self._is_decided(root, me, budget):
            with self._sizer.batch(budget):
                self._round(root, budget)
            found = root.best_move(me)
            if found != best:
                best = found
                report(self._term(root, me, best))
        return self._term(root, me, best)

    def insight(self, state: State, role: Role) -> Insight | None:
        """Return what the search found for *role* at *state* in its last move; None where it forgot."""
        node = self._tree.find(state)
        if node is None or node.is_end:
            return None
        me = self.game.roles.index(role)
        best = node.best_move(me)
        proven = node.proven_moves.get(best) if me == node.decider else None
        n_plays = node.counts[me][best]
        mean = proven if proven is not None else node.totals[me][best] / n_plays if n_plays else None
        return Insight(
            n_leaves=self.n_leaves,
            n_playouts=self.n_iterations,
            depth=round(self.n_steps / max(1, self.n_leaves), 2),
            value=None if mean is None else round(100 * mean, 2),
            line=(str(self._term(node, me, best)),),
            is_proven=proven is not None,
        )

    def visits(self, state: State) -> int:
        """Return how many plays that are still remembered went through *state*."""
        node = self._tree.find(state)
        return 0 if node is None else node.visits

    def _term(self, root: UctNode, me: int, move: int) -> Term:
        return self.evaluator.term(root.moves[me][move])

    def _is_decided(self, root: UctNode, me: int, budget: SearchBudget) -> bool:
        is_known = me == root.decider and len(root.proven_moves) == len(root.counts[me])
        if root.proven is not None or is_known or budget.is_spent(self.n_iterations) or not self._sizer.allows(budget):
            return True
        if budget.max_iterations is None:
            return False
        first, second = sorted(root.counts[me])[:-3:-1]
        return first - second > budget.max_iterations - self.n_iterations

    def _round(self, root: UctNode, budget: SearchBudget) -> None:
        """Walk down the tree to some leaves, play on from all of them at random and count the goals."""
        n_leaves, n_each = self._batch(budget)
        waiting: list[tuple[Path, UctNode]] = []
        for _ in range(n_leaves):
            path, leaf = self._descend(root, n_each)
            self.n_leaves, self.n_steps = self.n_leaves + 1, self.n_steps + len(path)
            self.n_iterations += n_each
            if leaf.proven is None:
                waiting.append((path, leaf))
                continue
            self._back_up(path, leaf, leaf.proven, n_each)
            if root.proven is not None:
                break
        if waiting:
            self._play_out(waiting, n_each, budget)

    def _batch(self, budget: SearchBudget) -> tuple[int, int]:
        """Return how many leaves to play out together, a power of two, and how often each."""
        evaluator, n_leaves = self.evaluator, len(self._tree) // NODES_PER_LEAF
        if budget.max_iterations is None:
            n_leaves = min(max(n_leaves, MIN_LEAVES), evaluator.max_leaves)
            n_plays = evaluator.max_plays * self._sizer.n_loads
        else:
            left = budget.max_iterations - self.n_iterations
            n_each = min(max(1, budget.max_iterations // BUDGET_LEAVES), left)
            n_leaves = min(max(n_leaves, 1), left // n_each, evaluator.max_leaves)
            n_plays = min(n_each * n_leaves, evaluator.max_plays)
        n_leaves = 1 << (n_leaves.bit_length() - 1)
        return n_leaves, n_plays // n_leaves

    def _descend(self, root: UctNode, n_plays: int) -> tuple[Path, UctNode]:
        """Walk down to a node that is new, proven, or met before on the way; count plays that are to go there."""
        path: Path = []
        met: set[UctNode] = set()
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

    def _play_out(self, waiting: list[tuple[Path, UctNode]], n_each: int, budget: SearchBudget) -> None:
        """Play out from the leaves in *waiting* together, and add the goals to their paths."""
        goals: Sequence[Shares] | None = None
        try:
            with self._sizer.plays(budget):
                goals = self.evaluator.play_out([leaf.node_key for _, leaf in waiting], n_each, self.random, budget)
        finally:
            if goals is None:
                for path, leaf in waiting:
                    self._take_back(path, leaf, n_each)
        for (path, leaf), mean in zip(waiting, goals or (), strict=False):
            self._back_up(path, leaf, mean, n_each)

    def _take_back(self, path: Path, leaf: UctNode, n_plays: int) -> None:
        """Forget plays that were counted but not made."""
        for walked, choice in path:
            walked.count(choice, -n_plays)
        if all(leaf is not walked for walked, _ in path):
            leaf.visits -= n_plays

    def _back_up(self, path: Path, leaf: UctNode, goals: Shares, n_plays: int) -> None:
        """Add the mean *goals* of plays to the nodes that they went through, and prove what they prove."""
        below = leaf
        for walked, choice in reversed(path):
            walked.add(choice, goals, n_plays)
            if below.proven is not None and walked.proven is None:
                walked.note_proven(choice, below.proven, self.evaluator.chance, is_opposed=self.evaluator.is_opposed)
            below = walked

    def _select(self, node: UctNode) -> Choice:
        choice = [0] * len(node.counts)
        for i in node.choosing:
            choice[i] = self._select_move(node, i)
        return tuple(choice)

    def _select_move(self, node: UctNode, i: int) -> int:
        """Return the move of role *i* with the greatest upper confidence bound; untried moves come first."""
        counts, totals = node.counts[i], node.totals[i]
        if i == self.evaluator.chance:
            return self.random.randrange(len(counts))
        if 0 in counts:
            return self.random.choice([move for move, count in enumerate(counts) if not count])
        log_visits = EXPLORATION**2 * log(node.visits)
        bounds = [total / count + sqrt(log_visits / count) for total, count in zip(totals, counts, strict=True)]
        if i == node.decider:
            for move, goal in node.proven_moves.items():
                bounds[move] = goal
        return bounds.index(max(bounds))
