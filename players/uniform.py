"""The player that moves at random."""

from __future__ import annotations

from gdl.game import Role, State
from gdl.terms import Term
from players.deadline import Deadline
from players.player import Player


class RandomPlayer(Player):
    """Takes each of its legal moves with equal probability."""

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:  # noqa: ARG002 -- the signature is the kit's
        """Return a legal move drawn by the player's own generator."""
        return self.random.choice(state.legal_moves(role))
