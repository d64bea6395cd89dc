"""OpenSpiel's Monte Carlo tree search as a player, and its speed.

Its own C++ search on its own rules: upper confidence bounds, one random rollout a simulation, one thread. Run by the
Python that has `pyspiel`: `python -m benchmarks.yardsticks.engines.openspiel connect_four --seconds 0.2`, or with
`--speed`, which prints a line of JSON.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any, Final

import pyspiel

from benchmarks.yardsticks.engines.dialogue import NOOP, DisagreementError, options, serve
from benchmarks.yardsticks.engines.translations import MAX_STEPS, TURNS

EXPLORATION: Final = 2.0
"""What OpenSpiel's own example has; returns are from -1 to 1, so that it is 1 for goals from 0 to 1."""
MEMORY_MB: Final = 1000
_PROBE: Final = 500
"""Simulations of the first search, which only says how fast they are."""
_LEAST: Final = 16
_MOST_OWED: Final = 4
"""How many moves' time may be left, to use it later: as much as our player has."""


class Search:
    """OpenSpiel's search of a game, by processor time.

    It counts simulations, not time: how many fit is taken from the search before, and what a search takes too long or
    too short is made up for in the next ones.
    """

    def __init__(self, game: Any, seconds: float, exploration: float = EXPLORATION) -> None:
        self._game, self._seconds, self._exploration = game, seconds, exploration
        self.begin(0)

    def begin(self, seed: int) -> None:
        """Set all accounts to nothing for a new match, and measure the speed."""
        self._seed = seed
        self._owed_s = self.used_s = 0.0
        self._per_s = 0.0
        self.run(self._game.new_initial_state(), _PROBE)
        self._owed_s = self.used_s = 0.0

    def run(self, state: Any, n: int) -> Any:
        """Return the root of a tree of *n* simulations from *state*."""
        self._seed += 1
        rollouts = pyspiel.RandomRolloutEvaluator(1, self._seed)
        bot = pyspiel.MCTSBot(self._game, rollouts, self._exploration, n, MEMORY_MB, True, self._seed, False)
        begun_s = time.process_time()
        root = bot.mcts_search(state)
        used_s = max(time.process_time() - begun_s, 1e-9)
        self.used_s += used_s
        self._owed_s += self._seconds - used_s
        if root.explore_count >= min(n, _PROBE):  # else all is solved, and says nothing of the speed
            self._per_s = root.explore_count / used_s
        return root

    def think(self, state: Any) -> Any:
        """Return the root of a tree for which there is time."""
        owed_s = max(-self._seconds / 2, min(_MOST_OWED * self._seconds, self._owed_s))
        self._owed_s = owed_s
        return self.run(state, max(_LEAST, int(self._per_s * (self._seconds + owed_s))))


class OpenSpiel:
    """A game of OpenSpiel, played by its search."""

    name = "openspiel"

    def __init__(self, game: str, seconds: float, exploration: float) -> None:
        self._game = pyspiel.load_game(game)
        self._turns, self._max_steps = TURNS[game], MAX_STEPS.get(game)
        self._search = Search(self._game, seconds, exploration)

    def begin(self, role: str, roles: Sequence[str], seed: int) -> None:
        """Set up the first position."""
        self._own = list(roles).index(role)
        self._search.begin(seed)
        self._n_steps = 0
        self._go_to(self._game.new_initial_state())

    @property
    def is_over(self) -> bool:
        """Whether OpenSpiel holds that the game is over, or the rule file ends the match."""
        return bool(self._state.is_terminal()) or self._n_steps == self._max_steps

    def legal(self) -> set[str]:
        """Return the moves of the role, as far as it is to move."""
        return set(self._actions) if self._state.current_player() == self._own else {NOOP}

    def choose(self) -> str:
        """Return the best move: where it is several actions, the tree is followed."""
        node, found, n = self._search.think(self._state), self._actions, 0
        while len(found) > 1 and node.children:
            node = _best(node, {actions[n] for actions in found.values()})
            found = {text: actions for text, actions in found.items() if actions[n] == node.action}
            n += 1
        return next(iter(found))

    def follow(self, moves: Sequence[str]) -> None:
        """Make the actions of the move of the role to move."""
        move = moves[self._state.current_player()]
        if move not in self._actions:
            raise DisagreementError(f"{move} is not legal in OpenSpiel")
        for action in self._actions[move]:
            self._state.apply_action(action)
        self._n_steps += 1
        self._go_to(self._state)

    def goal(self) -> int:
        """Return the goal that OpenSpiel's returns mean."""
        worth = float(self._state.returns()[self._own])
        return 50 + 50 * (worth > 0) - 50 * (worth < 0)

    @property
    def used_s(self) -> float:
        """The processor time of the searches."""
        return self._search.used_s

    def _go_to(self, state: Any) -> None:
        self._state = state
        self._actions = {} if state.is_terminal() else {text: actions for actions, text in self._turns(state)}


def _best(node: Any, actions: set[int]) -> Any:
    """Return OpenSpiel's choice of a child of *node*; the most visited one of *actions* where that is none of them."""
    best = node.best_child()
    if best.action in actions:
        return best
    return max((child for child in node.children if child.action in actions), key=lambda child: child.explore_count)


def speed(game: str, seconds: float) -> dict[str, object]:
    """Return how many simulations a second of processor time the first position of *game* has."""
    loaded = pyspiel.load_game(game)
    search = Search(loaded, seconds)
    root = search.think(loaded.new_initial_state())
    return {
        "game": game, "simulations": root.explore_count, "used_s": round(search.used_s, 3),
        "simulations_per_s": round(root.explore_count / search.used_s, 1),
    }  # fmt: skip


def main() -> None:
    """Play, or measure."""
    parser = options("OpenSpiel's Monte Carlo tree search as a child process")
    parser.add_argument("game", choices=list(TURNS))
    parser.add_argument("--seconds", type=float, default=0.2, help="of processor time a move")
    parser.add_argument("--exploration", type=float, default=EXPLORATION)
    parser.add_argument("--speed", action="store_true", help="think once about the first position, and say how fast")
    chosen = parser.parse_args()
    if chosen.speed:
        print(json.dumps(speed(chosen.game, chosen.seconds)))  # noqa: T201 -- that is the reply
    else:
        serve(OpenSpiel(chosen.game, chosen.seconds, chosen.exploration), chosen)


if __name__ == "__main__":
    main()
