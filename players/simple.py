"""The stock players that do not search: legal, random and greedy. They load neither numba nor the kernels."""

from typing import Final

from gdl.game import Role, State
from gdl.language.terms import Term
from players.deadline import Deadline
from players.player import Player, check_not_terminal
from players.search.alphabeta.minimax import estimate
from players.search.positions import Choice, Positions, SearchPosition


class LegalPlayer(Player):
    """Takes the first of its legal moves in the order of their texts."""

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:  # noqa: ARG002 -- the signature is the kit's
        """Return the first legal move."""
        check_not_terminal(state)
        return state.legal_moves(role)[0]


class RandomPlayer(Player):
    """Takes each of its legal moves with equal probability."""

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:  # noqa: ARG002 -- the signature is the kit's
        """Return a legal move drawn by the player's own generator."""
        check_not_terminal(state)
        return self.random.choice(state.legal_moves(role))


MAX_REPLIES: Final = 16
"""Joint moves of the others that are tried against a move; of more, as many are drawn at random."""


class GreedyPlayer(Player):
    """Takes the move after which the position is worth most, on average over the simultaneous moves of the others."""

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        """Return the best move of those that there was time to try."""
        check_not_terminal(state)
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
