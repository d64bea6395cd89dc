"""A game from Python: its states, random playouts, and a match between two players in this process.

python examples/play_from_python.py [GAME]
"""

import sys

from gdl.engines import make_game
from gdl.game import played_roles
from gdl.games.library import find_game
from players import LocalMatch
from players.stock import GreedyPlayer, RandomPlayer

PLAYER_CLASSES = (GreedyPlayer, RandomPlayer)

game = make_game(find_game(sys.argv[1] if len(sys.argv) > 1 else "tictactoe").read())
state = game.initial_state
for role in game.roles:
    moves = state.legal_moves(role)
    print(f"{role} has {len(moves)} legal moves, the first one {moves[0]}")

plays = game.playouts(state, 1000, seed=1)
goals = ", ".join(f"{role} {goal:.1f}" for role, goal in zip(game.roles, plays.mean_goals, strict=True))
print(f"{plays.n_plays} random plays: mean goals {goals}; {plays.mean_length:.1f} steps on average")

players = {role: PLAYER_CLASSES[i % 2]() for i, role in enumerate(played_roles(game))}
match = LocalMatch(game, players, seed=1, clock_s=2.0)
for number, step in enumerate(match.play(), 1):
    print(f"step {number}: {' '.join(map(str, step.moves))}")
for role, player in players.items():
    print(f"{role}, played by {type(player).__name__}: goal {match.state.goal(role)}")
