"""Rules that begin in another position: the state is that one, and the game goes on as it did."""

from __future__ import annotations

import pytest

from gdl.engines import make_game
from gdl.games.library import find_game
from gdl.language.rules import read_rules, rules_from

STEPS = 3


@pytest.mark.parametrize("name", ["tictactoe", "kuhnpoker", "connectfour", "zion", "nim", "eightpuzzle"])
def test_a_game_goes_on_from_any_position_as_it_did(name: str) -> None:
    description = find_game(name).read()
    game = make_game(description)
    state = game.initial_state
    for _ in range(STEPS):
        again = make_game(read_rules(rules_from(description, state.facts), name))
        begun = again.initial_state
        assert (again.roles, again.has_imperfect_information) == (game.roles, game.has_imperfect_information)
        assert (begun.facts, begun.is_terminal) == (state.facts, state.is_terminal)
        assert [begun.legal_moves(role) for role in game.roles] == [state.legal_moves(role) for role in game.roles]
        if state.is_terminal:
            return
        moves = tuple(state.legal_moves(role)[0] for role in game.roles)
        assert begun.next_state(moves).facts == state.next_state(moves).facts
        state = state.next_state(moves)


def test_first_facts_that_follow_from_rules_go_too() -> None:
    description = read_rules("(role a) (p 1) (<= (init (at ?x)) (p ?x)) ; keep me\n(legal a go) (init (b)) (goal a 1)")
    assert rules_from(description, []) == "(role a) (p 1)  ; keep me\n(legal a go)  (goal a 1)"
