"""The player for puzzles: nested Monte Carlo search."""

from __future__ import annotations

from gdl.game import Game, Role, State
from gdl.terms import Term
from players.deadline import Budget, Deadline
from players.mcts import MctsPlayer
from players.nestedsearch import LEVEL, NestedSearch


class NestedPlayer(MctsPlayer):
    """Plays games of one role by nested search; with more roles, or chance, it plays as `mcts` does."""

    def __init__(self, playouts: int | None = None, level: int = LEVEL) -> None:
        super().__init__(playouts)
        self.level = level

    def join(self, game: Game, role: Role, seed: int) -> None:
        """Sit down at a match without any line of moves yet."""
        super().join(game, role, seed)
        self.search = NestedSearch(game, self.random, self.level) if len(game.roles) == 1 else None

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        """Return the first move of the best line found before *deadline*."""
        if self.search is None:
            return super().move(state, role, deadline)
        return self.search.think(state, Budget(self.max_playouts, deadline), self.suggest)
