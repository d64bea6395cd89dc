"""The tree of a search: what has been found out about each state, and what is certain about it.

Results that the rules leave no doubt about are proven (MCTS-Solver): ends, states with a move to a proven win, and
states of which all that can follow is proven.

Source: Winands, Bjornsson & Saito, "Monte-Carlo Tree Search Solver", 2008.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any, Final

from gdl.game import State
from players.evaluator import Evaluator, Shares
from players.positions import Choice

MAX_PROVABLE_CHOICES: Final = 500


class Node:
    """What the plays through a state have shown: for each role and move, how many there were, and their goals' sum.

    `choosing` are the roles with more than one move; `decider` is the only one of them, None where there is no such
    role or it is chance. `settled` has the proven goals of the decider after those of its moves known to have one.
    """

    __slots__ = (
        "choosing",
        "counts",
        "decider",
        "followers",
        "is_end",
        "moves",
        "proven",
        "settled",
        "spot",
        "totals",
        "visits",
    )

    def __init__(self, evaluator: Evaluator[Any, Any], spot: Any) -> None:
        self.spot = spot
        self.moves: tuple[Sequence[Any], ...] = evaluator.moves(spot)
        self.is_end = not self.moves or not all(self.moves)
        self.visits = 0
        self.counts = [[0] * len(moves) for moves in self.moves]
        self.totals = [[0.0] * len(moves) for moves in self.moves]
        self.followers: dict[Choice, Node] = {}
        self.proven: Shares | None = evaluator.goals(spot) if self.is_end else None
        self.choosing = tuple(i for i, moves in enumerate(self.moves) if len(moves) > 1)
        is_decision = len(self.choosing) == 1 and self.choosing[0] != evaluator.chance
        self.decider = self.choosing[0] if is_decision else None
        self.settled: dict[int, float] = {}

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

    def settle(self, choice: Choice, goals: Shares, chance: int | None) -> None:
        """Take note that *goals* are proven after *choice*, and find out whether this proves more."""
        if self.decider is not None:
            self.settled[choice[self.decider]] = goals[self.decider]
            self.proven = self._proven_decision(self.decider)
        elif all(i == chance for i in self.choosing):
            self.proven = self._proven_mean()

    def _proven_decision(self, decider: int) -> Shares | None:
        n_moves = len(self.counts[decider])
        best = max(self.settled, key=lambda move: self.settled[move])
        if self.settled[best] < 1.0 and len(self.settled) < n_moves:
            return None
        return self._proven_after(self.choice_of(best))

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
        proven = self.settled if i == self.decider else {}
        best_proven = max(proven, key=lambda move: (proven[move], counts[move], -move), default=None)
        open_moves = [move for move in range(len(counts)) if move not in proven]
        best_open = max(open_moves, key=lambda move: (counts[move], totals[move]), default=None)
        if best_proven is None or best_open is None:
            return best_open if best_open is not None else best_proven or 0
        looks = totals[best_open] / counts[best_open] if counts[best_open] else 0.0
        return best_proven if proven[best_proven] >= looks else best_open


class Tree:
    """The nodes that a search has met, one for equal states; what stays reachable is kept from move to move.

    Of more than its evaluator has room for it remembers none, until `keep` has made room.
    """

    def __init__(self, evaluator: Evaluator[Any, Any]) -> None:
        self.evaluator = evaluator
        self._nodes: dict[Any, Node] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def find(self, state: State) -> Node | None:
        """Return the node of *state*, if it is remembered."""
        return self._nodes.get(self.evaluator.spot(state))

    def after(self, node: Node, choice: Choice) -> Node:
        """Return the node that *choice* leads to from *node*."""
        found = node.followers.get(choice)
        if found is None:
            moves = [moves[i] for moves, i in zip(node.moves, choice, strict=True)]
            found = self._at(self.evaluator.after(node.spot, moves))
            if len(self._nodes) < self.evaluator.max_spots:
                node.followers[choice] = found
        return found

    def keep(self, state: State) -> Node:
        """Return the node of *state* and forget every node that cannot follow it."""
        root = self._at(self.evaluator.spot(state))
        kept = {node.spot: node for node in _reachable(root)}
        if len(kept) > self.evaluator.max_spots // 2:
            root = Node(self.evaluator, root.spot)
            kept = {root.spot: root}
        self._nodes = kept
        return root

    def _at(self, spot: Any) -> Node:
        found = self._nodes.get(spot)
        if found is None:
            found = Node(self.evaluator, spot)
            if len(self._nodes) < self.evaluator.max_spots:
                self._nodes[spot] = found
        return found


def _reachable(root: Node) -> Iterator[Node]:
    met, todo = {root}, [root]
    while todo:
        node = todo.pop()
        yield node
        fresh = [follower for follower in node.followers.values() if follower not in met]
        met.update(fresh)
        todo.extend(dict.fromkeys(fresh))
