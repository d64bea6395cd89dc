"""Monte Carlo tree search (UCT) for any number of roles, simultaneous moves and chance.

Each role chooses by its own statistics, whatever the others do in the same step (decoupled UCT), and chance is
sampled. What is certain by the rules is kept as proven (MCTS-Solver) and not played again.

Source: Kocsis & Szepesvari, "Bandit based Monte-Carlo Planning", 2006; Finnsson & Bjornsson, "Simulation-Based
Approach to General Game Playing", 2008; Winands, Bjornsson & Saito, "Monte-Carlo Tree Search Solver", 2008.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt
from random import Random
from typing import Final, TypeAlias

from gdl.game import Game, Role, State
from gdl.terms import Term
from players.deadline import Budget
from players.playouts import play_out
from players.positions import Choice, Position, Positions

Report: TypeAlias = Callable[[Term], None]
"""Takes the best move so far."""

EXPLORATION: Final = 0.7
MAX_PROVABLE_CHOICES: Final = 500


def ignore(_move: Term) -> None:
    """Report to nobody."""


class Node:
    """What the playouts through a position have shown: for each role and move, how often and with what goals.

    `decider` is the only role with more than one move, None where there is no such role or it is chance.
    """

    __slots__ = ("counts", "decider", "position", "proven", "totals", "visits")

    def __init__(self, position: Position, chance: int | None) -> None:
        self.position = position
        self.visits = 0
        self.counts = [[0] * len(moves) for moves in position.moves]
        self.totals = [[0.0] * len(moves) for moves in position.moves]
        self.proven: tuple[float, ...] | None = position.goals if position.is_end else None
        choosing = [i for i, moves in enumerate(position.moves) if len(moves) > 1]
        self.decider = choosing[0] if len(choosing) == 1 and choosing[0] != chance else None

    def choice_of(self, move: int) -> Choice:
        """Return the joint move in which the deciding role takes its move number *move*."""
        return tuple(move if i == self.decider else 0 for i in range(len(self.counts)))

    def add(self, choice: Choice, goals: tuple[float, ...]) -> None:
        """Count a playout that went through here by *choice* and ended with *goals*."""
        self.visits += 1
        for i, move in enumerate(choice):
            self.counts[i][move] += 1
            self.totals[i][move] += goals[i]


class TreeSearch:
    """A search tree that lasts for a match: what stays reachable is kept from move to move."""

    def __init__(self, game: Game, random: Random, positions: Positions | None = None) -> None:
        self.game = game
        self.random = random
        self.positions = Positions(game) if positions is None else positions
        self.n_rounds = 0
        self._nodes: dict[Position, Node] = {}

    def think(self, state: State, role: Role, budget: Budget, report: Report = ignore) -> Term:
        """Return the best move of *role* that *budget* finds, telling *report* of the best one so far.

        Raises:
            UnknownRoleError: the game has no such role.
        """
        moves = state.legal_moves(role)
        if len(moves) == 1:
            return moves[0]
        root, me = self._root(state), self.game.roles.index(role)
        self.n_rounds = 0
        best = moves[self._best(root, me)]
        report(best)
        while not self._is_decided(root, me, budget):
            self._playout(root, budget)
            self.n_rounds += 1
            found = moves[self._best(root, me)]
            if found != best:
                best = found
                report(best)
        return best

    def visits(self, state: State) -> int:
        """Return how many playouts that are still remembered went through *state*."""
        position = self.positions.by_state.get(state)
        return 0 if position is None or position not in self._nodes else self._nodes[position].visits

    def _root(self, state: State) -> Node:
        position = self.positions.keep(state)
        kept = self.positions.by_state.values()
        self._nodes = {position: self._nodes[position] for position in kept if position in self._nodes}
        return self._node(position)

    def _node(self, position: Position) -> Node:
        found = self._nodes.get(position)
        if found is None:
            found = self._nodes[position] = Node(position, self.positions.chance)
        return found

    def _is_decided(self, root: Node, me: int, budget: Budget) -> bool:
        if root.proven is not None or self.positions.is_full or budget.is_spent(self.n_rounds):
            return True
        if budget.max_rounds is None:
            return False
        first, second = sorted(root.counts[me])[:-3:-1]
        return first - second > budget.max_rounds - self.n_rounds

    def _playout(self, root: Node, budget: Budget) -> None:
        """Walk down the tree, add one position to it, play on at random and count the goals on the way back."""
        path: list[tuple[Node, Choice]] = []
        met: set[Node] = set()
        node = root
        while node.proven is None and node not in met and (node.visits or node is root):
            met.add(node)
            choice = self._select(node)
            path.append((node, choice))
            node = self._node(node.position.after(choice))
        goals = node.proven or play_out(self.game, node.position.state, self.random, budget)
        if goals is None:
            return
        if node not in met:
            node.visits += 1
        for walked, choice in reversed(path):
            walked.add(choice, goals)
            if node.proven is not None and walked.proven is None:
                walked.proven = self._prove(walked)
            node = walked

    def _select(self, node: Node) -> Choice:
        return tuple(self._select_move(node, i) for i in range(len(node.counts)))

    def _select_move(self, node: Node, i: int) -> int:
        counts = node.counts[i]
        if len(counts) == 1:
            return 0
        if i == self.positions.chance:
            return self.random.randrange(len(counts))
        untried = [move for move, count in enumerate(counts) if not count]
        if untried:
            return self.random.choice(untried)
        log_visits = log(node.visits)

        def bound(move: int) -> float:
            proven = self._proven_after(node, i, move)
            if proven is not None:
                return proven
            return node.totals[i][move] / counts[move] + EXPLORATION * sqrt(log_visits / counts[move])

        return max(range(len(counts)), key=bound)

    def _proven_after(self, node: Node, i: int, move: int) -> float | None:
        """Return the proven goal of role *i* after its *move*, None where it is open or up to others."""
        goals = self._proven(node, node.choice_of(move)) if node.decider == i else None
        return None if goals is None else goals[i]

    def _proven(self, node: Node, choice: Choice) -> tuple[float, ...] | None:
        position = node.position.successors.get(choice)
        follower = None if position is None else self._nodes.get(position)
        return None if follower is None else follower.proven

    def _prove(self, node: Node) -> tuple[float, ...] | None:
        if node.decider is not None:
            return self._prove_decision(node, node.decider)
        if node.position.n_choices > MAX_PROVABLE_CHOICES or self._is_contested(node):
            return None
        outcomes = [self._proven(node, choice) for choice in node.position.choices()]
        known = [goals for goals in outcomes if goals is not None]
        if len(known) < len(outcomes):
            return None
        return tuple(sum(goals) / len(known) for goals in zip(*known, strict=True))

    def _prove_decision(self, node: Node, decider: int) -> tuple[float, ...] | None:
        outcomes = [self._proven(node, node.choice_of(move)) for move in range(len(node.counts[decider]))]
        known = [goals for goals in outcomes if goals is not None]
        best = max(known, key=lambda goals: goals[decider], default=None)
        return best if best is not None and (best[decider] == 1.0 or len(known) == len(outcomes)) else None

    def _is_contested(self, node: Node) -> bool:
        """Whether a role that is not chance has a choice here."""
        return any(len(moves) > 1 and i != self.positions.chance for i, moves in enumerate(node.position.moves))

    def _best(self, root: Node, me: int) -> int:
        """Return the most visited open move, or a proven one that is at least as good as it looks."""
        counts, totals = root.counts[me], root.totals[me]
        proven = {i: goal for i in range(len(counts)) if (goal := self._proven_after(root, me, i)) is not None}
        open_moves = [i for i in range(len(counts)) if i not in proven]
        best_proven = max(proven, key=lambda i: (proven[i], counts[i]), default=None)
        best_open = max(open_moves, key=lambda i: (counts[i], totals[i]), default=None)
        if best_proven is None or best_open is None:
            return best_open if best_open is not None else best_proven or 0
        looks = totals[best_open] / counts[best_open] if counts[best_open] else 0.0
        return best_proven if proven[best_proven] >= looks else best_open
