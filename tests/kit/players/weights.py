"""Weights of fluents that tests learn, once a run."""

from __future__ import annotations

from functools import cache
from typing import Final

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
