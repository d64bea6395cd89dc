"""Monte Carlo tree search over information sets, for imperfect information and chance."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt
from random import Random
from typing import Any, Final, TypeAlias

from gdl.game import RANDOM, Game, State
from gdl.language.terms import Term
from players.belief import BeliefState, InformationSet, Percepts, World
from players.deadline import SearchBudget
from players.search.evaluator import MAX_STEPS, LaneEvaluator, Shares, StateEvaluator, compiled_game_of
from players.search.information.trees import MAX_INFOSETS, InfosetNode, InfosetTrees
from players.search.kernel_calls import BatchSizer
from players.search.positions import Choice, Report, ignore


class _StateSteps(StateEvaluator):
    """Worlds of any engine, one at a time."""

    def step(self, node_key: State, moves: Sequence[Term]) -> tuple[State, Sequence[Percepts]]:
        """Return the state after *moves*, and what every role perceives of them; nothing for chance."""
        told = [() if role is RANDOM else node_key.percepts(role, moves) for role in self.game.roles]
        return node_key.next_state(moves), told


class _LaneSteps(LaneEvaluator):
    """Worlds of the compiled engine, packed; hundreds are played out at once."""

    def step(self, node_key: bytes, moves: Sequence[int]) -> tuple[bytes, Sequence[Percepts]]:
        """Return the packed state after *moves*, and what every role perceives of them."""
        return self.game.next_and_sees(node_key, moves)


class InfosetPosition:
    """A world's state in the search: its moves, and the positions and percepts after each joint move."""

    __slots__ = ("choosing", "followers", "goals", "is_end", "moves", "node_key", "terms")

    def __init__(self, evaluator: Any, node_key: Any) -> None:
        self.node_key = node_key
        self.moves: tuple[Sequence[Any], ...] = evaluator.moves(node_key)
        self.terms = [[evaluator.term(move) for move in moves] for moves in self.moves]
        self.is_end = not self.moves or not all(self.moves)
        self.goals: Shares | None = evaluator.goals(node_key) if self.is_end else None
        self.choosing = tuple(i for i, moves in enumerate(self.moves) if len(moves) > 1)
        self.followers: dict[Choice, tuple[InfosetPosition, Sequence[Percepts]]] = {}


Walk: TypeAlias = list[tuple[int, InfosetNode, int, float]]
"""Which role took which move in which node, with which probability, on the way from a world to a leaf."""

EXPLORATION: Final = 0.7
MAX_POSITIONS: Final = 100_000
MIN_LEAVES: Final = 8
WALKS_PER_LEAF: Final = 8
"""A batch is small while the tree is small: the choice of a leaf ignores the results of its batch."""


class InformationSetSearch:
    """The trees of all roles, which last for a match. `n_iterations` counts the plays of the last move.

    The roles choose by upper confidence bounds, or *by_regret*: then the move that is played is drawn, too. Beyond
    *max_infosets* no information set is remembered before the next move, which makes room.
    """

    def __init__(
        self, game: Game, random: Random, *, by_regret: bool = False, max_infosets: int = MAX_INFOSETS
    ) -> None:
        self.game, self.random, self.by_regret, self.max_infosets = game, random, by_regret, max_infosets
        self.n_iterations = 0
        self._sizer = BatchSizer()
        self._begin()

    def renew(self) -> None:
        """Begin anew if the game has been compiled since."""
        if isinstance(self.evaluator, _StateSteps) and self.game.engine == "compiled":
            self._begin()

    def _begin(self) -> None:
        """Begin without any statistics, on the engine that runs the game now."""
        self.evaluator: Any = (
            _LaneSteps(compiled_game_of(self.game)) if self.game.engine == "compiled" else _StateSteps(self.game)
        )
        self._positions: dict[Any, InfosetPosition] = {}
        self._trees = InfosetTrees(self.game.roles, self.max_infosets)
        self._n_walks = 0

    def think(self, belief: BeliefState, budget: SearchBudget, report: Report = ignore) -> Term:
        """Return the best move of the role of *belief*, reporting the best one so far to *report*.

        With a number of iterations the engine is the one of the start, so that equal seeds have equal moves.
        """
        moves = belief.state.legal_moves(belief.role)
        if len(moves) == 1:
            return moves[0]
        if budget.max_iterations is None:
            self.renew()
        worlds, weights = tuple(belief.weights), tuple(belief.weights.values())
        self._prepare(worlds)
        node = self.node_of(belief.me, worlds[0].infosets[belief.me]).of_moves(list(moves))
        best = moves[node.most_visited()]
        report(best)
        while not budget.is_spent(self.n_iterations) and self._sizer.allows(budget):
            with self._sizer.batch(budget):
                self._round(worlds, weights, budget)
            found = moves[node.most_visited()]
            if found != best:
                best = found
                report(best)
        if self.by_regret and any(node.plan):
            best = moves[self.random.choices(range(len(moves)), node.plan)[0]]
            report(best)
        return best

    def _prepare(self, worlds: Sequence[World]) -> None:
        """Count iterations anew, and once there are many forget positions, and what roles cannot know in *worlds*."""
        self.n_iterations = self._n_walks = 0
        self._sizer.rest()
        if len(self._positions) > MAX_POSITIONS // 2:
            self._positions = {}
        if self._trees.are_half_full:
            self._trees.keep(worlds)

    def node_of(self, i: int, infoset: InformationSet | None) -> InfosetNode:
        """Return the node of an information set of role *i*."""
        return self._trees.node_of(i, infoset)

    def _round(self, worlds: Sequence[World], weights: Sequence[float], budget: SearchBudget) -> None:
        """Walk down from some worlds, drawn by their weights, play on from all leaves together, and count the goals."""
        n_leaves, n_each = self._batch(budget)
        waiting: list[tuple[Walk, Any]] = []
        for world in self.random.choices(worlds, weights, k=n_leaves):
            walk, leaf = self._descend(world)
            self.n_iterations += n_each
            self._n_walks += 1
            if leaf.goals is None:
                waiting.append((walk, leaf.node_key))
            else:
                _back_up(walk, leaf.goals, by_regret=self.by_regret)
        if waiting:
            with self._sizer.plays(budget):
                found = self.evaluator.play_out([key for _, key in waiting], n_each, self.random, budget)
            for n, (walk, _) in enumerate(waiting):
                if found is None:
                    _take_back(walk)
                else:
                    _back_up(walk, found[n], by_regret=self.by_regret)

    def _batch(self, budget: SearchBudget) -> tuple[int, int]:
        """Return how many worlds to walk down from, and how many plays to make from each leaf."""
        evaluator, n_leaves = self.evaluator, max(MIN_LEAVES, self._n_walks // WALKS_PER_LEAF)
        if budget.max_iterations is not None:
            return min(n_leaves, evaluator.max_leaves, budget.max_iterations - self.n_iterations), 1
        n_leaves = min(n_leaves, evaluator.max_leaves)
        return n_leaves, max(1, evaluator.max_plays // n_leaves)

    def _descend(self, world: World) -> tuple[Walk, InfosetPosition]:
        """Let all roles choose until one tries something new; count its way as lost until its goals are known."""
        position = self._position(self.evaluator.node_key(world.state))
        nodes = [self.node_of(i, infoset) for i, infoset in enumerate(world.infosets)]
        walk: Walk = []
        is_new = False
        for _ in range(MAX_STEPS):
            if position.is_end or is_new:
                break
            choice = [0] * len(nodes)
            for i in position.choosing:
                if i == self.evaluator.chance:
                    choice[i] = self.random.randrange(len(position.moves[i]))
                    continue
                node = nodes[i].of_moves(position.terms[i])
                choice[i], probability = self._pick(node)
                move = choice[i]
                is_new = is_new or not node.counts[move]
                node.counts[move] += 1
                node.visits += 1
                walk.append((i, node, move, probability))
            chosen = tuple(choice)
            after, percepts = self._after(position, chosen)
            told = zip(nodes, position.terms, chosen, percepts, strict=True)
            nodes = [node.following(terms[move], perceived) for node, terms, move, perceived in told]
            position = after
        return walk, position

    def _pick(self, node: InfosetNode) -> tuple[int, float]:
        """Return the move that a role chooses, and its probability: 1 where it is not drawn."""
        counts = node.counts
        if self.by_regret:
            strategy = node.matched()
            node.plan = [total + share for total, share in zip(node.plan, strategy, strict=True)]
            move = self.random.choices(range(len(counts)), strategy)[0]
            return move, strategy[move]
        if 0 in counts:
            return self.random.choice([move for move, count in enumerate(counts) if not count]), 1.0
        log_visits = EXPLORATION**2 * log(node.visits)
        bounds = [total / count + sqrt(log_visits / count) for total, count in zip(node.totals, counts, strict=True)]
        return bounds.index(max(bounds)), 1.0

    def _position(self, node_key: Any) -> InfosetPosition:
        found = self._positions.get(node_key)
        if found is None:
            found = InfosetPosition(self.evaluator, node_key)
            if len(self._positions) < MAX_POSITIONS:
                self._positions[node_key] = found
        return found

    def _after(self, position: InfosetPosition, choice: Choice) -> tuple[InfosetPosition, Sequence[Percepts]]:
        """Return the position after *choice*, and what every role perceives of it."""
        found = position.followers.get(choice)
        if found is None:
            moves = [moves[i] for moves, i in zip(position.moves, choice, strict=True)]
            node_key, percepts = self.evaluator.step(position.node_key, moves)
            found = self._position(node_key), percepts
            if len(self._positions) < MAX_POSITIONS:
                position.followers[choice] = found
        return found


def _back_up(walk: Walk, goals: Shares, *, by_regret: bool) -> None:
    """Add *goals* to what was counted already on the way, and let the roles learn from them *by_regret*."""
    for i, node, move, probability in walk:
        if by_regret:
            node.learn(move, goals[i], probability)
        node.totals[move] += goals[i]


def _take_back(walk: Walk) -> None:
    """Forget what was counted on a way whose goals did not get known."""
    for _, node, move, _ in walk:
        node.counts[move] -= 1
        node.visits -= 1
