"""The player that searches by Monte Carlo tree search, whatever it knows of the state."""

from __future__ import annotations

from typing import Final

from gdl.engines import DEFAULT_ENGINE, make_game
from gdl.game import Game, Role, State
from gdl.terms import Term
from players.deadline import Budget, Deadline
from players.evaluator import evaluator_of, wait_for_compilation
from players.infosets import ViewSearch
from players.observation import sees_everything
from players.player import Player
from players.uct import TreeSearch

_PROBE_S: Final = 2.0


class MctsPlayer(Player):
    """Plays by UCT, with *playouts* a move or until the clock ends, on the best engine unless *engine* names another.

    In imperfect information it draws worlds that fit what it perceived, and searches over views instead of states;
    where its percepts turn out to tell everything it plays as in perfect information.
    """

    def __init__(self, playouts: int | None = None, engine: str = DEFAULT_ENGINE) -> None:
        self.max_playouts, self.engine = playouts, engine

    def join(self, game: Game, role: Role, seed: int) -> None:
        """Sit down at a match with an empty tree."""
        own_game = game if self.engine == DEFAULT_ENGINE else make_game(game.description, self.engine)
        super().join(own_game, role, seed)
        self.sees_everything = not self.game.has_imperfect_information
        self.tree = TreeSearch(self.game, self.random)
        self.views = ViewSearch(self.game, self.random)

    def start(self, deadline: Deadline) -> None:
        """Find out whether the percepts of this role tell everything, and wait for the compiler."""
        if not self.sees_everything:
            probe = Budget(deadline=deadline.at_most(_PROBE_S))
            self.sees_everything = sees_everything(self.game, self.role, probe)
        if self.sees_everything:
            wait_for_compilation(self.game, deadline)
            self._look_again()

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        """Return the most promising move found before *deadline*."""
        budget = Budget(self.max_playouts, deadline)
        if self.sees_everything and self.worlds.is_certain:
            if self.max_playouts is None:
                self._look_again()
            return self.tree.think(state, role, budget, self.suggest)
        return self.views.think(self.worlds, budget, self.suggest)

    def _look_again(self) -> None:
        """Begin a new tree if the game has been compiled since the last was begun."""
        evaluator = evaluator_of(self.game)
        if type(evaluator) is not type(self.tree.evaluator):
            self.tree = TreeSearch(self.game, self.random, evaluator)
