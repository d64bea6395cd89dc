"""Contests between networks: many plays at once, each move a short search, one against the other in every seat."""

from __future__ import annotations

from typing import Final

import numpy as np

from gdl.game import Game
from players.environments.vector import VectorGame
from players.learning.forest import Evaluate, Forest
from players.learning.selfplay import MAX_STEPS

_PLAYS: Final = 64
_WALKS: Final = 8
_RANDOM_STEPS: Final = 2
"""Moves at random that begin each play, so that plays differ."""


def score_against(game: Game, ours: Evaluate, other: Evaluate | None, seed: int) -> float:
    """Return the mean of our goals, from 0 to 1, against *other*; None for one that moves at random.

    Each side has a short search; seats are shared out equally.
    """
    live = VectorGame(game, _PLAYS, seed=seed, is_flat=True, auto_reset=False)
    lanes = VectorGame(live.game, _PLAYS, is_flat=True, auto_reset=False)
    forests = [
        None if evaluate is None else Forest(lanes, evaluate, _PLAYS, _PLAYS * (_WALKS + 1))
        for evaluate in (ours, other)
    ]
    seat = np.arange(_PLAYS) % len(live.players)
    for step in range(MAX_STEPS):
        if live.is_over.all():
            break
        moves = [_moves(live, forest if step >= _RANDOM_STEPS else None) for forest in forests]
        live.step(np.where(live.to_move == seat, *moves), checks=False)
    goals = live.goals[np.arange(_PLAYS), seat]
    return float(np.where(goals >= 0, goals, 50).mean() / 100)


def _moves(live: VectorGame, forest: Forest | None) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
    """Return a move for each play: that of a search, or one at random."""
    if forest is None:
        return live.sample_actions().copy()
    forest.plant(live.save())
    for _ in range(_WALKS):
        forest.walk()
    chosen, _, _ = forest.decide()
    return chosen
