"""The player of the README: it wins at once where it can.

ggp match tictactoe --player x=examples/my_player.py --player o=random
"""

import players


class MyPlayer(players.Player):
    """Wins at once where it can, else plays any move."""

    def move(self, state, role, deadline):
        moves = list(state.legal_moves(role))
        self.random.shuffle(moves)
        return max(moves, key=lambda move: self.worth(state, role, move))

    def worth(self, state, role, move):
        others = {other: state.legal_moves(other)[0] for other in self.game.roles}
        return state.next_state([*(others | {role: move}).values()]).goal(role) or 0
