"""The stock players: legal, random, greedy, minimax, mcts and nested."""

from __future__ import annotations

from typing import Final

from gdl.engines import DEFAULT_ENGINE, make_game
from gdl.game import Game, Role, State
from gdl.language.terms import Term
from players.deadline import Deadline, SearchBudget
from players.player import Player
from players.search.alphabeta import AlphaBeta, estimate
from players.search.evaluator import evaluator_of, wait_for_compilation
from players.search.infosets import InformationSetSearch, sees_everything
from players.search.nested import LEVEL, NestedSearch
from players.search.positions import Choice, Positions, SearchPosition
from players.search.regret import MixedStrategy, mixed_strategy
from players.search.uct import TreeSearch


class LegalPlayer(Player):
    """Takes the first of its legal moves in the order of their texts."""

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:  # noqa: ARG002 -- the signature is the kit's
        """Return the first legal move."""
        return state.legal_moves(role)[0]


class RandomPlayer(Player):
    """Takes each of its legal moves with equal probability."""

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:  # noqa: ARG002 -- the signature is the kit's
        """Return a legal move drawn by the player's own generator."""
        return self.random.choice(state.legal_moves(role))


MAX_REPLIES: Final = 16
"""Joint moves of the others that are tried against a move; of more, as many are drawn at random."""


class GreedyPlayer(Player):
    """Takes the move after which the position is worth most, on average over the simultaneous moves of the others."""

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        """Return the best move of those that there was time to try."""
        positions = Positions(self.game)
        position = positions.at(state)
        me = self.game.roles.index(role)
        moves = position.moves[me]
        best, best_worth = moves[0], -2.0
        for i in self.random.sample(range(len(moves)), len(moves)):
            worth = self._worth(positions, position, me, i)
            if worth > best_worth:
                best, best_worth = moves[i], worth
                self.suggest(best)
            if deadline.has_passed:
                break
        return best

    def _worth(self, positions: Positions, position: SearchPosition, me: int, move: int) -> float:
        others = tuple(i for i in range(len(self.game.roles)) if i not in (me, positions.chance))
        replies = self._replies(position, me, move)
        return sum(estimate(position.after(choice), me, others) for choice in replies) / len(replies)

    def _replies(self, position: SearchPosition, me: int, move: int) -> list[Choice]:
        options = [(move,) if i == me else range(len(moves)) for i, moves in enumerate(position.moves)]
        if position.n_choices // len(position.moves[me]) <= MAX_REPLIES:
            return [choice for choice in position.choices() if choice[me] == move]
        return [tuple(self.random.choice(option) for option in options) for _ in range(MAX_REPLIES)]


class MinimaxPlayer(Player):
    """Looks as far ahead as time (or a number of positions a move) allows, expecting the worst of the others.

    Where information is imperfect it looks at the likeliest state alone.
    """

    def __init__(self, positions: int | None = None) -> None:
        self.max_positions = positions

    def join(self, game: Game, role: Role, seed: int) -> None:
        """Prepare for a match with an empty table."""
        super().join(game, role, seed)
        self.search = AlphaBeta(game, role, self.random)

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:  # noqa: ARG002 -- the signature is the kit's
        """Return the best move found before *deadline*."""
        return self.search.think(state, SearchBudget(self.max_positions, deadline), self.suggest)


_PROBE_S: Final = 2.0


class MctsPlayer(Player):
    """Plays by UCT, with *playouts* a move or until the clock ends, on the best engine unless *engine* names another.

    In imperfect information it plays a mixed strategy that it finds in the start clock, where the game is small. Else
    it samples worlds that agree with its percepts, and searches over information sets instead of states; where its
    percepts turn out to determine the state it plays as in perfect information.
    """

    def __init__(self, playouts: int | None = None, engine: str = DEFAULT_ENGINE) -> None:
        self.max_playouts, self.engine = playouts, engine

    def join(self, game: Game, role: Role, seed: int) -> None:
        """Prepare for a match with an empty tree."""
        own_game = game if self.engine == DEFAULT_ENGINE else make_game(game.description, self.engine)
        super().join(own_game, role, seed)
        self.sees_everything = not self.game.has_imperfect_information
        self.tree = TreeSearch(self.game, self.random)
        self.infoset_search = InformationSetSearch(self.game, self.random)
        self.strategy: MixedStrategy | None = None

    def start(self, deadline: Deadline) -> None:
        """Find out whether the percepts of this role determine the state; wait for the compiler, or find a strategy."""
        if not self.sees_everything:
            probe = SearchBudget(deadline=deadline.at_most(_PROBE_S))
            self.sees_everything = sees_everything(self.game, self.role, probe)
        if self.sees_everything:
            wait_for_compilation(self.game, deadline)
            self._renew_tree()
        elif self.max_playouts is None:
            self.strategy = mixed_strategy(self.game, self.role, deadline)
            wait_for_compilation(self.game, deadline)

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        """Return the most promising move found before *deadline*."""
        budget = SearchBudget(self.max_playouts, deadline)
        if self.sees_everything and self.worlds.is_certain:
            if self.max_playouts is None:
                self._renew_tree()
            return self.tree.think(state, role, budget, self.suggest)
        drawn = self.strategy and self.strategy.choose(self.worlds.steps, self.random)
        return drawn or self.infoset_search.think(self.worlds, budget, self.suggest)

    def _renew_tree(self) -> None:
        """Begin a new tree if the game has been compiled since the last was begun."""
        evaluator = evaluator_of(self.game)
        if type(evaluator) is not type(self.tree.evaluator):
            self.tree = TreeSearch(self.game, self.random, evaluator)


class NestedPlayer(MctsPlayer):
    """Plays games of one role by nested search; with more roles, or chance, it plays as `mcts` does."""

    def __init__(self, playouts: int | None = None, level: int = LEVEL) -> None:
        super().__init__(playouts)
        self.level = level

    def join(self, game: Game, role: Role, seed: int) -> None:
        """Prepare for a match without any line of moves yet."""
        super().join(game, role, seed)
        self.search = NestedSearch(game, self.random, self.level) if len(game.roles) == 1 else None

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        """Return the first move of the best line found before *deadline*."""
        if self.search is None:
            return super().move(state, role, deadline)
        return self.search.think(state, SearchBudget(self.max_playouts, deadline), self.suggest)
