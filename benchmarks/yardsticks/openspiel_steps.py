"""Steps a second of OpenSpiel from Python: `python openspiel_steps.py GAME COPIES SECONDS`, by one that has pyspiel.

Legal actions are drawn at random, and ended plays begin anew.
"""

from __future__ import annotations

import random
import sys
import time

import pyspiel

NAMES = {"tictactoe": "tic_tac_toe", "connectfour": "connect_four", "hex": "hex(board_size=11)"}


def main() -> None:
    """Print the steps a second of processor time."""
    name, n, seconds = NAMES.get(sys.argv[1], sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    if name.split("(")[0] not in pyspiel.registered_names():
        return
    game, rng = pyspiel.load_game(name), random.Random(1)
    states = [game.new_initial_state() for _ in range(n)]
    began_s, n_steps = time.process_time(), 0
    while (spent_s := time.process_time() - began_s) < seconds:
        for i, state in enumerate(states):
            state.apply_action(rng.choice(state.legal_actions()))
            if state.is_terminal():
                state.returns()
                states[i] = game.new_initial_state()
        n_steps += n
    print(n_steps / spent_s)  # noqa: T201 -- read by benchmarks.vector


main()
