"""The alpha-beta player."""

from __future__ import annotations

import pytest

from gdl.game import Role, State
from players.deadline import SearchBudget
from players.stock import MinimaxPlayer
from tests.kit.players.games import game, role

TICTACTOE = game("tictactoe")


def worst_goal(player: MinimaxPlayer, state: State, seen: dict[State, int]) -> int:
    """Return the least goal that *player* can be held to from *state* by anything that the other may do."""
    if state not in seen:
        seen[state] = _worst_goal(player, state, seen)
    return seen[state]


def _worst_goal(player: MinimaxPlayer, state: State, seen: dict[State, int]) -> int:
    if state.is_terminal:
        return state.goal(player.role) or 0
    own_move = player.search.think(state, SearchBudget())
    options = [(own_move,) if each == player.role else state.legal_moves(each) for each in TICTACTOE.roles]
    pairs = [(first, second) for first in options[0] for second in options[1]]
    return min(worst_goal(player, state.next_state(pair), seen) for pair in pairs)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mine", [role("x"), role("o")])
def test_minimax_never_loses_tictactoe_whatever_the_other_does(mine: Role) -> None:
    player = MinimaxPlayer()
    player.join(TICTACTOE, mine, seed=1)
    assert worst_goal(player, TICTACTOE.initial_state, {}) >= 50
