"""Plays at random from a state to the end."""

from __future__ import annotations

from random import Random
from typing import Final

from gdl.game import Game, State
from players.deadline import Budget
from players.positions import goal_shares

MAX_STEPS: Final = 1_000
"""A play at random that lasts longer counts with the goals of the state that it has come to."""


def play_out(game: Game, state: State, random: Random, budget: Budget) -> tuple[float, ...] | None:
    """Return the goals, from 0 to 1, of a play from *state* in which everyone moves at random.

    None where time ran out before its end.
    """
    for _ in range(MAX_STEPS):
        if state.is_terminal:
            break
        if budget.is_out_of_time:
            return None
        moves = tuple(state.legal_moves(role) for role in game.roles)
        if not all(moves):
            break
        state = state.next_state(tuple(random.choice(legal) for legal in moves))
    return goal_shares(state, game.roles)
