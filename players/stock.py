"""The stock players: legal, random, greedy, minimax, mcts, planner and nested."""

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
from players.search.plans import OneRoleSearch
from players.search.positions import Choice, Positions, SearchPosition
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

    In imperfect information it samples worlds that agree with its percepts, and searches over information sets instead
    of states; where its percepts turn out to determine the state it plays as in perfect information. A game of one role
    is searched for a plan, which is kept and followed; *playouts* then counts nodes as well as plays.
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
        self.plans = self._plan_search()

    def _plan_search(self) -> OneRoleSearch | None:
        """Return what searches a game of one role, None for other games."""
        return OneRoleSearch(self.game, self.random) if len(self.game.roles) == 1 else None

    def start(self, deadline: Deadline) -> None:
        """Find out whether the percepts of this role determine the state, wait for the compiler, and plan."""
        if not self.sees_everything:
            probe = SearchBudget(deadline=deadline.at_most(_PROBE_S))
            self.sees_everything = sees_everything(self.game, self.role, probe)
        if self.sees_everything:
            wait_for_compilation(self.game, deadline)
            self._renew_tree()
            if self.plans is not None and self.max_playouts is None:
                self.plans.think(self.game.initial_state, SearchBudget(deadline=deadline))

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        """Return the most promising move found before *deadline*."""
        budget = SearchBudget(self.max_playouts, deadline)
        if self.sees_everything and self.worlds.is_certain:
            if self.plans is not None:
                return self.plans.think(state, budget, self.suggest)
            if self.max_playouts is None:
                self._renew_tree()
            return self.tree.think(state, role, budget, self.suggest)
        return self.infoset_search.think(self.worlds, budget, self.suggest)

    def stop(self) -> None:
        """Give back what the search for a plan holds."""
        if self.plans is not None:
            self.plans.close()

    def abort(self) -> None:
        """Give back what the search for a plan holds."""
        self.stop()

    def _renew_tree(self) -> None:
        """Begin a new tree if the game has been compiled since the last was begun."""
        evaluator = evaluator_of(self.game)
        if type(evaluator) is not type(self.tree.evaluator):
            self.tree = TreeSearch(self.game, self.random, evaluator)


class PlannerPlayer(MctsPlayer):
    """Plans in games of one role, keeping and following the best plan; with more roles it plays as `mcts` does."""


class NestedPlayer(MctsPlayer):
    """Plays games of one role by nested search; with more roles, or chance, it plays as `mcts` does."""

    def __init__(self, playouts: int | None = None, level: int = LEVEL) -> None:
        super().__init__(playouts)
        self.level = level

    def join(self, game: Game, role: Role, seed: int) -> None:
        """Prepare for a match without any line of moves yet."""
        super().join(game, role, seed)
        self.search = NestedSearch(game, self.random, self.level) if len(game.roles) == 1 else None

    def _plan_search(self) -> OneRoleSearch | None:
        """Return None: nested search is what this player compares others with."""
        return None

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        """Return the first move of the best line found before *deadline*."""
        if self.search is None:
            return super().move(state, role, deadline)
        return self.search.think(state, SearchBudget(self.max_playouts, deadline), self.suggest)
