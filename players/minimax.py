"""The player that searches by alpha-beta."""

from __future__ import annotations

from gdl.game import Game, Role, State
from gdl.terms import Term
from players.alphabeta import AlphaBeta
from players.deadline import Budget, Deadline
from players.player import Player


class MinimaxPlayer(Player):
    """Looks as far ahead as time (or a number of positions a move) allows, expecting the worst of the others.

    Where information is imperfect it looks at the likeliest state alone.
    """

    def __init__(self, positions: int | None = None) -> None:
        self.max_positions = positions

    def join(self, game: Game, role: Role, seed: int) -> None:
        """Sit down at a match with an empty table."""
        super().join(game, role, seed)
        self.search = AlphaBeta(game, role, self.random)

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:  # noqa: ARG002 -- the signature is the kit's
        """Return the best move found before *deadline*."""
        return self.search.think(state, Budget(self.max_positions, deadline), self.suggest)
