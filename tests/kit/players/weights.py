"""Weights of fluents that tests learn, once a run."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import count
from typing import Final

import numpy as np

from gdl.compiler.compiled import CompiledGame
from players.deadline import Deadline
from players.search.evaluator import compiled_game_of
from players.search.tree.weights import FluentWeights, WeightLearner
from tests.kit.players.games import compiled

FOREVER: Final = Deadline(float("inf"))


def breakthrough() -> CompiledGame:
    return compiled_game_of(compiled("breakthrough"))


def learner_of(game: CompiledGame) -> WeightLearner:
    return WeightLearner(game, game.rules.decisive or game.rules.phased, seed=1)


@cache
def learned() -> FluentWeights:
    """Return what 10,240 plays of breakthrough teach."""
    learner = learner_of(breakthrough())
    assert all(learner.play(FOREVER) for _ in range(20))
    found = learner.found()
    assert found is not None
    return found


def constant(worth: float) -> FluentWeights:
    """Return weights of breakthrough by which every state is worth the same."""
    return FluentWeights(np.array([0.0] * len(breakthrough().fluents) + [worth], np.float32), 8)


def ticking(step_s: float = 0.001) -> Callable[[], float]:
    """Return a clock that is read as a millisecond later each time."""
    numbers = count()
    return lambda: step_s * next(numbers)
