"""Players of another revision of this repository: a request and a reply a line, both in JSON.

A script that `benchmarks.yardsticks.revision` runs: its `gdl` and `players` are those of that revision, so it imports
nothing else of this repository, and of these what every revision has.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import Final

from gdl.engines import make_game
from gdl.language.rules import read_rules
from gdl.wire.replies import term_of_text
from players.deadline import Deadline, SearchBudget
from players.player import Player
from players.registry import find_player
from players.search.evaluator import wait_for_compilation

_COMPILATION_S: Final = 300.0
_LONG_S: Final = 30.0
_WARM_UP_S: Final = 0.5


class Seats:
    """The players that *spec* names, at the game of *rules*, one for each role that has one; units are seconds."""

    def __init__(self, rules: str, spec: str) -> None:
        self._make_player, self._game = find_player(spec), make_game(read_rules(rules))
        self._players: dict[str, Player] = {}
        wait_for_compilation(self._game, Deadline.after(_COMPILATION_S))

    def warm_up(self, role: str) -> None:
        """Load what a player loads once: its first move would be late."""
        getattr(self._make_player(), "warm_up", lambda: None)()
        self.start(role, 0, _LONG_S)
        self.move(role, _WARM_UP_S)
        self._players.pop(role).abort()

    def start(self, role: str, seed: int, seconds: float) -> None:
        """Begin a match of *role*: its player has *seconds* of processor time before the first move."""
        player = self._players[role] = self._make_player()
        player.join(self._game, next(each for each in self._game.roles if str(each) == role), seed)
        player.start(_by_processor_time(seconds))

    def move(self, role: str, seconds: float) -> str:
        """Return the move of *role*, which has *seconds* of processor time for it."""
        player = self._players[role]
        state = player.worlds.state
        player.prepare_move(state.legal_moves(player.role)[0], lambda _: None)
        return str(player.move(state, player.role, _by_processor_time(seconds)))

    def perceive(self, role: str, own_move: str, percepts: Sequence[str]) -> None:
        """Take in a step of a match that goes on."""
        player, own, seen = self._players[role], term_of_text(own_move), [term_of_text(text) for text in percepts]
        player.worlds.advance(own, seen, SearchBudget())
        player.perceive(own, seen)

    def stop(self, role: str) -> None:
        """End the match of *role*."""
        self._players.pop(role).stop()


def _by_processor_time(seconds: float) -> Deadline:
    """Return what `players.deadline` calls so: that revision may have it elsewhere, or not at all."""
    offset_s = time.monotonic() - time.process_time()
    return Deadline.after(seconds, lambda: time.process_time() + offset_s)


def main() -> None:
    """Answer the requests of standard input, after a line with the game; what players print goes to standard error."""
    replies, sys.stdout = sys.stdout, sys.stderr
    seats = Seats(**json.loads(sys.stdin.readline()))
    for line in sys.stdin:
        method, arguments = json.loads(line)
        replies.write(json.dumps(getattr(seats, method)(*arguments)) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
