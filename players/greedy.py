"""The player that looks one step ahead."""

from __future__ import annotations

from typing import Final

from gdl.game import Role, State
from gdl.terms import Term
from players.deadline import Deadline
from players.evaluation import estimate
from players.player import Player
from players.positions import Choice, Position, Positions

MAX_REPLIES: Final = 16
"""Joint moves of the others that are tried against a move; of more, as many are drawn at random."""


class GreedyPlayer(Player):
    """Takes the move after which the position is worth most, on average over what the others may do at once."""

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

    def _worth(self, positions: Positions, position: Position, me: int, move: int) -> float:
        others = tuple(i for i in range(len(self.game.roles)) if i not in (me, positions.chance))
        replies = self._replies(position, me, move)
        return sum(estimate(position.after(choice), me, others) for choice in replies) / len(replies)

    def _replies(self, position: Position, me: int, move: int) -> list[Choice]:
        options = [(move,) if i == me else range(len(moves)) for i, moves in enumerate(position.moves)]
        if position.n_choices // len(position.moves[me]) <= MAX_REPLIES:
            return [choice for choice in position.choices() if choice[me] == move]
        return [tuple(self.random.choice(option) for option in options) for _ in range(MAX_REPLIES)]
