"""Tree search on the compiled engine: states are bytes, moves are numbers, many leaves are played out in one call."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Final

import numpy as np

from gdl.best import BestGame
from gdl.compiler.compiled import CompiledGame
from gdl.compiler.states import CompiledState
from gdl.errors import LimitExceeded, StuckPlayError
from gdl.game import Game, State
from gdl.terms import Term
from players.deadline import Budget
from players.evaluator import Shares, StateEvaluator, chance_of
from players.playouts import MAX_STEPS

N_LANES: Final = 512
MAX_LEAVES: Final = 64
MAX_PACKED: Final = 200_000


class LaneEvaluator:
    """Plays from many spots at once, in all the lanes of the kernel; not to be shared by threads."""

    max_spots = MAX_PACKED

    def __init__(self, game: CompiledGame) -> None:
        self.game = game
        self.chance = chance_of(game)
        self.max_leaves, self.max_plays = MAX_LEAVES, N_LANES
        self._borders = [numbers.start for numbers in game.moves_of] + [len(game.moves)]
        self._single = StateEvaluator(game)

    def spot(self, state: State) -> bytes:
        """Return the packed *state*, which may be one of another engine."""
        here = state if isinstance(state, CompiledState) else self.game.state(state.facts)
        if not isinstance(here, CompiledState):
            raise ValueError("a state that cannot be reached from the first has no packed form")
        return here.packed

    def moves(self, spot: bytes) -> tuple[Sequence[int], ...]:
        """Return the numbers of the legal moves of every role in role order, nothing in a terminal state."""
        legal, is_terminal = self.game.look(spot)
        if is_terminal:
            return ()
        numbers = legal.tolist()
        cuts = [bisect_left(numbers, border) for border in self._borders]
        return tuple(numbers[begin:end] for begin, end in pairwise(cuts))

    def term(self, move: int) -> Term:
        """Return *move* as the rules write it."""
        return self.game.moves[move]

    def after(self, spot: bytes, moves: Sequence[int]) -> bytes:
        """Return the packed state after one legal move of each role."""
        return self.game.step(spot, moves)

    def goals(self, spot: bytes) -> Shares:
        """Return the goals at *spot*, one half where there is no single value."""
        return tuple(0.5 if goal is None else min(max(goal, 0), 100) / 100 for goal in self.game.goals_of(spot))

    def play_out(self, spots: Sequence[bytes], n_each: int, random: Random, budget: Budget) -> Sequence[Shares] | None:
        """Return the mean goals of *n_each* plays at random from each spot, None where time ran out before.

        Where plays are too long for the lanes, or get stuck, they are played singly and cut short.
        """
        packed = np.frombuffer(b"".join(spots), np.uint8).reshape(len(spots), -1)
        try:
            played = self.game.playouts_each(packed, n_each, random.getrandbits(32), max_steps=MAX_STEPS)
        except (LimitExceeded, StuckPlayError):
            self.max_leaves = self.max_plays = 1
            return self._single.play_out([self.game.unpack(spot) for spot in spots], n_each, random, budget)
        means = played.goal_sums / (100 * n_each)
        return list(map(tuple, means.clip(0, 1).tolist()))


def compiled_game_of(game: Game) -> CompiledGame:
    """Return the compiled game behind *game*, or *game* itself.

    Raises:
        ValueError: it is not compiled.
    """
    found = game.compiled if isinstance(game, BestGame) else game
    if not isinstance(found, CompiledGame):
        raise ValueError("the game is not compiled")
    return found
