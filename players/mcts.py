"""The player that searches by Monte Carlo tree search, whatever it knows of the state."""

from __future__ import annotations

from typing import Final

from gdl.game import Game, Role, State
from gdl.terms import Term
from players.deadline import Budget, Deadline
from players.infosets import ViewSearch
from players.observation import sees_everything
from players.player import Player
from players.uct import TreeSearch

_PROBE_S: Final = 2.0


class MctsPlayer(Player):
    """Plays by UCT, with *playouts* a move or until the clock ends.

    In imperfect information it draws worlds that fit what it perceived, and searches over views instead of states;
    where its percepts turn out to tell everything it plays as in perfect information.
    """

    def __init__(self, playouts: int | None = None) -> None:
        self.max_playouts = playouts

    def join(self, game: Game, role: Role, seed: int) -> None:
        """Sit down at a match with an empty tree."""
        super().join(game, role, seed)
        self.sees_everything = not game.has_imperfect_information
        self.tree = TreeSearch(game, self.random)
        self.views = ViewSearch(game, self.random)

    def start(self, deadline: Deadline) -> None:
        """Find out whether the percepts of this role tell everything."""
        if not self.sees_everything:
            probe = Budget(deadline=deadline.at_most(_PROBE_S))
            self.sees_everything = sees_everything(self.game, self.role, probe)

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        """Return the most promising move found before *deadline*."""
        budget = Budget(self.max_playouts, deadline)
        if self.sees_everything and self.worlds.is_certain:
            return self.tree.think(state, role, budget, self.suggest)
        return self.views.think(self.worlds, budget, self.suggest)
