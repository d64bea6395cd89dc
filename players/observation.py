"""Whether what a role perceives tells it everything, as in perfect information."""

from __future__ import annotations

from random import Random

from gdl.game import Game, Role
from players.deadline import Budget
from players.worlds import Worlds


def sees_everything(game: Game, role: Role, budget: Budget, n_plays: int = 3) -> bool:
    """Return whether *role* could tell the state all through some plays at random; no, if *budget* ends before."""
    random = Random(0)
    return all(_could_tell(game, role, random, budget) for _ in range(n_plays))


def _could_tell(game: Game, role: Role, random: Random, budget: Budget) -> bool:
    worlds = Worlds(game, role, random.getrandbits(32))
    state = game.initial_state
    while worlds.is_certain and not budget.is_out_of_time:
        moves = tuple(random.choice(state.legal_moves(each)) for each in game.roles)
        percepts = state.percepts(role, moves)
        state = state.next_state(moves)
        if state.is_terminal:
            return True
        worlds.advance(moves[worlds.me], percepts, budget)
    return False
