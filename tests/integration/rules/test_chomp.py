"""Chomp, solved: the first player wins, whatever the second does."""

from __future__ import annotations

from gdl.game import State
from tests.kit.players.games import compiled


def wins(state: State, known: dict[State, bool]) -> bool:
    """Return whether the role to move can win: some move leaves the other where it cannot."""
    if state not in known:
        known[state] = state.is_terminal or not all(wins(following, known) for following in followers(state))
    return known[state]


def followers(state: State) -> list[State]:
    first, second = (state.legal_moves(role) for role in compiled("chomp").roles)
    return [state.next_state((one, two)) for one in first for two in second]


def test_the_first_player_wins() -> None:
    known: dict[State, bool] = {}
    assert wins(compiled("chomp").initial_state, known)
