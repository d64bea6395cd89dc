"""The player that takes the first legal move."""

from __future__ import annotations

from gdl.game import Role, State
from gdl.terms import Term
from players.deadline import Deadline
from players.player import Player


class LegalPlayer(Player):
    """Takes the first of its legal moves in the order of their texts."""

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:  # noqa: ARG002 -- the signature is the kit's
        """Return the first legal move."""
        return state.legal_moves(role)[0]
